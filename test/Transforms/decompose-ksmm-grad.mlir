// RUN: kron-opt %s --kron-decompose --canonicalize --cse | FileCheck %s
// RUN: kron-opt %s --kron-decompose=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

// Verify the pattern (2, 3, 4, 5), batch first, with a dynamic batch: blocks of
// 64 rows, of 8 and of one each, where X is read as [i, n, k, t] and each block
// adds to the result, which starts as 0.
// CHECK-LABEL: func.func @dynamic_batch(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x40xf32>, %[[G:[a-z0-9]*]]: tensor<?x30xf32>, %[[D:[a-z0-9]*]]: tensor<2x3x4x5xf32>
// CHECK-DAG: %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[D]] : tensor<2x3x4x5xf32>)
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[SIZE]], %c64
// CHECK: %[[END64:.*]] = arith.muli %[[BLOCKS]], %c64
// CHECK: %[[SUM64:.*]] = scf.for %[[N:.*]] = %c0 to %[[END64]] step %c64 iter_args(%[[SUM:.*]] = %[[ZERO]])
// CHECK-DAG: %[[XN:.*]] = tensor.extract_slice %[[X]][%[[N]], 0] [64, 40] [1, 1]
// CHECK-DAG: %[[XV:.*]] = tensor.expand_shape %[[XN]] {{.*}} into tensor<64x2x4x5xf32>
// CHECK-DAG: %[[GN:.*]] = tensor.extract_slice %[[G]][%[[N]], 0] [64, 30] [1, 1]
// CHECK-DAG: %[[GV:.*]] = tensor.expand_shape %[[GN]] {{.*}} into tensor<64x2x3x5xf32>
// CHECK: %[[NEXT:.*]] = kron.fused ins(%[[XV]], %[[GV]] : {{.*}}) outs(%[[SUM]] : tensor<2x3x4x5xf32>) attributes {input_permutation = array<i64: 1, 0, 2, 3>}
// CHECK: kron.mode_product axis(1) ins(%{{.*}} : tensor<2x64x4x5xf32>) factor(%{{.*}} [p, 0, q, 3] : tensor<64x2x3x5xf32>) outs(%{{.*}} : tensor<2x3x4x5xf32>) beta(1.000000e+00 : f32)
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[END8:.*]] = arith.muli
// CHECK: %[[SUM8:.*]] = scf.for %{{.*}} = %[[END64]] to %[[END8]] step %c8 iter_args(%{{.*}} = %[[SUM64]])
// CHECK: kron.mode_product axis(1) ins(%{{.*}} : tensor<2x8x4x5xf32>)
// CHECK: %[[SUM1:.*]] = scf.for %{{.*}} = %[[END8]] to %[[SIZE]] step %c1 iter_args(%{{.*}} = %[[SUM8]])
// CHECK: kron.mode_product axis(1) ins(%{{.*}} : tensor<2x1x4x5xf32>)
// CHECK: return %[[SUM1]]
// On a GPU without matrix instructions (precision is ieee) 64 pieces are summed up
// apart, then in order, then come the rows that are left.
// CUDA-LABEL: func.func @dynamic_batch(
// CUDA: %[[REST:.*]] = arith.remui %[[SIZE:.*]], %c64
// CUDA: %[[END:.*]] = arith.subi %[[SIZE]], %[[REST]]
// CUDA: %[[PIECES:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]
// CUDA-SAME: ins(%{{.*}}, %{{.*}} : tensor<64x?x2x4x5xf32>, tensor<64x?x2x3x5xf32>) outs(%{{.*}} : tensor<64x2x3x4x5xf32>)
// CUDA: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[PIECES]] : tensor<64x2x3x4x5xf32>) outs(%{{.*}} : tensor<2x3x4x5xf32>)
// CUDA: tensor.extract_slice %{{.*}}[%[[END]], 0] [%[[REST]], 40] [1, 1]
// CUDA: %[[ALL:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x2x4x5xf32>, tensor<?x2x3x5xf32>) outs(%[[SUM]] : tensor<2x3x4x5xf32>)
// CUDA-NOT: kron
// CUDA: return %[[ALL]]
func.func @dynamic_batch(%x: tensor<?x40xf32>, %g: tensor<?x30xf32>,
                         %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %y = kron.ksmm_grad ins(%x : tensor<?x40xf32>) grad(%g : tensor<?x30xf32>)
         outs(%d : tensor<2x3x4x5xf32>) {precision = #kron.precision<ieee>} -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// Verify a known batch of 129 rows, batch last and accumulating: two loops, and
// the memory that holds Z already.
// CHECK-LABEL: func.func @batch_last(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<40x129xi64>, %{{[a-z0-9]*}}: memref<30x129xi64>, %[[D:[a-z0-9]*]]: memref<2x3x4x5xi64>
// CHECK-NOT: linalg
// CHECK: scf.for %[[N:.*]] = %c0 to %c128 step %c64
// CHECK: memref.subview %{{.*}}[0, %[[N]]] [40, 64] [1, 1]
// CHECK: kron.fused {{.*}} outs(%[[D]] : memref<2x3x4x5xi64>) attributes {input_permutation = array<i64: 0, 3, 1, 2>}
// CHECK: factor(%{{.*}} [0, q, 3, p] : tensor<2x3x5x64xi64>) outs(%{{.*}} : tensor<2x3x4x5xi64>) alpha(2 : i64) beta(1 : i64) ->
// CHECK-NOT: scf.for
// CHECK: factor(%{{.*}} [0, q, 3, p] : tensor<2x3x5x1xi64>)
// CHECK-NOT: kron.fused
// CHECK: return
// On a GPU the batch is put first, pieces have at least 16 rows, and alpha and Z
// come last.
// CUDA-LABEL: func.func @batch_last(
// CUDA: linalg.transpose ins(%{{.*}} : memref<40x129xi64>) outs(%[[X:.*]] : memref<129x40xi64>) permutation = [1, 0]
// CUDA: linalg.transpose ins(%{{.*}} : memref<30x129xi64>) outs(%[[G:.*]] : memref<129x30xi64>) permutation = [1, 0]
// CUDA: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<8x16x2x4x5xi64, {{.*}}>, memref<8x16x2x3x5xi64, {{.*}}>) outs(%{{.*}} : memref<8x2x3x4x5xi64>)
// CUDA: memref.subview %[[X]][128, 0] [1, 40] [1, 1]
// CUDA: memref.subview %[[G]][128, 0] [1, 30] [1, 1]
// CUDA: linalg.generic {{.*}} ins(%{{.*}} : memref<2x3x4x5xi64>) outs(%{{.*}} : memref<2x3x4x5xi64>)
// CUDA: arith.muli
// CUDA: arith.addi
func.func @batch_last(%x: memref<40x129xi64>, %g: memref<30x129xi64>,
                      %d: memref<2x3x4x5xi64>) {
  kron.ksmm_grad ins(%x : memref<40x129xi64>) grad(%g : memref<30x129xi64>)
    outs(%d : memref<2x3x4x5xi64>) alpha(2 : i64) beta(1 : i64)
    {layout = #kron.layout<batch_last>}
  return
}

// Verify that d = 1 leaves no axis of size 1 innermost, and that conjugation goes
// to the operands.
// CHECK-LABEL: func.func @no_inner_axis(
// CHECK: memref.collapse_shape {{.*}} into memref<6x8x4xcomplex<f32>>
// CHECK: kron.mode_product axis(1) ins(%{{.*}} : tensor<6x64x4xcomplex<f32>>) factor(%{{.*}} [p, 0, q] : tensor<64x6x8xcomplex<f32>>) {{.*}} {conj_factor, conj_input}
func.func @no_inner_axis(%x: memref<64x24xcomplex<f32>>, %g: memref<64x48xcomplex<f32>>,
                         %d: memref<6x8x4x1xcomplex<f32>>) {
  kron.ksmm_grad ins(%x : memref<64x24xcomplex<f32>>) grad(%g : memref<64x48xcomplex<f32>>)
    outs(%d : memref<6x8x4x1xcomplex<f32>>) {conj_input, conj_grad}
  return
}

// Verify that bf16 is summed in f32 and rounded once, after Z is added.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %{{.*}}: memref<64x4xbf16>, %{{.*}}: memref<64x3xbf16>, %[[D:.*]]: memref<1x3x4x1xbf16>, %[[BETA:.*]]: f32
// CHECK: %[[SUM:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<1x3x4x1xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUM]] : memref<1x3x4x1xf32>)
// CHECK: kron.mode_product axis(1) ins(%{{.*}} : tensor<1x64x4xbf16>) {{.*}} outs(%{{.*}} : tensor<1x3x4xf32>) beta(1.000000e+00 : f32)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : memref<1x3x4x1xf32>) outs(%[[D]] : memref<1x3x4x1xbf16>)
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
// CHECK: memref.dealloc %[[SUM]]
func.func @narrow(%x: memref<64x4xbf16>, %g: memref<64x3xbf16>,
                  %d: memref<1x3x4x1xbf16>, %beta: f32) {
  kron.ksmm_grad ins(%x : memref<64x4xbf16>) grad(%g : memref<64x3xbf16>)
    outs(%d : memref<1x3x4x1xbf16>) beta(%beta : f32)
  return
}

// Verify that a constant alpha of 0 reads neither X nor the gradient.
// CHECK-LABEL: func.func @zero_alpha(
// CHECK-SAME: %{{.*}}: memref<64x4xf32>, %{{.*}}: memref<64x3xf32>, %[[D:.*]]: memref<1x3x4x1xf32>, %[[Z:.*]]: memref<1x3x4x1xf32>
// CHECK: linalg.generic {{.*}} ins(%[[Z]] : memref<1x3x4x1xf32>) outs(%[[D]] : memref<1x3x4x1xf32>)
// CHECK-NOT: kron
func.func @zero_alpha(%x: memref<64x4xf32>, %g: memref<64x3xf32>,
                      %d: memref<1x3x4x1xf32>, %z: memref<1x3x4x1xf32>) {
  kron.ksmm_grad ins(%x : memref<64x4xf32>) grad(%g : memref<64x3xf32>)
    outs(%d : memref<1x3x4x1xf32>) alpha(0.0 : f32) beta(2.0 : f32) addend(%z : memref<1x3x4x1xf32>)
  return
}

// Verify that what has kernels of its own on a GPU is left to them.
// CHECK-LABEL: func.func @own_kernels(
// CUDA-LABEL: func.func @own_kernels(
// CUDA-COUNT-4: kron.ksmm_grad
// CUDA-NOT: linalg
func.func @own_kernels(%x: memref<?x40xf32>, %g: memref<?x30xf32>, %d: memref<2x3x4x5xf32>,
                       %x16: memref<?x40xf16>, %g16: memref<?x30xf16>, %d16: memref<2x3x4x5xf16>,
                       %xb: memref<?x40xbf16>, %gb: memref<?x30xbf16>, %db: memref<2x3x4x5xbf16>,
                       %x64: memref<?x40xf64>, %g64: memref<?x30xf64>, %d64: memref<2x3x4x5xf64>) {
  kron.ksmm_grad ins(%x : memref<?x40xf32>) grad(%g : memref<?x30xf32>) outs(%d : memref<2x3x4x5xf32>)
  kron.ksmm_grad ins(%x16 : memref<?x40xf16>) grad(%g16 : memref<?x30xf16>) outs(%d16 : memref<2x3x4x5xf16>)
  kron.ksmm_grad ins(%xb : memref<?x40xbf16>) grad(%gb : memref<?x30xbf16>) outs(%db : memref<2x3x4x5xbf16>)
  kron.ksmm_grad ins(%x64 : memref<?x40xf64>) grad(%g64 : memref<?x30xf64>) outs(%d64 : memref<2x3x4x5xf64>)
  return
}
