// RUN: kron-opt %s -verify-diagnostics --split-input-file

// One test per rule of a type, an attribute or an operation.

// expected-error @+1 {{expects strides to be positive, but got 0}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[0, 1]>>)

// -----

// expected-error @+1 {{expects bits of a swizzle in pairs, but got 1 of them}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[4, 1], swizzle = [3]>>)

// -----

// expected-error @+1 {{expects a swizzle to flip a bit below the one that it reads, but got 2, 3}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[4, 1], swizzle = [2, 3]>>)

// -----

// expected-error @+1 {{expects no bit of a swizzle to be both read and flipped, but got 4}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[4, 1], swizzle = [4, 3, 5, 4]>>)

// -----

// expected-error @+1 {{expects a swizzle to leave 16 bytes together, but it flips bit 1 of an index}}
func.func private @f(!tile.buffer<16x4xf32, #tile.layout<[4, 1], swizzle = [4, 1]>>)

// -----

// expected-error @+1 {{expects 2 strides, one per dimension, but got 1}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[4]>>)

// -----

// expected-error @+1 {{expects elements to have places of their own, but stride 3 is less than 4}}
func.func private @f(!tile.buffer<4x4xf32, #tile.layout<[3, 1]>>)

// -----

// expected-error @+1 {{expects at least 2 sizes, but got 1}}
func.func private @f(!tile.fragment<4xf32>)

// -----

// expected-error @+1 {{expects sizes to be positive}}
func.func private @f(!tile.buffer<0x4xf32>)

// -----

// expected-error @+1 {{expects integer, float or complex elements, but got 'index'}}
func.func private @f(!tile.buffer<4x4xindex>)

// -----

// expected-error @+1 {{expects 2 strides, one per dimension, but got 1}}
func.func private @f(!tile.view<4x4xf32, [4]>)

// -----

// expected-error @+1 {{expects at least 1 pipeline stage, but got 0}}
func.func private @f(!tile.ring<0 of <4x4xf32>>)

// -----

// expected-error @+1 {{expects 2 sizes, K and N, but got 3}}
func.func private @f(!tile.operand<4x4x4xf32>)

// -----

// expected-error @+1 {{expects at least 2 sizes, but got 1}}
func.func private @f(!tile.fragment<4xf32>)

// -----

// expected-error @+1 {{expects threads to be a multiple of 32 up to 1024, but got 33}}
module attributes {a.b = #tile.kernel<threads = 33, ctas_per_sm = 1>} {}

// -----

// expected-error @+1 {{expects ctas_per_sm to be at least 1, but got 0}}
module attributes {a.b = #tile.kernel<threads = 32, ctas_per_sm = 0>} {}

// -----

// expected-error @+1 {{has an attribute that the tile dialect does not know: "tile.other"}}
module attributes {tile.other} {}

// -----

// expected-error @+1 {{expects tile.kernel to be a #tile.kernel of a gpu.func}}
module attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {}

// -----

func.func @view_c1(%p: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects 1 sizes, as many as are dynamic, but got 0}}
  %v = tile.view %p : !llvm.ptr -> !tile.view<?x4xf32>
  return
}

// -----

func.func @view_of_view(%x: !tile.view<?x4xf32>, %n: i64) {
  // expected-error @+1 {{expected llvm.ptr, but found '!tile.view<?x4xf32>'}}
  %v = tile.view %x sizes(%n) : !tile.view<?x4xf32> -> !tile.view<?x4xf32>
  return
}

// -----

func.func @view_of_nothing(%n: i64) {
  // expected-error @+1 {{'tile.view' op failed to verify that operandSegmentSizes is 1 at position 0, for the base}}
  %v = "tile.view"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (i64) -> !tile.view<?x4xf32>
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_of_nothing(%y: !tile.view<?x4xf32>, %t: index, %a: f32) kernel {
    // expected-error @+1 {{'tile.store' op failed to verify that operandSegmentSizes is 1 at position 0, for the source}}
    "tile.store"(%y, %t, %a) <{operandSegmentSizes = array<i32: 0, 0, 1, 1, 1, 0, 0, 0, 0>, bytes = 4, rows = 4}>
      : (!tile.view<?x4xf32>, index, f32) -> ()
    gpu.return
  }
}

// -----

func.func @view_c2(%p: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects 1 strides, as many as are dynamic, but got 0}}
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf32, [?, 1]>
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%n: i64) kernel {
    gpu.return
  }
}
func.func @launch_c1(%p: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects @kron_gpu::@k to be a gpu.func with the attribute tile.kernel}}
  tile.launch @kron_gpu::@k tiles(%n) args(%n : i64)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%a: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    gpu.return
  }
}
func.func @launch_c2(%p: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{expects arguments of types 'f32', but got 'i64'}}
  tile.launch @kron_gpu::@k tiles(%n) args(%n : i64)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @alloc_c1() kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %a = tile.alloc : !tile.buffer<4x8x8xf32>
    // expected-error @+1 {{expects a buffer to reuse one that has memory of its own}}
    %b = tile.alloc reuses %a : !tile.buffer<4x8x8xf32> as : !tile.ring<2 of <4x8x8xf32>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @acquire_c1(%r: !tile.ring<2 of <4x8x8xf32>>) kernel {
    // expected-error @+1 {{expects a slot of type '!tile.buffer<4x8x8xf32>', but got '!tile.buffer<4x8x4xf32>'}}
    %a = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @wait_c1(%r: !tile.ring<2 of <4x8x8xf32>>) kernel {
    // expected-error @+1 {{expects a slot of type '!tile.buffer<4x8x8xf32>', but got '!tile.buffer<4x8x4xf32>'}}
    %a = tile.wait %r pending 0 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c1() kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for_boxes %u of 4 {
      // expected-error @+1 {{expects to be in no tile.for_boxes but one that all threads go through once}}
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @acquire_c3(%r: !tile.ring<2 of <4x8x8xf32>>) kernel {
    tile.for_boxes %u of 4 {
      // expected-error @+1 {{expects not to be in tile.for_boxes, which threads leave at different times}}
      %a = tile.acquire %r : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @wait_c4(%r: !tile.ring<2 of <4x8x8xf32>>) kernel {
    tile.for_boxes %u of 4 {
      // expected-error @+1 {{expects not to be in tile.for_boxes, which threads leave at different times}}
      %a = tile.wait %r pending 0 : !tile.ring<2 of <4x8x8xf32>> -> !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @alloc_c2() kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for_boxes %u of 4 {
      // expected-error @+1 {{expects to be in no loop}}
      %a = tile.alloc : !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c1(%x: !tile.view<?x8x8xf64>, %b: !tile.buffer<4x8x8xf32>) kernel {
    // expected-error @+1 {{expects elements of type 'f32', but got '!tile.view<?x8x8xf64>'}}
    tile.copy %x[0] to %b rows 4 bytes 4 : !tile.view<?x8x8xf64>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c2(%x: !tile.view<?x8x4xf32>, %b: !tile.buffer<4x8x8xf32>) kernel {
    // expected-error @+1 {{expects a view of rows of 8, 8 elements, but got '!tile.view<?x8x4xf32>'}}
    tile.copy %x[0] to %b rows 4 bytes 4 : !tile.view<?x8x4xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3(%x: !tile.view<?x8x8xf32>, %b: !tile.buffer<4x8x8xf32>) kernel {
    // expected-error @+1 {{expects bytes to be 4, or 16 of a view without gaps, but got 8}}
    tile.copy %x[0] to %b rows 4 bytes 8 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_b(%x: !tile.view<?x8x8xf32, [64, 8, 1]>, %b: !tile.buffer<4x8x8xf32>) kernel {
    // expected-error @+1 {{expects bytes to be 4, or 16 of a view without gaps, but got 16}}
    tile.copy %x[0] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32, [64, 8, 1]>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c4(%x: !tile.view<?x5xf32>, %b: !tile.buffer<4x5xf32>) kernel {
    // expected-error @+1 {{expects rows of a tile to be a multiple of 16 bytes, but got 3 rows of 5 elements}}
    tile.copy %x[0] to %b rows 3 bytes 16 : !tile.view<?x5xf32>, !tile.buffer<4x5xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c5(%x: !tile.view<?x8x8xf32>, %b: !tile.buffer<4x8x8xf32>) kernel {
    // expected-error @+1 {{expects at most 4 rows, but got 5}}
    tile.copy %x[0] to %b rows 5 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c6(%x: !tile.view<?x8x8xf32>, %b: !tile.buffer<4x8x8xf32, #tile.layout<[72, 9, 1]>>) kernel {
    // expected-error @+1 {{expects chunks of 16 bytes to lie together in '!tile.buffer<4x8x8xf32, #tile.layout<[72, 9, 1]>>'}}
    tile.copy %x[0] to %b rows 4 bytes 16 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32, #tile.layout<[72, 9, 1]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c7(%x: !tile.view<?x8x8xf32>, %b: !tile.buffer<4x8x8xf32>, %t: index) kernel {
    // expected-error @+1 {{expects a tile of a tile.for}}
    tile.copy %x[%t + 0] to %b rows 4 bytes 4 : !tile.view<?x8x8xf32>, !tile.buffer<4x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @prepare_c1(%f: !tile.view<8x4xf32, [4, 1]>) kernel {
    // expected-error @+1 {{expects a factor of the operand's sizes and elements, but got '!tile.view<8x4xf32, [4, 1]>' for '!tile.operand<4x8xf32>'}}
    %p = tile.prepare %f : !tile.view<8x4xf32, [4, 1]> -> !tile.operand<4x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c1(%n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for_boxes %u of 4 {
      // expected-error @+1 {{expects to be in a gpu.func itself, or in a tile.for_columns}}
      tile.for %t to %n {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c1() kernel {
    // expected-error @+1 {{expects a body with one argument of type index}}
    "tile.for_boxes"() <{count = 4 : i64}> ({
      tile.yield
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c2(%n: i64) kernel {
    // expected-error @+1 {{expects a body with one argument of type index}}
    "tile.for"(%n) ({
      tile.yield
    }) : (i64) -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c1(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects boxes of a tile.for_boxes}}
      %v = tile.load %b[%i] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c2(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects a fragment of 1 boxes, as the loop takes, but got '!tile.fragment<2x8x4xf32>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<2x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c3(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects axes that follow each other, from 1 to 2, but got 2, 1}}
      %v = tile.load %b[%u] along [2, 1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c4(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects at least one axis}}
      %v = tile.load %b[%u] along [] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c5(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects boxes that divide rows of 8, 8 elements along 1, but got '!tile.fragment<1x8x3xf32>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x3xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c6(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects elements of type 'f32', but got '!tile.fragment<1x8x4xf64>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c7(%b: !tile.buffer<4x8x4x4xf32, #tile.layout<[160, 20, 5, 1]>>) kernel {
    tile.for_boxes %u of 8 {
      // expected-error @+1 {{expects neighbours that lie together in '!tile.buffer<4x8x4x4xf32, #tile.layout<[160, 20, 5, 1]>>', but got '!tile.fragment<1x8x8xf32>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x4x4xf32, #tile.layout<[160, 20, 5, 1]>> -> !tile.fragment<1x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel {
    tile.for_boxes %u of 9 {
      // expected-error @+1 {{expects room for 9 boxes of 32 elements, but '!tile.buffer<4x8x8xf32>' has 256 elements}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8_b(%b: !tile.buffer<4x8x8xf32>, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    tile.for_boxes %u of 7 excess {
      // expected-error @+1 {{expects room for 32 boxes of 32 elements, but '!tile.buffer<4x8x8xf32>' has 256 elements}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c1(%b: !tile.buffer<4x8x8xf32>, %v: !tile.fragment<1x8x4xf32>) kernel {
    tile.for_boxes %u of 3 {
      // expected-error @+1 {{expects boxes of whole rows, but 3 boxes have 96 elements, and a row has 64}}
      tile.exchange %v to %b[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c1(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf32>) kernel {
    // expected-error @+1 {{expects along to be less than 3, but got 3}}
    %s = tile.contract %v, %p along 3 atom <fma> block [4, 4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c2(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf64>) kernel {
    // expected-error @+1 {{expects elements of type 'f64', but got '!tile.fragment<1x8x4xf32>'}}
    %s = tile.contract %v, %p along 1 atom <fma> block [4, 4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf64> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c3(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf32>) kernel {
    // expected-error @+1 {{expects 8 positions along 2, K of the operand, but got 4}}
    %s = tile.contract %v, %p along 2 atom <fma> block [4, 4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c4(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf32>) kernel {
    // expected-error @+1 {{expects sums of type '!tile.fragment<1x8x4xf32>', but got '!tile.fragment<1x4x4xf32>'}}
    %s = tile.contract %v, %p along 1 atom <fma> block [4, 4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c5(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf32>) kernel {
    // expected-error @+1 {{expects a block of fibres and of results}}
    %s = tile.contract %v, %p along 1 atom <fma> block [4] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @contract_c6(%v: !tile.fragment<1x8x4xf32>, %p: !tile.operand<8x8xf32>) kernel {
    // expected-error @+1 {{expects a block of all results or a multiple of 4, 16 bytes of the operand, but got 2}}
    %s = tile.contract %v, %p along 1 atom <fma> block [4, 2] : !tile.fragment<1x8x4xf32>, !tile.operand<8x8xf32> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c1(%b: !tile.buffer<4x8x8xf32>, %y: !tile.view<?x8x8xf32>, %z: !tile.view<?x8x8xf32, [64, 8, 1]>, %a: f32, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects an addend of the sizes of its result, and with strides where that has some, but got '!tile.view<?x8x8xf32, [64, 8, 1]>' for '!tile.view<?x8x8xf32>'}}
      tile.store %b to %y[%t] beta %a : f32 addend %z : !tile.view<?x8x8xf32, [64, 8, 1]> rows 4 bytes 4 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c2(%b: !tile.buffer<4x8x8xf32>, %y: !tile.view<?x8x8xf32>, %t: index) kernel {
    // expected-error @+1 {{expects a tile of a tile.for}}
    tile.store %b to %y[%t] rows 4 bytes 4 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c3(%b: !tile.buffer<4x8x8xf32>, %y: !tile.view<?x8x8xf32>, %a: f64, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects alpha and beta of type 'f32', but got 'f64'}}
      tile.store %b to %y[%t] alpha %a : f64 rows 4 bytes 4 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c4(%b: !tile.buffer<4x8x8xf32>, %y: !tile.view<?x8x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects boxes of a fragment only}}
      tile.store %b to %y[%t] along [1] rows 4 bytes 4 : !tile.buffer<4x8x8xf32>, !tile.view<?x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c5(%v: !tile.fragment<1x8x4xf32>, %y: !tile.view<?x8x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects a fragment's boxes, and what they are along}}
      tile.store %v to %y[%t] rows 4 bytes 4 : !tile.fragment<1x8x4xf32>, !tile.view<?x8x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c6(%v: !tile.fragment<1x8x4xf32>, %y: !tile.view<?x8x8xf32, [64, 8, 1]>, %n: i64) kernel {
    tile.for %t to %n {
      tile.for_boxes %u of 8 {
        // expected-error @+1 {{expects a view without gaps for a fragment, but got '!tile.view<?x8x8xf32, [64, 8, 1]>'}}
        tile.store %v[%u] to %y[%t] along [1] rows 4 bytes 4 : !tile.fragment<1x8x4xf32>, !tile.view<?x8x8xf32, [64, 8, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7(%v: !tile.fragment<1x8x4xf32>, %y: !tile.view<?x8x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      tile.for_boxes %u of 7 {
        // expected-error @+1 {{expects the boxes to be all of 4 rows, but 7 boxes have 224 elements}}
        tile.store %v[%u] to %y[%t] along [1] rows 4 bytes 4 : !tile.fragment<1x8x4xf32>, !tile.view<?x8x8xf32>
      }
    }
    gpu.return
  }
}

// -----

// expected-error @+1 {{expects slots along the outermost axis of several positions, but got axis 1 of '!tile.buffer<4x4xf32>'}}
func.func private @f(!tile.ring<4 of <4x4xf32> along 1>)

// -----

// expected-error @+1 {{expects at least 4 slots, the positions along axis 0, but got 3}}
func.func private @f(!tile.ring<3 of <4x4xf32> along 0>)

// -----

gpu.module @kron_gpu {
  gpu.func @resize_c1(%b: !tile.buffer<2x8xf32>) kernel {
    // expected-error @+1 {{expects the elements and strides of '!tile.buffer<2x8xf32>', but got '!tile.buffer<2x4xf32>'}}
    %c = tile.resize %b : !tile.buffer<2x8xf32> -> !tile.buffer<2x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @resize_c1_gap(%b: !tile.buffer<2x3x8xf32, #tile.layout<[32, 8, 1]>>) kernel {
    // expected-error @+1 {{expects the elements and strides of}}
    %c = tile.resize %b : !tile.buffer<2x3x8xf32, #tile.layout<[32, 8, 1]>> -> !tile.buffer<6x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @resize_c1_rank(%b: !tile.buffer<2x8xf32>) kernel {
    // expected-error @+1 {{expects the elements and strides of '!tile.buffer<2x8xf32>', but got '!tile.buffer<1x2x8xf32>'}}
    %c = tile.resize %b : !tile.buffer<2x8xf32> -> !tile.buffer<1x2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @resize_c2_joined(%b: !tile.buffer<2x3x8xf32>) kernel {
    // expected-error @+1 {{expects at most the positions of '!tile.buffer<2x3x8xf32>', but got '!tile.buffer<7x8xf32>'}}
    %c = tile.resize %b : !tile.buffer<2x3x8xf32> -> !tile.buffer<7x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @resize_c2(%b: !tile.buffer<2x8xf32>) kernel {
    // expected-error @+1 {{expects at most the positions of '!tile.buffer<2x8xf32>', but got '!tile.buffer<3x8xf32>'}}
    %c = tile.resize %b : !tile.buffer<2x8xf32> -> !tile.buffer<3x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @barrier_c2() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects at most 15 groups of whole warps, or one per warp, but got 4 of 64 threads}}
    tile.barrier groups 4
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @release_c2(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects to be in no tile.for_boxes but one that all threads go through once}}
      tile.release %b : !tile.buffer<2x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c1_b(%x: !tile.view<?x8xf64, [8, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects elements of type 'f32', but got '!tile.view<?x8xf64, [8, 1]>'}}
    tile.copy %x[0] to %b bytes 4 : !tile.view<?x8xf64, [8, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c2_b(%x: !tile.view<?x8x8xf32>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects a view of 2 axes, which boxes of 2, 8 elements have, but got '!tile.view<?x8x8xf32>'}}
    tile.copy %x[0] to %b bytes 4 : !tile.view<?x8x8xf32>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_c(%x: !tile.view<?x8xf32, [16, 2]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects bytes of elements that lie together in '!tile.view<?x8xf32, [16, 2]>', but got 16}}
    tile.copy %x[0] to %b bytes 16 : !tile.view<?x8xf32, [16, 2]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_stride(%x: !tile.view<?x8xf32, [10, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects bytes of elements that lie together in '!tile.view<?x8xf32, [10, 1]>', but got 16}}
    tile.copy %x[0] to %b bytes 16 : !tile.view<?x8xf32, [10, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_size(%x: !tile.view<?x6xf32, [?, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects bytes of elements that lie together in '!tile.view<?x6xf32, [?, 1]>', but got 16}}
    tile.copy %x[0] to %b bytes 16 : !tile.view<?x6xf32, [?, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c6_b(%x: !tile.view<?x8xf32, [8, 1]>, %b: !tile.buffer<2x8xf32, #tile.layout<[9, 1]>>) kernel {
    // expected-error @+1 {{expects chunks of 16 bytes to lie together in '!tile.buffer<2x8xf32, #tile.layout<[9, 1]>>'}}
    tile.copy %x[0] to %b bytes 16 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32, #tile.layout<[9, 1]>>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c9(%x: !tile.view<?x8xf32>, %b: !tile.buffer<2x8xf32>) kernel {
    // expected-error @+1 {{expects rows of a ring of whole buffers, without part, order and groups}}
    tile.copy %x[0] to %b order [1, 0] rows 2 bytes 4 : !tile.view<?x8xf32>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c10(%x: !tile.view<?x8xf32, [8, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects an order of axes 0 to 1, but got 1, 1}}
    tile.copy %x[0] to %b order [1, 1] bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c11(%x: !tile.view<?x8xf32, [8, 1]>, %b: !tile.buffer<2x8xf32>) kernel {
    // expected-error @+1 {{expects part and groups for a ring along an axis only}}
    tile.copy %x[0] to %b part [0, 1] bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c11_part(%x: !tile.view<?x8xf32, [8, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects a part of 2 positions along axis 0, but got 1, 3}}
    tile.copy %x[0] to %b part [1, 3] bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c11_groups(%x: !tile.view<?x8xf32, [8, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    // expected-error @+1 {{expects 2 groups, one per position along axis 0, but got 4}}
    tile.copy %x[0] to %b groups 4 bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c11_chunks(%x: !tile.view<1x?xf32, [?, 1]>, %r: !tile.ring<6 of <1x4xf32> along 1>) kernel {
    %b = tile.acquire %r : !tile.ring<6 of <1x4xf32> along 1> -> !tile.buffer<1x4xf32>
    // expected-error @+1 {{expects slots and parts of whole chunks of 16 bytes}}
    tile.copy %x[0] to %b bytes 16 : !tile.view<1x?xf32, [?, 1]>, !tile.buffer<1x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_boxes_c2() kernel {
    // expected-error @+1 {{expects repeat or excess, but got both}}
    tile.for_boxes %u of 4 excess repeat {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c3_b(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects axes in order, from 0 to 1, but got 2}}
      %v = tile.load %b[%u] along [2] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c4_b(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects at least one axis}}
      %v = tile.load %b[%u] along [] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c5_b(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects boxes that are all of a tile of 2, 8 elements along 1, but got '!tile.fragment<1x4xf32>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c6_b(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects elements of type 'f32', but got '!tile.fragment<1x8xf64>'}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8_c(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 3 repeat {
      // expected-error @+1 {{expects the boxes of a tile of 2, 8 elements, but 3 boxes have 24 elements}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8_ring(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 excess {
      // expected-error @+1 {{expects no boxes in excess of a box's tile}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c8_view(%x: !tile.view<?x8xf32, [8, 1]>, %n: i64) kernel {
    tile.for %t to %n {
      tile.for_boxes %u of 2 excess {
        // expected-error @+1 {{expects no boxes in excess of a box's tile}}
        %v = tile.load %x[%u] along [1] tile %t box [2, 8] : !tile.view<?x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c13(%x: !tile.view<?x8xf32, [8, 1]>) kernel {
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects a tile and the sizes of a box of a view, and of nothing else}}
      %v = tile.load %x[%u] along [1] box [2, 8] : !tile.view<?x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c13_tile(%x: !tile.view<?x8xf32, [8, 1]>, %t: index) kernel {
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects a tile of a tile.for}}
      %v = tile.load %x[%u] along [1] tile %t box [2, 8] : !tile.view<?x8xf32, [8, 1]> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c14(%r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat order [0, 2] {
      // expected-error @+1 {{expects an order of axes 0 to 1, but got 0, 2}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c14_rows(%b: !tile.buffer<2x8xf32>) kernel {
    tile.for_boxes %u of 2 order [1, 0] {
      // expected-error @+1 {{expects boxes of rows in the tile's order, none of them repeated}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_c14_repeat(%b: !tile.buffer<2x8xf32>) kernel {
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects boxes of rows in the tile's order, none of them repeated}}
      %v = tile.load %b[%u] along [1] : !tile.buffer<2x8xf32> -> !tile.fragment<1x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @exchange_c1_b(%r: !tile.ring<3 of <2x8xf32> along 0>, %v: !tile.fragment<1x8xf32>) kernel {
    %b = tile.wait %r pending 0 : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 1 repeat {
      // expected-error @+1 {{expects the boxes of a tile of 2, 8 elements, but 1 boxes have 8 elements}}
      tile.exchange %v to %b[%u] along [1] : !tile.fragment<1x8xf32>, !tile.buffer<2x8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c7_b(%y: !tile.view<?x8xf32, [8, 1]>, %v: !tile.fragment<1x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      tile.for_boxes %u of 1 repeat {
        // expected-error @+1 {{expects the boxes of a tile of 2, 8 elements, but 1 boxes have 8 elements}}
        tile.store %v[%u] to %y[%t] along [1] box [2, 8] bytes 4 : !tile.fragment<1x8xf32>, !tile.view<?x8xf32, [8, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c8(%y: !tile.view<?x8xf32, [8, 1]>, %b: !tile.buffer<2x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects sizes of a box for a fragment without rows, and for nothing else}}
      tile.store %b to %y[%t] box [2, 8] bytes 4 : !tile.buffer<2x8xf32>, !tile.view<?x8xf32, [8, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c3_store(%y: !tile.view<?x8xf32, [8, 1]>, %b: !tile.buffer<2x8xf32>, %n: i64) kernel {
    tile.for %t to %n {
      // expected-error @+1 {{expects bytes of one element, but got 16}}
      tile.store %b to %y[%t] bytes 16 : !tile.buffer<2x8xf32>, !tile.view<?x8xf32, [8, 1]>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c13(%x: !tile.view<?x8xf32, [8, 1]>, %r: !tile.ring<3 of <2x8xf32> along 0>) kernel {
    %b = tile.acquire %r : !tile.ring<3 of <2x8xf32> along 0> -> !tile.buffer<2x8xf32>
    tile.for_boxes %u of 2 repeat {
      // expected-error @+1 {{expects to be in no tile.for_boxes but one that all threads go through once}}
      tile.copy %x[0] to %b bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<2x8xf32>
    }
    gpu.return
  }
}

// Of columns that threads keep.

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c1(%n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for %t to %n {
      // expected-error @+1 {{expects to be in a gpu.func itself}}
      tile.for_columns %c of 10 by 10 atom <fma> {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c2() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects a body with one argument of type index}}
    "tile.for_columns"() <{count = 10 : i64, per_cta = 10 : i64, atom = #tile.atom<fma>}> ({
      tile.yield
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c3() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects a thread for each of 33 columns, but got 64 threads and 2 beside each other}}
    tile.for_columns %c of 33 by 33 beside 2 atom <fma> {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c3_warps() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects a warp for each of 4 columns, none beside each other, but got 64 threads and 1 beside each other}}
    tile.for_columns %c of 4 by 4 atom <mma.m16n8k16> {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c4() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects to work on views and registers only, but got tile.barrier}}
    tile.for_columns %c of 10 by 10 atom <fma> {
      tile.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_yield() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects a body that ends with tile.yield}}
    "tile.for_columns"() <{count = 10 : i64, per_cta = 10 : i64, atom = #tile.atom<fma>}> ({
    ^bb0(%c: index):
      gpu.return
    }) : () -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c1(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects columns of a tile.for_columns}}
    %v = tile.load_columns %f[%i] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c2(%f: !tile.view<8x10x4xf32>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects a view with strides and 3 axes, three of known sizes, but got '!tile.view<8x10x4xf32>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c2_rows(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects a view with strides and 4 axes, three of known sizes, but got '!tile.view<8x10x4xf32, [1, 32, 8]>'}}
      %v = tile.load_columns %f[%c, 0] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c2_count(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 9 by 9 atom <fma> {
      // expected-error @+1 {{expects 9 columns of 4 results each to be those of '!tile.view<8x10x4xf32, [1, 32, 8]>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c3(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects a fragment of rows, 8 positions and results, but got '!tile.fragment<1x4x4xf32>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x4x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c3_rows(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects elements of '!tile.view<8x10x4xf32, [1, 32, 8]>', and one row without a turn, but got '!tile.fragment<2x8x4xf32>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<2x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c3_type(%f: !tile.view<8x10x4xf32, [1, 32, 8]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects elements of '!tile.view<8x10x4xf32, [1, 32, 8]>', and one row without a turn, but got '!tile.fragment<1x8x4xf64>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [1, 32, 8]> -> !tile.fragment<1x8x4xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c4(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects a tile of a tile.for in its tile.for_columns}}
      %v = tile.load_columns %x[%c, %i + 1] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c5(%f: !tile.view<8x10x4xf32, [4, 32, 1]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects elements that follow each other to be loaded by 16 bytes, but got '!tile.view<8x10x4xf32, [4, 32, 1]>'}}
      %v = tile.load_columns %f[%c] bytes 16 : !tile.view<8x10x4xf32, [4, 32, 1]> -> !tile.fragment<1x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c6(%x: !tile.view<?x6x10x4xf32, [?, 1, 6, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects bytes that divide 6 elements of '!tile.view<?x6x10x4xf32, [?, 1, 6, 0]>', but got 16}}
      %v = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x6x10x4xf32, [?, 1, 6, 0]> -> !tile.fragment<2x6x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c6_rows(%x: !tile.view<?x8x10x4xf32, [82, 1, 8, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects bytes that divide 8 elements of '!tile.view<?x8x10x4xf32, [82, 1, 8, 0]>', but got 16}}
      %v = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [82, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c6_power(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects bytes that divide 8 elements of '!tile.view<?x8x10x4xf32, [?, 1, 8, 0]>', but got 12}}
      %v = tile.load_columns %x[%c, 0] bytes 12 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c7(%f: !tile.view<16x2x24xf32, [1, 384, 16]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      // expected-error @+1 {{expects 16-bit elements, a multiple of 8 results of a group and of 32 of a column, but got '!tile.fragment<1x16x32xf32>' of '!tile.view<16x2x24xf32, [1, 384, 16]>'}}
      %v = tile.load_columns %f[%c] bytes 8 : !tile.view<16x2x24xf32, [1, 384, 16]> -> !tile.fragment<1x16x32xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c7_k(%f: !tile.view<14x2x24xf16, [1, 336, 14]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      // expected-error @+1 {{expects K to be a multiple of 4 up to 16, by 8 bytes, tiles of 16 rows, and results that share the elements of rows, but got '!tile.fragment<1x14x32xf16>' of '!tile.view<14x2x24xf16, [1, 336, 14]>'}}
      %v = tile.load_columns %f[%c] bytes 8 : !tile.view<14x2x24xf16, [1, 336, 14]> -> !tile.fragment<1x14x32xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c7_rows(%x: !tile.view<?x16x2x24xf16, [?, 1, 16, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      // expected-error @+1 {{expects K to be a multiple of 4 up to 16, by 8 bytes, tiles of 16 rows, and results that share the elements of rows, but got '!tile.fragment<8x16x32xf16>' of '!tile.view<?x16x2x24xf16, [?, 1, 16, 0]>'}}
      %v = tile.load_columns %x[%c, 0] bytes 8 : !tile.view<?x16x2x24xf16, [?, 1, 16, 0]> -> !tile.fragment<8x16x32xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c7_shared(%f: !tile.view<16x2x24xf16, [1, 16, 0]>, %n: i64, %i: index) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      // expected-error @+1 {{expects K to be a multiple of 4 up to 16, by 8 bytes, tiles of 16 rows, and results that share the elements of rows, but got '!tile.fragment<1x16x32xf16>' of '!tile.view<16x2x24xf16, [1, 16, 0]>'}}
      %v = tile.load_columns %f[%c] bytes 8 : !tile.view<16x2x24xf16, [1, 16, 0]> -> !tile.fragment<1x16x32xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c1(%v: !tile.fragment<2x8x4xf32>, %w: !tile.fragment<1x8x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects to be in a tile.for_columns of atom fma}}
    %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf32>, !tile.fragment<1x8x4xf32> -> !tile.fragment<2x1x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c1_atom(%v: !tile.fragment<2x8x4xf32>, %w: !tile.fragment<1x8x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects to be in a tile.for_columns of atom mma.m16n8k16}}
      %s = tile.dot %v, %w atom <mma.m16n8k16> : !tile.fragment<2x8x4xf32>, !tile.fragment<1x8x4xf32> -> !tile.fragment<2x1x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c2(%v: !tile.fragment<2x8x4xf32>, %w: !tile.fragment<1x4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects weights for K and results of one row of '!tile.fragment<2x8x4xf32>', but got '!tile.fragment<1x4x4xf32>'}}
      %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf32>, !tile.fragment<1x4x4xf32> -> !tile.fragment<2x1x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c2_rows(%v: !tile.fragment<2x8x4xf32>, %w: !tile.fragment<2x8x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects weights for K and results of one row of '!tile.fragment<2x8x4xf32>', but got '!tile.fragment<2x8x4xf32>'}}
      %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf32>, !tile.fragment<2x8x4xf32> -> !tile.fragment<2x1x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c2_type(%v: !tile.fragment<2x8x4xf16>, %w: !tile.fragment<1x8x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects weights for K and results of one row of '!tile.fragment<2x8x4xf16>', but got '!tile.fragment<1x8x4xf32>'}}
      %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf16>, !tile.fragment<1x8x4xf32> -> !tile.fragment<2x1x4xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c3(%v: !tile.fragment<2x8x4xf16>, %w: !tile.fragment<1x8x4xf16>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      // expected-error @+1 {{expects sums of type '!tile.fragment<2x1x4xf32>', but got '!tile.fragment<2x1x4xf16>'}}
      %s = tile.dot %v, %w atom <fma> : !tile.fragment<2x8x4xf16>, !tile.fragment<1x8x4xf16> -> !tile.fragment<2x1x4xf16>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c2_carried(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x10x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      %a = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      // expected-error @+1 {{expects a body with one argument of type index, and one for each carried fragment}}
      "tile.for"(%n, %a) ({
      ^bb0(%t: index):
        tile.yield
      }) : (i64, !tile.fragment<2x8x4xf32>) -> ()
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c3(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x10x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      %a = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      // expected-error @+1 {{expects to carry fragments of types '!tile.fragment<2x8x4xf32>', but got '!tile.fragment<2x8x4xf32>' and}}
      tile.for %t to %n carry(%v = %a : !tile.fragment<2x8x4xf32>) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c4(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x10x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      %a = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      // expected-error @+1 {{expects to carry fragments from tile.load_columns of the same view, by as many bytes}}
      tile.for %t to %n carry(%v = %a : !tile.fragment<2x8x4xf32>) {
        %b = tile.load_columns %x[%c, %t + 1] bytes 8 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
        tile.yield %b : !tile.fragment<2x8x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c4_carried(%x: !tile.view<?x8x10x4xf32, [?, 1, 8, 0]>, %f: !tile.view<8x10x4xf32, [1, 32, 8]>, %y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      %a = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x10x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      // expected-error @+1 {{expects to carry fragments from tile.load_columns of the same view, by as many bytes}}
      tile.for %t to %n carry(%v = %a : !tile.fragment<2x8x4xf32>) {
        tile.yield %v : !tile.fragment<2x8x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9(%y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [?, 1, 4, 1]>'}}
        tile.store %s[%c] to %y[%t] along [1] rows 2 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9_axis(%y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [?, 1, 4, 1]>'}}
        tile.store %s[%c] to %y[%t] along [0] rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9_bytes(%y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [?, 1, 4, 1]>'}}
        tile.store %s[%c] to %y[%t] along [1] rows 4 bytes 4 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9_beta(%y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [?, 1, 4, 1]>'}}
        tile.store %s[%c] to %y[%t] along [1] beta %b : f32 addend %y : !tile.view<?x1x10x4xf32, [?, 1, 4, 1]> rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9_dense(%y: !tile.view<?x1x10x4xf32, [?, 1, 5, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [?, 1, 5, 1]>'}}
        tile.store %s[%c] to %y[%t] along [1] rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 5, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c9_rows(%y: !tile.view<?x1x10x4xf32, [42, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %b: f32) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects columns along axis 1, 4 rows, and bytes 16 of dense rows, without beta, but got '!tile.view<?x1x10x4xf32, [42, 1, 4, 1]>'}}
        tile.store %s[%c] to %y[%t] along [1] rows 4 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [42, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @store_c3_columns(%y: !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>, %s: !tile.fragment<2x1x4xf32>, %n: i64, %a: f64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects alpha and beta of type 'f32', but got 'f64'}}
        tile.store %s[%c] to %y[%t] along [1] alpha %a : f64 rows 2 bytes 16 : !tile.fragment<2x1x4xf32>, !tile.view<?x1x10x4xf32, [?, 1, 4, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c4_rows(%f: !tile.view<16x2x24xf16, [1, 384, 16]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      %w = tile.load_columns %f[%c] bytes 8 : !tile.view<16x2x24xf16, [1, 384, 16]> -> !tile.fragment<1x16x32xf16>
      // expected-error @+1 {{expects tiles of 16 rows and weights as tile.load_columns loads them, but got '!tile.fragment<1x16x32xf16>' and '!tile.fragment<1x16x32xf16>'}}
      %s = tile.dot %w, %w atom <mma.m16n8k16> : !tile.fragment<1x16x32xf16>, !tile.fragment<1x16x32xf16> -> !tile.fragment<1x1x32xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @dot_c4(%v: !tile.fragment<16x16x32xf16>, %f: !tile.view<16x2x24xf16, [1, 384, 16]>) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 2 by 2 atom <mma.m16n8k16> {
      %w = tile.load_columns %f[%c] bytes 8 : !tile.view<16x2x24xf16, [1, 384, 16]> -> !tile.fragment<1x16x32xf16>
      // expected-error @+1 {{expects tiles of 16 rows and weights as tile.load_columns loads them, but got '!tile.fragment<16x16x32xf16>' and '!tile.fragment<1x16x32xf16>'}}
      %s = tile.dot %v, %w atom <mma.m16n8k16> : !tile.fragment<16x16x32xf16>, !tile.fragment<1x16x32xf16> -> !tile.fragment<16x1x32xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @copy_c1_columns(%y: !tile.view<?x1x10x8xf16, [?, 1, 8, 1]>, %s: !tile.fragment<2x1x8xf16>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    tile.for_columns %c of 10 by 10 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects elements of type 'f32', but got '!tile.fragment<2x1x8xf16>'}}
        tile.store %s[%c] to %y[%t] along [1] rows 2 bytes 16 : !tile.fragment<2x1x8xf16>, !tile.view<?x1x10x8xf16, [?, 1, 8, 1]>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c4_buffer(%y: !tile.view<?x8xf32>, %b: !tile.buffer<4x8xf32>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects to work on views and registers only, but got tile.store}}
    tile.for_columns %c of 10 by 10 atom <fma> {
      tile.for %t to %n {
        tile.store %b to %y[%t] rows 4 bytes 16 : !tile.buffer<4x8xf32>, !tile.view<?x8xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_columns_c5() kernel attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects atom fma or mma.m16n8k16, but got dmma.m16n8k8}}
    tile.for_columns %c of 2 by 2 atom <dmma.m16n8k8> {
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @load_columns_c8(%f: !tile.view<8x50x4xf32, [1, 32, 8]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for_columns %c of 50 by 21 beside 2 atom <fma> {
      tile.for %t to %n {
        // expected-error @+1 {{expects ahead with a tile}}
        %w = "tile.load_columns"(%f, %c, %t) <{bytes = 16 : i64}> : (!tile.view<8x50x4xf32, [1, 32, 8]>, index, index) -> !tile.fragment<1x8x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @for_c4_unverified(%x: !tile.view<?x8x50x4xf32, [?, 1, 8, 0]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 8>} {
    tile.for_columns %c of 50 by 21 beside 2 atom <fma> {
      %first = tile.load_columns %x[%c, 0] bytes 16 : !tile.view<?x8x50x4xf32, [?, 1, 8, 0]> -> !tile.fragment<2x8x4xf32>
      // expected-error @+1 {{expects to carry fragments from tile.load_columns of the same view, by as many bytes}}
      tile.for %t to %n carry(%v = %first : !tile.fragment<2x8x4xf32>) {
        %next = "tile.load_columns"(%x, %c, %t) <{ahead = 1 : i64}> : (!tile.view<?x8x50x4xf32, [?, 1, 8, 0]>, index, index) -> !tile.fragment<2x8x4xf32>
        tile.yield %next : !tile.fragment<2x8x4xf32>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @pieces_of_nothing(%r: !tile.ring<2 of <32x32xf16>>, %x: !tile.view<?x32xf16>, %t: index) kernel {
    // expected-error @+1 {{'tile.copy_pieces' op failed to verify that operandSegmentSizes is 1 at position 0, for the view}}
    "tile.copy_pieces"(%r, %x, %r) <{operandSegmentSizes = array<i32: 0, 1, 1, 1>, pieces = #tile.pieces<sizes = [32, 32], block = [32, 32], axes = [0, 1], warps = 1, bytes = 16>}>
      : (!tile.ring<2 of <32x32xf16>>, !tile.view<?x32xf16>, !tile.ring<2 of <32x32xf16>>) -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @step_of_nothing(%r: !tile.ring<2 of <32x32xf16>>) kernel {
    // expected-error @+1 {{'tile.copy_step' op failed to verify that operandSegmentSizes is 1 at position 0, for the view}}
    "tile.copy_step"(%r, %r) <{operandSegmentSizes = array<i32: 0, 0, 1, 0, 1>, ahead = 0 : i64}>
      : (!tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <32x32xf16>>) -> ()
    gpu.return
  }
}

// -----

gpu.module @kron_gpu {
  gpu.func @rows_of_nothing(%t: index, %a: f32, %x: !tile.view<?x32xf16>) kernel {
    // expected-error @+1 {{'tile.leave_rows' op failed to verify that operandSegmentSizes is 1 at position 0, for the source}}
    "tile.leave_rows"(%t, %a, %a, %x) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 1, 1, 1, 0, 0>}>
      : (index, f32, f32, !tile.view<?x32xf16>) -> ()
    gpu.return
  }
}
