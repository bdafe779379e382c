// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --remarks-filter='kron-plan' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Verify that a thread stores neighbouring columns together, where rows start anywhere.
// CHECK-LABEL: func.func @columns(
// CHECK:         <kernel = simt, {{.*}} extents = [1, {{[0-9]+, [0-9]+}}], fibres = [{{2|4}}], {{.*}} vector_store = 1}]>
// REMARK: kernel simt, bound by {{memory|shared memory}}, estimated {{2..}} us, floor 140 us
func.func @columns(%x: memref<3x8x117135xf32>, %f: memref<388x8xf32>, %y: memref<3x388x117135xf32>) {
  kron.fused ins(%x, %f : memref<3x8x117135xf32>, memref<388x8xf32>) outs(%y : memref<3x388x117135xf32>) {
  ^bb0(%tx: tensor<3x8x117135xf32>, %tf: tensor<388x8xf32>, %ty: tensor<3x388x117135xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<3x8x117135xf32>) factor(%tf [q, p] : tensor<388x8xf32>) outs(%ty : tensor<3x388x117135xf32>) -> tensor<3x388x117135xf32>
    kron.yield %0 : tensor<3x388x117135xf32>
  }
  return
}

// Verify that rows of 68 are in a tile as a whole.
// CHECK-LABEL: func.func @whole(
// CHECK:         <kernel = simt, {{.*}} extents = [1, {{[0-9]+, [0-9]+}}, 68],
func.func @whole(%x: memref<1729x19x5x68xf32>, %f: memref<38x5xf32>, %y: memref<1729x19x38x68xf32>) {
  kron.fused ins(%x, %f : memref<1729x19x5x68xf32>, memref<38x5xf32>) outs(%y : memref<1729x19x38x68xf32>) attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<1729x19x5x68xf32>, %tf: tensor<38x5xf32>, %ty: tensor<1729x19x38x68xf32>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<1729x19x5x68xf32>) factor(%tf [q, p] : tensor<38x5xf32>) outs(%ty : tensor<1729x19x38x68xf32>) -> tensor<1729x19x38x68xf32>
    kron.yield %0 : tensor<1729x19x38x68xf32>
  }
  return
}

// Verify that a tile grows along the data where these are transposed and larger than
// the results.
// CHECK-LABEL: func.func @transposed(
// CHECK:         <kernel = simt, {{.*}} extents = [300, 11, 1],
func.func @transposed(%x: memref<4096x300x11xf64>, %f: memref<2x300xf64>, %y: memref<2x11x4096xf64>) {
  kron.fused ins(%x, %f : memref<4096x300x11xf64>, memref<2x300xf64>) outs(%y : memref<2x11x4096xf64>) attributes {input_permutation = array<i64: 1, 2, 0>, plan = #kron.gpu_plan<kernel = simt, tile = 11>} {
  ^bb0(%tx: tensor<300x11x4096xf64>, %tf: tensor<2x300xf64>, %ty: tensor<2x11x4096xf64>):
    %0 = kron.mode_product axis(0) ins(%tx : tensor<300x11x4096xf64>) factor(%tf [q, p] : tensor<2x300xf64>) outs(%ty : tensor<2x11x4096xf64>) -> tensor<2x11x4096xf64>
    kron.yield %0 : tensor<2x11x4096xf64>
  }
  return
}

// Verify that stores of 16 bits are counted in their own bytes: more of them are one store.
// CHECK-LABEL: func.func @halves(
// CHECK:         <kernel = simt, {{.*}} fibres = [{{4|8}}], {{.*}} vector_store = 1}]>
func.func @halves(%x: memref<1224x5x1538xf16>, %f: memref<142x5xf16>, %y: memref<1224x142x1538xf16>) {
  kron.fused ins(%x, %f : memref<1224x5x1538xf16>, memref<142x5xf16>) outs(%y : memref<1224x142x1538xf16>) attributes {plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<1224x5x1538xf16>, %tf: tensor<142x5xf16>, %ty: tensor<1224x142x1538xf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<1224x5x1538xf16>) factor(%tf [q, p] : tensor<142x5xf16>) outs(%ty : tensor<1224x142x1538xf16>) -> tensor<1224x142x1538xf16>
    kron.yield %0 : tensor<1224x142x1538xf16>
  }
  return
}

// Verify that kinds are compared with the time of the plan: data wait for each other
// where there is little to multiply.
// CHECK-LABEL: func.func @narrow(
// CHECK:         <kernel = mma,
// REMARK: kernel mma, {{.*}}simt: {{[345].}} us, bound by shared memory
func.func @narrow(%x: memref<114x285x7x96xbf16>, %f: memref<7x7xbf16>, %y: memref<114x285x7x96xbf16>) {
  kron.fused ins(%x, %f : memref<114x285x7x96xbf16>, memref<7x7xbf16>) outs(%y : memref<114x285x7x96xbf16>) {
  ^bb0(%tx: tensor<114x285x7x96xbf16>, %tf: tensor<7x7xbf16>, %ty: tensor<114x285x7x96xbf16>):
    %0 = kron.mode_product axis(2) ins(%tx : tensor<114x285x7x96xbf16>) factor(%tf [q, p] : tensor<7x7xbf16>) outs(%ty : tensor<114x285x7x96xbf16>) -> tensor<114x285x7x96xbf16>
    kron.yield %0 : tensor<114x285x7x96xbf16>
  }
  return
}

