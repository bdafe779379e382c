// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a \
// RUN:   --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Verify that tiles of 64 rows lie on axes of known sizes, 128 x 128 = 256 tiles for each of the
// outermost positions, where the outermost stride is only known at run time: there may be one
// position alone, of which a tile along that axis would be full in one row of 64.
// CHECK-LABEL: func.func @open(
// CHECK:         %[[ROWS:.*]] = memref.dim %arg2
// CHECK:         %[[M:.*]] = arith.index_cast %[[ROWS]] : index to i64
// CHECK:         %[[TILES:.*]] = arith.muli %[[M]], %c256_i64 : i64
// CHECK:         %[[SMS:.*]] = llvm.call @kronRtCudaNumSMs
// CHECK:         %[[CTAS:.*]] = arith.minsi %[[TILES]], %[[SMS]] : i64
// CHECK:         llvm.call @kronRtCudaLaunch(%{{.*}}, %{{.*}}, %[[CTAS]],
func.func @open(%x: memref<?x128x128x128xf32, strided<[?, 16384, 128, 1]>>, %f: memref<128x128xf32>, %y: memref<?x128x128x128xf32>) {
  kron.fused ins(%x, %f : memref<?x128x128x128xf32, strided<[?, 16384, 128, 1]>>, memref<128x128xf32>) outs(%y : memref<?x128x128x128xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%a: tensor<?x128x128x128xf32>, %b: tensor<128x128xf32>, %c: tensor<?x128x128x128xf32>):
    %0 = kron.mode_product axis(3) ins(%a : tensor<?x128x128x128xf32>) factor(%b [p, q] : tensor<128x128xf32>) outs(%c : tensor<?x128x128x128xf32>) -> tensor<?x128x128x128xf32>
    kron.yield %0 : tensor<?x128x128x128xf32>
  }
  return
}

// Verify that 80 known rows, which fill two tiles to less than three quarters, leave the tiles on
// the axis of unknown size.
// CHECK-LABEL: func.func @short(
// CHECK:         %[[ROWS:.*]] = memref.dim %arg2
// CHECK:         %[[M:.*]] = arith.index_cast %[[ROWS]] : index to i64
// CHECK:         %[[MORE:.*]] = arith.addi %[[M]], %c63_i64 : i64
// CHECK:         %[[TILES:.*]] = arith.divui %[[MORE]], %c64_i64 : i64
// CHECK:         arith.muli %[[TILES]], %c80_i64 : i64
func.func @short(%x: memref<?x80x128xf32, strided<[?, 128, 1]>>, %f: memref<128x128xf32>, %y: memref<?x80x128xf32>) {
  kron.fused ins(%x, %f : memref<?x80x128xf32, strided<[?, 128, 1]>>, memref<128x128xf32>) outs(%y : memref<?x80x128xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%a: tensor<?x80x128xf32>, %b: tensor<128x128xf32>, %c: tensor<?x80x128xf32>):
    %0 = kron.mode_product axis(2) ins(%a : tensor<?x80x128xf32>) factor(%b [p, q] : tensor<128x128xf32>) outs(%c : tensor<?x80x128xf32>) -> tensor<?x80x128xf32>
    kron.yield %0 : tensor<?x80x128xf32>
  }
  return
}
