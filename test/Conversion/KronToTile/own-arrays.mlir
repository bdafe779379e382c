// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile="chip=sm_90a" --split-input-file | FileCheck %s

// Verify that no launch tests the address of an array that the program allocates, and
// that a kernel for arrays of other addresses is not made.
// CHECK-LABEL: func.func @ffma(
// CHECK-NOT:     scf.if
// CHECK:         tile.launch @kron_gpu::@ffma_0
// CHECK-NOT:     tile.launch
// CHECK:       gpu.func @ffma_0(
// CHECK-NOT:   gpu.func
func.func @ffma(%f: memref<8x8xf32>) {
  %x = memref.alloc() : memref<64x512xf32>
  %y = memref.alloc() : memref<64x512xf32>
  kron.mkm ins(%x : memref<64x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<64x512xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that the address of a result that is the caller's is tested, and no other one.
// CHECK-LABEL: func.func @result(
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK-NOT:     llvm.ptrtoint
// CHECK:         %[[BITS:.*]] = arith.andi %[[ADDRESS]], %{{.*}} : i64
// CHECK:         %[[IS:.*]] = arith.cmpi eq, %[[BITS]]
// CHECK:         scf.if %[[IS]]
// CHECK:           tile.launch @kron_gpu::@result_0
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@result_1
func.func @result(%f: memref<8x8xf32>, %y: memref<64x512xf32>) {
  %x = memref.alloc() : memref<64x512xf32>
  kron.mkm ins(%x : memref<64x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<64x512xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that a part of such an array is tested if it does not begin at 16 bytes, or
// nobody knows where: here at the second element, and at some row.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:      %{{.*}}: memref<8x8xf32>, %[[ROW:.*]]: index)
// CHECK:         llvm.ptrtoint
// CHECK:         llvm.ptrtoint
// CHECK:         scf.if
func.func @parts(%f: memref<8x8xf32>, %row: index) {
  %a = memref.alloc() : memref<32769xf32>
  %x = memref.reinterpret_cast %a to offset: [1], sizes: [64, 512], strides: [512, 1]
      : memref<32769xf32> to memref<64x512xf32, strided<[512, 1], offset: 1>>
  %b = memref.alloc() : memref<128x512xf32>
  %y = memref.subview %b[%row, 0] [64, 512] [1, 1]
      : memref<128x512xf32> to memref<64x512xf32, strided<[512, 1], offset: ?>>
  kron.mkm ins(%x : memref<64x512xf32, strided<[512, 1], offset: 1>>)
    factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<64x512xf32, strided<[512, 1], offset: ?>>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that a view of bytes, which may begin at any of them, is tested.
// CHECK-LABEL: func.func @bytes(
// CHECK:         llvm.ptrtoint
// CHECK-NOT:     llvm.ptrtoint
// CHECK:         scf.if
func.func @bytes(%f: memref<8x8xf32>, %first: index) {
  %bytes = memref.alloc() : memref<131080xi8>
  %x = memref.view %bytes[%first][] : memref<131080xi8> to memref<64x512xf32>
  %y = memref.alloc() : memref<64x512xf32>
  kron.mkm ins(%x : memref<64x512xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<64x512xf32>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// Verify that arrays without gaps that the program allocates have one kernel.
// CHECK-LABEL: func.func @packed(
// CHECK-NOT:     scf.if
// CHECK:         tile.launch @kron_gpu::@packed_0
// CHECK-NOT:     tile.launch
func.func @packed(%f: memref<6x6xf64>) {
  %x = memref.alloc() : memref<1000x6x6xf64>
  %y = memref.alloc() : memref<1000x6x6xf64>
  kron.batched ins(%x : memref<1000x6x6xf64>) factors(%f, %f : memref<6x6xf64>, memref<6x6xf64>)
    outs(%y : memref<1000x6x6xf64>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

// Verify that of small groups only the factor, which is the caller's, is tested.
// CHECK-LABEL: func.func @groups(
// CHECK:         llvm.ptrtoint
// CHECK-NOT:     llvm.ptrtoint
// CHECK:         scf.if
func.func @groups(%f: memref<64x8x8x1xf32>) {
  %x = memref.alloc() : memref<4096x512xf32>
  %y = memref.alloc() : memref<4096x512xf32>
  kron.ksmm ins(%x : memref<4096x512xf32>) weights(%f : memref<64x8x8x1xf32>)
    outs(%y : memref<4096x512xf32>) {plan = #kron.gpu_plan<kernel = small_groups>}
  return
}

// -----

// Verify that a launch takes copies of 16 bytes only if rows end where these do, whatever strides are: there may be a gap
// behind a row. Of known numbers of columns nothing is tested but strides.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[COLUMNS:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         %[[NUMBER:.*]] = arith.index_cast %[[COLUMNS]]
// CHECK:         %[[LEFT:.*]] = arith.andi %[[NUMBER]], %c1{{.*}} : i64
// CHECK:         %[[WHOLE:.*]] = arith.cmpi eq, %[[LEFT]], %c0
// CHECK:         %[[BOTH:.*]] = arith.andi %[[WHOLE]], %{{.*}} : i1
// CHECK:         scf.if %[[BOTH]] {
// CHECK:           tile.launch @kron_gpu::@columns_0
// CHECK:         } else {
// CHECK:           tile.launch @kron_gpu::@columns_1
func.func @columns(%x: memref<729x?xf64, strided<[?, 1]>>, %f: memref<9x9xf64>, %y: memref<729x?xf64, strided<[?, 1]>>) {
  kron.kmm ins(%x : memref<729x?xf64, strided<[?, 1]>>) factors(%f, %f, %f : memref<9x9xf64>, memref<9x9xf64>, memref<9x9xf64>)
    outs(%y : memref<729x?xf64, strided<[?, 1]>>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}

// -----

// CHECK-LABEL: func.func @known_columns
// CHECK-NOT:     arith.andi {{.*}} : i1
// CHECK:         scf.if
func.func @known_columns(%x: memref<729x18xf64, strided<[?, 1]>>, %f: memref<9x9xf64>, %y: memref<729x18xf64, strided<[?, 1]>>) {
  kron.kmm ins(%x : memref<729x18xf64, strided<[?, 1]>>) factors(%f, %f, %f : memref<9x9xf64>, memref<9x9xf64>, memref<9x9xf64>)
    outs(%y : memref<729x18xf64, strided<[?, 1]>>) {plan = #kron.gpu_plan<kernel = ffma>}
  return
}