// Verify that columns of a batch that lie on the innermost axis are stored together, too,
// where the factor is another one for each position of other axes.
// CHECK-LABEL: func.func @batch_last(
// CHECK:         <kernel = simt, {{.*}} fibres = [{{2|4}}], {{.*}} vector_store = 1}]>
func.func @batch_last(%x: memref<17x9x123x343xf32>, %w: memref<17x409x9x123xf32>, %y: memref<17x409x123x343xf32>) {
  kron.fused ins(%x, %w : memref<17x9x123x343xf32>, memref<17x409x9x123xf32>) outs(%y : memref<17x409x123x343xf32>) {
  ^bb0(%tx: tensor<17x9x123x343xf32>, %tw: tensor<17x409x9x123xf32>, %ty: tensor<17x409x123x343xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<17x9x123x343xf32>) factor(%tw [0, q, p, 2] : tensor<17x409x9x123xf32>) outs(%ty : tensor<17x409x123x343xf32>) -> tensor<17x409x123x343xf32>
    kron.yield %0 : tensor<17x409x123x343xf32>
  }
  return
}

// Verify that lanes share out a long K along which the data lie: their loads are
// neighbours, and go to registers at once.
// CHECK-LABEL: func.func @shared_k(
// CHECK:         <kernel = simt, {{.*}} direct_load = 1, k_lanes = {{4|8|16}}}]>
func.func @shared_k(%x: memref<18764x123x95xbf16>, %f: memref<2x95xbf16>, %y: memref<123x2x18764xbf16>) {
  kron.fused ins(%x, %f : memref<18764x123x95xbf16>, memref<2x95xbf16>) outs(%y : memref<123x2x18764xbf16>) attributes {input_permutation = array<i64: 1, 2, 0>, plan = #kron.gpu_plan<kernel = simt>} {
  ^bb0(%tx: tensor<123x95x18764xbf16>, %tf: tensor<2x95xbf16>, %ty: tensor<123x2x18764xbf16>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<123x95x18764xbf16>) factor(%tf [q, p] : tensor<2x95xbf16>) outs(%ty : tensor<123x2x18764xbf16>) -> tensor<123x2x18764xbf16>
    kron.yield %0 : tensor<123x2x18764xbf16>
  }
  return
}

// Verify that fibres of a thread which are no whole sectors apart are known to begin within
// them: 86 of 512, and not 128.
// CHECK-LABEL: func.func @within_sectors(
// REMARK: kernel simt, bound by memory, estimated {{[67]..}} us, floor 286 us
func.func @within_sectors(%x: memref<512x9x9936xf32>, %f: memref<48x9xf32>, %y: memref<512x48x9936xf32>) {
  kron.fused ins(%x, %f : memref<512x9x9936xf32>, memref<48x9xf32>) outs(%y : memref<512x48x9936xf32>) attributes {plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{factors = 1, extents = [16, 9, 32], fibres = [6], results = [6], ctas_per_sm = 4, direct_store = 1}]>} {
  ^bb0(%tx: tensor<512x9x9936xf32>, %tf: tensor<48x9xf32>, %ty: tensor<512x48x9936xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<512x9x9936xf32>) factor(%tf [q, p] : tensor<48x9xf32>) outs(%ty : tensor<512x48x9936xf32>) -> tensor<512x48x9936xf32>
    kron.yield %0 : tensor<512x48x9936xf32>
  }
  return
}

// CHECK-LABEL: func.func @from_sectors(
// REMARK: kernel simt, bound by memory, estimated {{3..}} us, floor 286 us
func.func @from_sectors(%x: memref<512x9x9936xf32>, %f: memref<48x9xf32>, %y: memref<512x48x9936xf32>) {
  kron.fused ins(%x, %f : memref<512x9x9936xf32>, memref<48x9xf32>) outs(%y : memref<512x48x9936xf32>) attributes {plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{factors = 1, extents = [16, 9, 32], fibres = [4], results = [6], ctas_per_sm = 4, direct_store = 1}]>} {
  ^bb0(%tx: tensor<512x9x9936xf32>, %tf: tensor<48x9xf32>, %ty: tensor<512x48x9936xf32>):
    %0 = kron.mode_product axis(1) ins(%tx : tensor<512x9x9936xf32>) factor(%tf [q, p] : tensor<48x9xf32>) outs(%ty : tensor<512x48x9936xf32>) -> tensor<512x48x9936xf32>
    kron.yield %0 : tensor<512x48x9936xf32>
  }
  return
}
