// RUN: kron-opt %s --kron-map-to-gpu --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-gpu-pipeline --split-input-file | FileCheck %s --check-prefix=LAUNCHES

// Verify that a reduction starts from what its destination was filled with, a constant or a
// number of the host, and that there is no kernel to fill it.
// CHECK-LABEL: func.func @sum(
// CHECK-COUNT-1: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @sum_0(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START:.*]]) -> (f32)
// CHECK-NOT:     llvm.func @sum_1(
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @sum(%x: memref<4x5xf32>, %y: memref<4xf32>, %start: f32) {
  %sums = memref.alloc() : memref<4xf32>
  linalg.fill ins(%start : f32) outs(%sums : memref<4xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  memref.dealloc %sums : memref<4xf32>
  return
}

// -----

// Verify that the filled array of the caller is started from where nothing else than arrays
// of the function itself is read.
// CHECK-LABEL: func.func @in_place(
// CHECK-COUNT-2: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:       gpu.module
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @in_place(%x: memref<4x5xf32>, %y: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %copy = memref.alloc() : memref<4x5xf32>
  linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x5xf32>) outs(%copy : memref<4x5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.mulf %v, %v : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%copy : memref<4x5xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  memref.dealloc %copy : memref<4x5xf32>
  return
}

// -----

// Verify that a fill stays where the input may be in the same memory, where something reads the
// filled array before the reduction, where a reduction does not write all of it, and where a view
// of it exists.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-9: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:       gpu.module
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
#id = affine_map<(i) -> (i)>
#one = affine_map<(i, j) -> (i, 0)>
func.func @kept(%x: memref<4x5xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%z : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %v : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  memref.dealloc %a : memref<4xf32>
  %b = memref.alloc() : memref<4x2xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<4x2xf32>)
  linalg.generic {indexing_maps = [#in, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xf32>) outs(%b : memref<4x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  memref.dealloc %b : memref<4x2xf32>
  %c = memref.alloc() : memref<4xf32>
  %view = memref.subview %c[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  linalg.fill ins(%zero : f32) outs(%c : memref<4xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xf32>) outs(%c : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %o : f32
    linalg.yield %r : f32
  }
  memref.dealloc %c : memref<4xf32>
  return
}

// -----

// Verify that the gradient by a bias is two kernels, three if it is rounded to 16 bits.
// LAUNCHES-LABEL: llvm.func @bias(
// LAUNCHES-COUNT-2: llvm.call @kronRtCudaLaunch
// LAUNCHES-NOT:     llvm.call @kronRtCudaLaunch
// LAUNCHES:       llvm.func @bias_half(
// LAUNCHES-COUNT-3: llvm.call @kronRtCudaLaunch
// LAUNCHES-NOT:     llvm.call @kronRtCudaLaunch
// LAUNCHES:       llvm.func @bias_wide(
// LAUNCHES-COUNT-2: llvm.call @kronRtCudaLaunch
// LAUNCHES-NOT:     llvm.call @kronRtCudaLaunch
func.func @bias(%g: memref<?x96xf32>, %d: memref<96xf32>) {
  kron.bias_grad ins(%g : memref<?x96xf32>) outs(%d : memref<96xf32>)
  return
}
func.func @bias_half(%g: memref<96x?xf16>, %d: memref<96xf16>) {
  kron.bias_grad ins(%g : memref<96x?xf16>) outs(%d : memref<96xf16>) {layout = #kron.layout<batch_last>}
  return
}
func.func @bias_wide(%g: memref<?x96xf16>, %d: memref<96xf32>) {
  kron.bias_grad ins(%g : memref<?x96xf16>) outs(%d : memref<96xf32>)
  return
}
