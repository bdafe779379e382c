// RUN: kron-opt %s --kron-map-to-gpu --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-map-to-gpu --split-input-file --remark-format=emitRemark --remarks-filter=kron-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that a copy to padded rows writes these by 16 bytes, with the zeros behind them, which
// nothing else writes: elements are read one by one, the last one in place of those behind.
// REMARK: own-kernel {{.*}}Function=pad {{.*}}runs as a kernel of its own, by padded rows
// CHECK-LABEL: func.func @pad(
// CHECK-COUNT-1: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @pad_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 256>
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<1> -> i16
// CHECK-NOT:     llvm.store {{.*}} : i16
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<1>
func.func @pad(%x: memref<5x13x83xbf16, strided<[?, 83, 1], offset: ?>>) {
  %zero = arith.constant 0.0 : bf16
  %padded = memref.alloc() : memref<5x13x88xbf16>
  linalg.fill ins(%zero : bf16) outs(%padded : memref<5x13x88xbf16>)
  %part = memref.subview %padded[0, 0, 0] [5, 13, 83] [1, 1, 1] : memref<5x13x88xbf16> to memref<5x13x83xbf16, strided<[1144, 88, 1]>>
  linalg.copy ins(%x : memref<5x13x83xbf16, strided<[?, 83, 1], offset: ?>>) outs(%part : memref<5x13x83xbf16, strided<[1144, 88, 1]>>)
  return
}

// -----

// Verify that rows of zeros behind others, and an axis of one position inside, belong to it.
// CHECK-LABEL: func.func @more(
// CHECK-COUNT-1: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @more_0(
// CHECK:         arith.cmpi slt, %{{.*}}, %c9_i64
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
func.func @more(%x: memref<9x6x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<12x8x1xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<12x8x1xf32>)
  %part = memref.subview %padded[0, 0, 0] [9, 6, 1] [1, 1, 1] : memref<12x8x1xf32> to memref<9x6x1xf32, strided<[8, 1, 1]>>
  linalg.copy ins(%x : memref<9x6x1xf32>) outs(%part : memref<9x6x1xf32, strided<[8, 1, 1]>>)
  return
}

// -----

// Verify that a copy from padded rows stores 16 bytes of the array at a time, if the host says
// that its rows have no gap and that it starts at such a multiple; else one by one.
// CHECK-LABEL: func.func @cut(
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK:         %[[LOW:.*]] = arith.andi %[[ADDRESS]], %c15_i64
// CHECK:         %[[GAP:.*]] = arith.xori %{{.*}}, %c1079_i64
// CHECK:         arith.ori %[[LOW]], %[[GAP]]
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @cut_0(
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<1> -> i16
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<1>
// CHECK:         scf.for
// CHECK:           llvm.store {{.*}} : i16, !llvm.ptr<1>
func.func @cut(%y: memref<5x13x83xbf16, strided<[?, 83, 1], offset: ?>>) {
  %padded = memref.alloc() : memref<5x13x88xbf16>
  %part = memref.subview %padded[0, 0, 0] [5, 13, 83] [1, 1, 1] : memref<5x13x88xbf16> to memref<5x13x83xbf16, strided<[1144, 88, 1]>>
  linalg.copy ins(%part : memref<5x13x83xbf16, strided<[1144, 88, 1]>>) outs(%y : memref<5x13x83xbf16, strided<[?, 83, 1], offset: ?>>)
  return
}

// -----

// Verify that branches behind the copy may use the array: plans of a dispatch do.
// CHECK-LABEL: func.func @branches(
// CHECK-COUNT-1: llvm.call @kronRtCudaLaunch
// CHECK:         scf.if
// CHECK:       llvm.func @branches_0(
// CHECK:         llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
func.func @branches(%x: memref<9x6xf32>, %y: memref<9x8xf32>, %asked: i1) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<9x8xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<9x8xf32>)
  %part = memref.subview %padded[0, 0] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1]>>
  linalg.copy ins(%x : memref<9x6xf32>) outs(%part : memref<9x6xf32, strided<[8, 1]>>)
  scf.if %asked {
    linalg.copy ins(%padded : memref<9x8xf32>) outs(%y : memref<9x8xf32>)
  }
  return
}

