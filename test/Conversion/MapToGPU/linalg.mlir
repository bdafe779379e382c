// RUN: kron-opt %s --kron-map-to-gpu --split-input-file | FileCheck %s

// Verify that an elementwise operation becomes a kernel with one thread per
// element, launched with its sizes and the strides that are not known.
// CHECK-LABEL: func.func @double(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32, strided<[?, 1]>>
// CHECK:         %[[SMS:.*]] = llvm.call @kronRtCudaNumSMs()
// CHECK:         %[[RESIDENT:.*]] = arith.muli %[[SMS]]
// CHECK:         %[[GRID:.*]] = arith.minsi %{{.*}}, %[[RESIDENT]]
// CHECK:         %[[NAME:.*]] = llvm.mlir.addressof @double_0_name
// CHECK:         llvm.call @kronRtCudaLaunch(%{{.*}}, %[[NAME]], %[[GRID]],
// CHECK-NOT:     linalg
// CHECK:       gpu.module @kron_gpu
// CHECK:         llvm.func @double_0(
// CHECK-SAME:      nvvm.kernel, nvvm.maxntid = array<i32: 256>
// CHECK:           scf.for
// CHECK:             %[[INSIDE:.*]] = arith.cmpi slt
// CHECK:             scf.if %[[INSIDE]]
// CHECK:               %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK:               %[[R:.*]] = arith.addf %[[V]], %[[V]] : f32
// CHECK:               llvm.store %[[R]], %{{.*}} : f32, !llvm.ptr<1>
#id = affine_map<(i, j) -> (i, j)>
func.func @double(%x: memref<?x8xf32, strided<[?, 1]>>, %y: memref<?x8xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x8xf32, strided<[?, 1]>>) outs(%y : memref<?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %v, %v : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Verify that a reduction is a loop of each thread, and that scalars of the host
// become parameters, complex ones in two parts.
// CHECK-LABEL: func.func @dot(
// CHECK-SAME:    %[[S:[a-z0-9]*]]: complex<f32>
// CHECK-DAG:     complex.re %[[S]]
// CHECK-DAG:     complex.im %[[S]]
// CHECK:         llvm.func @dot_0(
// CHECK-SAME:      f32
// CHECK-SAME:      f32
// CHECK:           %[[C:.*]] = complex.create
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK:               complex.mul %{{.*}}, %[[C]]
func.func @dot(%x: memref<4x5xcomplex<f32>>, %y: memref<4xcomplex<f32>>, %s: complex<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x5xcomplex<f32>>) outs(%y : memref<4xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %o: complex<f32>):
    %m = complex.mul %v, %s : complex<f32>
    %r = complex.add %m, %o : complex<f32>
    linalg.yield %r : complex<f32>
  }
  return
}

// -----

// Verify that a sum stays in registers, eight steps at a time and then single
// ones, and is loaded and stored once.
// CHECK-LABEL: llvm.func @sum_0(
// CHECK:         scf.if
// CHECK:           %[[OLD:.*]] = llvm.load %[[PLACE:.*]] : !llvm.ptr<1> -> f32
// CHECK:           %[[MOST:.*]] = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %[[OLD]]) -> (f32)
// CHECK:             arith.addf %[[SUM]], %{{.*}} : f32
// CHECK-COUNT-7:     arith.addf
// CHECK-NOT:         llvm.store
// CHECK:             scf.yield
// CHECK:           %[[ALL:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[MOST]]) -> (f32)
// CHECK:             arith.addf
// CHECK:             scf.yield
// CHECK:           llvm.store %[[ALL]], %{{.*}} : f32, !llvm.ptr<1>
func.func @sum(%x: memref<4x?xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x?xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  }
  return
}

// Verify that a reduction which writes at every step does so.
// CHECK-LABEL: llvm.func @scan_0(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:       iter_args
// CHECK:             llvm.store
func.func @scan(%x: memref<4x9xf32>, %y: memref<4x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x9xf32>) outs(%y : memref<4x9xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Verify that the body may ask for its position.
// CHECK-LABEL: llvm.func @iota_0(
// CHECK:         %[[I:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         arith.index_cast %[[I]] : index to i64
func.func @iota(%y: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%y : memref<4xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64
  }
  return
}

// -----

// Verify that the body may read arrays that are no operands.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %
// CHECK:         memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:         llvm.func @gather_0(
// CHECK:           llvm.getelementptr
// CHECK:           %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK:           llvm.store %[[V]]
func.func @gather(%x: memref<?xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%y : memref<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %v = memref.load %x[%i] : memref<?xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

// Verify that a thread has 8 elements of 8 bits on their way before it widens and stores them;
// the last ones come one by one.
// CHECK-LABEL: func.func @widen(
// CHECK:         llvm.func @widen_0(
// CHECK:           scf.if
// CHECK-COUNT-8:     llvm.load {{.*}} -> i8
// CHECK-NOT:         llvm.load
// CHECK-COUNT-8:     llvm.store {{.*}} : f16
// CHECK:           else
// CHECK:             scf.for
// CHECK:               llvm.load {{.*}} -> i8
// CHECK:               llvm.store {{.*}} : f16
func.func @widen(%x: memref<?x32xf8E5M2>, %y: memref<?x32xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x32xf8E5M2>) outs(%y : memref<?x32xf16>) {
  ^bb0(%a: f8E5M2, %o: f16):
    %byte = arith.bitcast %a : f8E5M2 to i8
    %word = arith.extui %byte : i8 to i16
    %c8 = arith.constant 8 : i16
    %bits = arith.shli %word, %c8 : i16
    %v = arith.bitcast %bits : i16 to f16
    linalg.yield %v : f16
  }
  return
}

// -----

// Verify that a number of 8 bits may fill an array.
// CHECK-LABEL: func.func @fill_bytes(
// CHECK:       gpu.module
// CHECK:         arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK:         llvm.store
func.func @fill_bytes(%y: memref<64xf8E4M3FN>) {
  %zero = arith.constant 0.0 : f8E4M3FN
  linalg.fill ins(%zero : f8E4M3FN) outs(%y : memref<64xf8E4M3FN>)
  return
}
