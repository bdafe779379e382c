// RUN: kron-opt %s --convert-tile-to-nvvm -verify-diagnostics --split-input-file

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    gpu.return
  }
}

func.func @from_nowhere(%v: !tile.view<4x4xf32>, %n: i64) {
  // expected-error @+1 {{expects views from tile.view}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf32>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf32>, %y: !tile.view<4x4xf64>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    gpu.return
  }
}

func.func @two_types(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf32>
  %w = tile.view %p : !llvm.ptr -> !tile.view<4x4xf64>
  // expected-error @+1 {{expects views whose elements are summed up in 'f32', but got 'f64'}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v, %w : !tile.view<4x4xf32>, !tile.view<4x4xf64>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xi16>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    gpu.return
  }
}

func.func @integers(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xi16>
  // expected-error @+1 {{expects views of f16, bf16, f32, f64, i32, i64, or complex elements of f32 or f64}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xi16>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    // expected-error @+1 {{expects to be a tile operation, as all of a kernel of these}}
    nvvm.barrier0
    gpu.return
  }
}

func.func @host(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf32>
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf32>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %b = tile.alloc : !tile.buffer<4x4xf64>
    gpu.return
  }
}

func.func @host(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf32>
  // expected-error @+1 {{expects views whose elements are summed up in 'f64', but got 'f32'}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf32>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    gpu.return
  }
}

func.func @twice(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf32>
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf32>)
  // expected-error @+1 {{expects a kernel that is launched once}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf32>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf16, [4, 1]>, %n: i64) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %b = tile.alloc : !tile.buffer<4x4xf32>
    tile.for %t to %n {
      tile.for_boxes %u of 4 {
        // expected-error @+1 {{expects elements of type 'f32', for views of 'f16', but got '!tile.fragment<1x4xf16>'}}
        %f = tile.load %x[%u] along [1] tile %t box [4, 4] : !tile.view<4x4xf16, [4, 1]> -> !tile.fragment<1x4xf16>
      }
    }
    gpu.return
  }
}

func.func @host(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf16, [4, 1]>
  tile.launch @kron_gpu::@k tiles(%n) args(%v, %n : !tile.view<4x4xf16, [4, 1]>, i64)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @k(%x: !tile.view<4x4xf16>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %b = tile.alloc : !tile.buffer<4x4xf16>
    gpu.return
  }
}

func.func @host(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p : !llvm.ptr -> !tile.view<4x4xf16>
  // expected-error @+1 {{expects views of f16, bf16, f32, f64, i32, i64, or complex elements of f32 or f64}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<4x4xf16>)
  return
}

// -----

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 1 : i32} : !llvm.array<0 x i8>
  gpu.func @k(%x: !tile.view<?x4x4xf32>) kernel attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %ring = tile.alloc : !tile.ring<2 of <4x4x4xf32>>
    %s = tile.acquire %ring : <2 of <4x4x4xf32>> -> <4x4x4xf32>
    tile.copy %x[0] to %s rows 4 bytes 16 : <?x4x4xf32>, <4x4x4xf32>
    gpu.return
  }
}

func.func @elsewhere(%p: !llvm.ptr, %n: i64) {
  %v = tile.view %p sizes(%n) : !llvm.ptr -> <?x4x4xf32>
  // expected-error @+1 {{'tile.launch' op expects an llvm.mlir.global 'kron_smem' of address space 3 beside its kernel, which has shared memory}}
  tile.launch @kron_gpu::@k tiles(%n) args(%v : !tile.view<?x4x4xf32>)
  return
}

// -----

gpu.module @kron_gpu {
  gpu.func @function(%a: !tile.view<?x8xf32, [8, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 16] : !tile.view<?x?xf32, [?, 1]>
      %p = tile.pairs %a, %a[%u] through %l, %r lanes 8 from 0.0
          : !tile.view<?x8xf32, [8, 1]>, !tile.view<?x8xf32, [8, 1]>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x2x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        // expected-error @+1 {{expects to be an operation of arith or math, as all of a function of pairs}}
        %d = llvm.fsub %e, %f : f32
        tile.yield %d : f32
      }
      tile.store_pairs %p to %y[%u] lanes 8 : !tile.fragment<1x2x2xf32>, !tile.view<?x?xf32, [?, 1]>
    }
    gpu.return
  }
}

func.func @function_host(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?x8xf32, [8, 1]>
  %y = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  tile.launch @kron_gpu::@function tiles(%n) args(%a, %y, %n : !tile.view<?x8xf32, [8, 1]>, !tile.view<?x?xf32, [?, 1]>, i64)
  return
}