// -----

// Verify that what is behind rows stays where that is no zero, where something else was written
// before, or where a loop is between: two kernels.
// REMARK: Function=ones {{.*}}one thread per element
// CHECK-LABEL: func.func @ones(
// CHECK-COUNT-2: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     vector<4xi32>
func.func @ones(%x: memref<9x6xf32>) {
  %one = arith.constant 1.0 : f32
  %padded = memref.alloc() : memref<9x8xf32>
  linalg.fill ins(%one : f32) outs(%padded : memref<9x8xf32>)
  %part = memref.subview %padded[0, 0] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1]>>
  linalg.copy ins(%x : memref<9x6xf32>) outs(%part : memref<9x6xf32, strided<[8, 1]>>)
  return
}

// -----

// CHECK-LABEL: func.func @written(
// CHECK-COUNT-3: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     vector<4xi32>
func.func @written(%x: memref<9x6xf32>, %z: memref<9x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<9x8xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<9x8xf32>)
  linalg.copy ins(%z : memref<9x8xf32>) outs(%padded : memref<9x8xf32>)
  %part = memref.subview %padded[0, 0] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1]>>
  linalg.copy ins(%x : memref<9x6xf32>) outs(%part : memref<9x6xf32, strided<[8, 1]>>)
  return
}

// -----

// CHECK-LABEL: func.func @branch_before(
// CHECK-COUNT-3: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     vector<4xi32>
func.func @branch_before(%x: memref<9x6xf32>, %z: memref<9x8xf32>, %asked: i1) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<9x8xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<9x8xf32>)
  scf.if %asked {
    linalg.copy ins(%z : memref<9x8xf32>) outs(%padded : memref<9x8xf32>)
  }
  %part = memref.subview %padded[0, 0] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1]>>
  linalg.copy ins(%x : memref<9x6xf32>) outs(%part : memref<9x6xf32, strided<[8, 1]>>)
  return
}

// -----

// CHECK-LABEL: func.func @loop(
// CHECK-COUNT-2: llvm.call @kronRtCudaLaunch
// CHECK-NOT:     vector<4xi32>
func.func @loop(%x: memref<9x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %padded = memref.alloc() : memref<9x8xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<9x8xf32>)
  scf.for %i = %c0 to %c3 step %c1 {
    %part = memref.subview %padded[0, 0] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1]>>
    linalg.copy ins(%x : memref<9x6xf32>) outs(%part : memref<9x6xf32, strided<[8, 1]>>)
  }
  return
}

// -----

// Verify that open sizes, other parts of an array, and rows that start anywhere in both arrays
// are left to one thread per element.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector<4xi32>
func.func @others(%x: memref<?x6xf32>, %u: memref<9x6xf32>, %n: index) {
  %open = memref.alloc(%n) : memref<?x8xf32>
  %part = memref.subview %open[0, 0] [%n, 6] [1, 1] : memref<?x8xf32> to memref<?x6xf32, strided<[8, 1]>>
  linalg.copy ins(%part : memref<?x6xf32, strided<[8, 1]>>) outs(%x : memref<?x6xf32>)
  %known = memref.alloc() : memref<9x8xf32>
  %behind = memref.subview %known[0, 2] [9, 6] [1, 1] : memref<9x8xf32> to memref<9x6xf32, strided<[8, 1], offset: 2>>
  linalg.copy ins(%behind : memref<9x6xf32, strided<[8, 1], offset: 2>>) outs(%u : memref<9x6xf32>)
  %odd = memref.alloc() : memref<9x7xf32>
  %first = memref.subview %odd[0, 0] [9, 6] [1, 1] : memref<9x7xf32> to memref<9x6xf32, strided<[7, 1]>>
  linalg.copy ins(%first : memref<9x6xf32, strided<[7, 1]>>) outs(%u : memref<9x6xf32>)
  return
}
