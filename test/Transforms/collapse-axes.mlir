// RUN: kron-opt %s --kron-collapse-axes --split-input-file | FileCheck %s

// Rows of many short axes, inside and outside of the contracted one.
// CHECK-LABEL: func.func @both_sides(
// CHECK-SAME: %[[X:.*]]: memref<2x3x227x12x7xf32>, %[[F:.*]]: memref<227x131xf32>, %[[Y:.*]]: memref<2x3x131x12x7xf32>)
// CHECK: %[[XC:.*]] = memref.collapse_shape %[[X]] {{\[}}[0, 1], [2], [3, 4]] : memref<2x3x227x12x7xf32> into memref<6x227x84xf32>
// CHECK: %[[YC:.*]] = memref.collapse_shape %[[Y]] {{\[}}[0, 1], [2], [3, 4]] : memref<2x3x131x12x7xf32> into memref<6x131x84xf32>
// CHECK: kron.fused ins(%[[XC]], %[[F]] : memref<6x227x84xf32>, memref<227x131xf32>) outs(%[[YC]] : memref<6x131x84xf32>) {
// CHECK: kron.mode_product axis(1) ins({{.*}} : tensor<6x227x84xf32>) factor({{.*}} [p, q] : tensor<227x131xf32>) outs({{.*}} : tensor<6x131x84xf32>)
func.func @both_sides(%x: memref<2x3x227x12x7xf32>, %f: memref<227x131xf32>,
                      %y: memref<2x3x131x12x7xf32>) {
  kron.fused ins(%x, %f : memref<2x3x227x12x7xf32>, memref<227x131xf32>)
             outs(%y : memref<2x3x131x12x7xf32>) {
  ^bb0(%tx: tensor<2x3x227x12x7xf32>, %tf: tensor<227x131xf32>, %out: tensor<2x3x131x12x7xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<2x3x227x12x7xf32>)
           factor(%tf [p, q] : tensor<227x131xf32>)
           outs(%out : tensor<2x3x131x12x7xf32>) -> tensor<2x3x131x12x7xf32>
    kron.yield %1 : tensor<2x3x131x12x7xf32>
  }
  return
}

// -----

// The addend is an array of its own; scale, beta and plan stay.
// CHECK-LABEL: func.func @addend(
// CHECK: %[[ZC:.*]] = memref.collapse_shape %arg2 {{\[}}[0, 1], [2]] : memref<?x3x130xf64> into memref<?x130xf64>
// CHECK: kron.fused ins({{.*}}, %arg1, %[[ZC]] : memref<?x130xf64>, memref<130x130xf64>, memref<?x130xf64>) outs({{.*}} : memref<?x130xf64>) attributes {plan = #kron.gpu_plan<kernel = sparse>} {
// CHECK: ^bb0(%[[TX:.*]]: tensor<?x130xf64>, %[[TF:.*]]: tensor<130x130xf64>, %[[TZ:.*]]: tensor<?x130xf64>, %[[OUT:.*]]: tensor<?x130xf64>):
// CHECK: kron.mode_product axis(1) ins(%[[TX]] : tensor<?x130xf64>) factor(%[[TF]] [q, p] : tensor<130x130xf64>) outs(%[[OUT]] : tensor<?x130xf64>) alpha(2.000000e+00 : f64) beta(3.000000e+00 : f64) addend(%[[TZ]] : tensor<?x130xf64>)
func.func @addend(%x: memref<?x3x130xf64>, %f: memref<130x130xf64>,
                  %z: memref<?x3x130xf64>, %y: memref<?x3x130xf64>) {
  kron.fused ins(%x, %f, %z : memref<?x3x130xf64>, memref<130x130xf64>, memref<?x3x130xf64>)
             outs(%y : memref<?x3x130xf64>)
             attributes {plan = #kron.gpu_plan<kernel = sparse>} {
  ^bb0(%tx: tensor<?x3x130xf64>, %tf: tensor<130x130xf64>, %tz: tensor<?x3x130xf64>, %out: tensor<?x3x130xf64>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x3x130xf64>)
           factor(%tf [q, p] : tensor<130x130xf64>)
           outs(%out : tensor<?x3x130xf64>) alpha(2.0 : f64) beta(3.0 : f64)
           addend(%tz : tensor<?x3x130xf64>) -> tensor<?x3x130xf64>
    kron.yield %1 : tensor<?x3x130xf64>
  }
  return
}

// -----

// Of a transposed input, axes that follow each other in both arrays: 0 and 1 do
// not, 2 and 3 do.
// CHECK-LABEL: func.func @transposed(
// CHECK: memref.collapse_shape %arg0 {{\[}}[0], [1], [2, 3], [4]] : memref<5x150x4x6x9xf32> into memref<5x150x24x9xf32>
// CHECK: memref.collapse_shape %arg2 {{\[}}[0], [1], [2, 3], [4]] : memref<9x5x4x6x150xf32> into memref<9x5x24x150xf32>
// CHECK: attributes {input_permutation = array<i64: 3, 0, 2, 1>} {
// CHECK: kron.mode_product axis(3)
func.func @transposed(%x: memref<5x150x4x6x9xf32>, %f: memref<150x150xf32>,
                      %y: memref<9x5x4x6x150xf32>) {
  kron.fused ins(%x, %f : memref<5x150x4x6x9xf32>, memref<150x150xf32>)
             outs(%y : memref<9x5x4x6x150xf32>)
             attributes {input_permutation = array<i64: 4, 0, 2, 3, 1>} {
  ^bb0(%tx: tensor<9x5x4x6x150xf32>, %tf: tensor<150x150xf32>, %out: tensor<9x5x4x6x150xf32>):
    %1 = kron.mode_product axis(4) ins(%tx : tensor<9x5x4x6x150xf32>)
           factor(%tf [p, q] : tensor<150x150xf32>)
           outs(%out : tensor<9x5x4x6x150xf32>) -> tensor<9x5x4x6x150xf32>
    kron.yield %1 : tensor<9x5x4x6x150xf32>
  }
  return
}

// -----

// The factor varies over axis 1, which stays, with another number.
// CHECK-LABEL: func.func @varying(
// CHECK: memref.collapse_shape %arg0 {{\[}}[0, 1], [2], [3]] : memref<7x8x5x6xf32> into memref<56x5x6xf32>
// CHECK: kron.mode_product axis(2) {{.*}} factor({{.*}} [1, p, q] : tensor<5x6x6xf32>)
func.func @varying(%x: memref<7x8x5x6xf32>, %f: memref<5x6x6xf32>,
                   %y: memref<7x8x5x6xf32>) {
  kron.fused ins(%x, %f : memref<7x8x5x6xf32>, memref<5x6x6xf32>)
             outs(%y : memref<7x8x5x6xf32>) {
  ^bb0(%tx: tensor<7x8x5x6xf32>, %tf: tensor<5x6x6xf32>, %out: tensor<7x8x5x6xf32>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<7x8x5x6xf32>)
           factor(%tf [2, p, q] : tensor<5x6x6xf32>)
           outs(%out : tensor<7x8x5x6xf32>) -> tensor<7x8x5x6xf32>
    kron.yield %1 : tensor<7x8x5x6xf32>
  }
  return
}

// -----

// Axes between which the destination has a gap stay.
// CHECK-LABEL: func.func @gap(
// CHECK-NOT: collapse_shape
func.func @gap(%x: memref<7x8x150xf32>, %f: memref<150x150xf32>,
               %y: memref<7x8x150xf32, strided<[2000, 150, 1]>>) {
  kron.fused ins(%x, %f : memref<7x8x150xf32>, memref<150x150xf32>)
             outs(%y : memref<7x8x150xf32, strided<[2000, 150, 1]>>) {
  ^bb0(%tx: tensor<7x8x150xf32>, %tf: tensor<150x150xf32>, %out: tensor<7x8x150xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x150xf32>)
           factor(%tf [p, q] : tensor<150x150xf32>)
           outs(%out : tensor<7x8x150xf32>) -> tensor<7x8x150xf32>
    kron.yield %1 : tensor<7x8x150xf32>
  }
  return
}

// -----

// So do axes of which the input is stretched along one.
// CHECK-LABEL: func.func @stretched(
// CHECK-NOT: collapse_shape
func.func @stretched(%x: memref<1x3x4x5xf64>, %f: memref<4x4x5xf64>, %y: memref<2x3x4x4xf64>) {
  kron.fused ins(%x, %f : memref<1x3x4x5xf64>, memref<4x4x5xf64>)
             outs(%y : memref<2x3x4x4xf64>) {
  ^bb0(%tx: tensor<1x3x4x5xf64>, %tf: tensor<4x4x5xf64>, %out: tensor<2x3x4x4xf64>):
    %1 = kron.mode_product axis(3) ins(%tx : tensor<1x3x4x5xf64>)
           factor(%tf [q, 2, p] : tensor<4x4x5xf64>)
           outs(%out : tensor<2x3x4x4xf64>) -> tensor<2x3x4x4xf64>
    kron.yield %1 : tensor<2x3x4x4xf64>
  }
  return
}

// -----

// Of several dense factors, axes that none of them contracts: intermediate results have them as one, too. A plan
// that names a kernel alone stays.
// CHECK-LABEL: func.func @dense(
// CHECK: memref.collapse_shape %arg0 {{\[}}[0, 1], [2], [3, 4], [5], [6, 7]] : memref<?x3x9x2x5x8x4x7xf32> into memref<?x9x10x8x28xf32>
// CHECK: kron.fused {{.*}} outs({{.*}} : memref<?x9x10x6x28xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma>} {
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %c0 : tensor<?x9x10x6x28xf32>
// CHECK: %[[BETWEEN:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x9x10x6x28xf32>
// CHECK: kron.mode_product axis(3) {{.*}} outs(%[[BETWEEN]] : tensor<?x9x10x6x28xf32>)
// CHECK: kron.mode_product axis(1) {{.*}} alpha(2.000000e+00 : f32)
func.func @dense(%x: memref<?x3x9x2x5x8x4x7xf32>, %f: memref<9x9xf32>, %g: memref<6x8xf32>,
                 %y: memref<?x3x9x2x5x6x4x7xf32>) {
  kron.fused ins(%x, %g, %f : memref<?x3x9x2x5x8x4x7xf32>, memref<6x8xf32>, memref<9x9xf32>)
             outs(%y : memref<?x3x9x2x5x6x4x7xf32>)
             attributes {plan = #kron.gpu_plan<kernel = ffma>} {
  ^bb0(%tx: tensor<?x3x9x2x5x8x4x7xf32>, %tg: tensor<6x8xf32>, %tf: tensor<9x9xf32>, %out: tensor<?x3x9x2x5x6x4x7xf32>):
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %out, %c0 : tensor<?x3x9x2x5x6x4x7xf32>
    %e = tensor.empty(%rows) : tensor<?x3x9x2x5x6x4x7xf32>
    %1 = kron.mode_product axis(5) ins(%tx : tensor<?x3x9x2x5x8x4x7xf32>)
           factor(%tg [q, p] : tensor<6x8xf32>)
           outs(%e : tensor<?x3x9x2x5x6x4x7xf32>) -> tensor<?x3x9x2x5x6x4x7xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<?x3x9x2x5x6x4x7xf32>)
           factor(%tf [p, q] : tensor<9x9xf32>)
           outs(%out : tensor<?x3x9x2x5x6x4x7xf32>) alpha(2.0 : f32) -> tensor<?x3x9x2x5x6x4x7xf32>
    kron.yield %2 : tensor<?x3x9x2x5x6x4x7xf32>
  }
  return
}

// -----

// Where the size of a contracted axis is open in between, they stay.
// CHECK-LABEL: func.func @open_between(
// CHECK-NOT: collapse_shape
func.func @open_between(%x: memref<2x3x9x8xf32>, %f: memref<9x9xf32>, %g: memref<8x8xf32>,
                        %y: memref<2x3x9x8xf32>) {
  kron.fused ins(%x, %g, %f : memref<2x3x9x8xf32>, memref<8x8xf32>, memref<9x9xf32>)
             outs(%y : memref<2x3x9x8xf32>) {
  ^bb0(%tx: tensor<2x3x9x8xf32>, %tg: tensor<8x8xf32>, %tf: tensor<9x9xf32>, %out: tensor<2x3x9x8xf32>):
    %c8 = arith.constant 8 : index
    %e = tensor.empty(%c8) : tensor<2x3x9x?xf32>
    %1 = kron.mode_product axis(3) ins(%tx : tensor<2x3x9x8xf32>)
           factor(%tg [p, q] : tensor<8x8xf32>)
           outs(%e : tensor<2x3x9x?xf32>) -> tensor<2x3x9x?xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<2x3x9x?xf32>)
           factor(%tf [p, q] : tensor<9x9xf32>)
           outs(%out : tensor<2x3x9x8xf32>) -> tensor<2x3x9x8xf32>
    kron.yield %2 : tensor<2x3x9x8xf32>
  }
  return
}

// -----

// A tile has a size for each axis, and so has a plan: of these, or of joined ones.
// CHECK-LABEL: func.func @planned(
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @planned_launches(
// CHECK-NOT: collapse_shape
// CHECK-LABEL: func.func @planned_joined(
// CHECK: memref.collapse_shape %arg0 {{\[}}[0, 1], [2]] : memref<7x8x12xf32> into memref<56x12xf32>
// CHECK: kron.fused {{.*}} outs({{.*}} : memref<56x12xf32>) attributes {plan = #kron.gpu_plan<kernel = ffma, extents = [8, 12]>} {
// CHECK-LABEL: func.func @planned_tile(
// CHECK: kron.fused {{.*}} outs({{.*}} : memref<56x12xf32>) attributes {plan = #kron.gpu_plan<kernel = mma, tile = 8>} {
func.func @planned(%x: memref<7x8x12xf32>, %f: memref<12x12xf32>, %y: memref<7x8x12xf32>) {
  kron.fused ins(%x, %f : memref<7x8x12xf32>, memref<12x12xf32>)
             outs(%y : memref<7x8x12xf32>)
             attributes {plan = #kron.gpu_plan<kernel = ffma, extents = [1, 8, 12]>} {
  ^bb0(%tx: tensor<7x8x12xf32>, %tf: tensor<12x12xf32>, %out: tensor<7x8x12xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x12xf32>)
           factor(%tf [p, q] : tensor<12x12xf32>)
           outs(%out : tensor<7x8x12xf32>) -> tensor<7x8x12xf32>
    kron.yield %1 : tensor<7x8x12xf32>
  }
  return
}

func.func @planned_launches(%x: memref<7x8x12xf32>, %f: memref<12x12xf32>, %y: memref<7x8x12xf32>) {
  kron.fused ins(%x, %f : memref<7x8x12xf32>, memref<12x12xf32>)
             outs(%y : memref<7x8x12xf32>)
             attributes {plan = #kron.gpu_plan<kernel = simt, launches = [{extents = [1, 8, 12]}]>} {
  ^bb0(%tx: tensor<7x8x12xf32>, %tf: tensor<12x12xf32>, %out: tensor<7x8x12xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x12xf32>)
           factor(%tf [p, q] : tensor<12x12xf32>)
           outs(%out : tensor<7x8x12xf32>) -> tensor<7x8x12xf32>
    kron.yield %1 : tensor<7x8x12xf32>
  }
  return
}

func.func @planned_joined(%x: memref<7x8x12xf32>, %f: memref<12x12xf32>, %y: memref<7x8x12xf32>) {
  kron.fused ins(%x, %f : memref<7x8x12xf32>, memref<12x12xf32>)
             outs(%y : memref<7x8x12xf32>)
             attributes {plan = #kron.gpu_plan<kernel = ffma, extents = [8, 12]>} {
  ^bb0(%tx: tensor<7x8x12xf32>, %tf: tensor<12x12xf32>, %out: tensor<7x8x12xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x12xf32>)
           factor(%tf [p, q] : tensor<12x12xf32>)
           outs(%out : tensor<7x8x12xf32>) -> tensor<7x8x12xf32>
    kron.yield %1 : tensor<7x8x12xf32>
  }
  return
}

func.func @planned_tile(%x: memref<7x8x12xf32>, %f: memref<12x12xf32>, %y: memref<7x8x12xf32>) {
  kron.fused ins(%x, %f : memref<7x8x12xf32>, memref<12x12xf32>)
             outs(%y : memref<7x8x12xf32>)
             attributes {plan = #kron.gpu_plan<kernel = mma, tile = 8>} {
  ^bb0(%tx: tensor<7x8x12xf32>, %tf: tensor<12x12xf32>, %out: tensor<7x8x12xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x12xf32>)
           factor(%tf [p, q] : tensor<12x12xf32>)
           outs(%out : tensor<7x8x12xf32>) -> tensor<7x8x12xf32>
    kron.yield %1 : tensor<7x8x12xf32>
  }
  return
}

// -----

// Rows that are quantized stay rows.
// CHECK-LABEL: func.func @quantized(
// CHECK-NOT: collapse_shape
func.func @quantized(%x: memref<7x8x150xf16>, %f: memref<150x150xf16>, %y: memref<7x8x150xf16>,
                     %q: memref<7x8x150xi8>, %s: memref<7x8xf32>) {
  kron.fused ins(%x, %f : memref<7x8x150xf16>, memref<150x150xf16>)
             outs(%y : memref<7x8x150xf16>) {
  ^bb0(%tx: tensor<7x8x150xf16>, %tf: tensor<150x150xf16>, %out: tensor<7x8x150xf16>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<7x8x150xf16>)
           factor(%tf [p, q] : tensor<150x150xf16>)
           outs(%out : tensor<7x8x150xf16>) -> tensor<7x8x150xf16>
    kron.yield %1 : tensor<7x8x150xf16>
  }
  kron.quantize ins(%y : memref<7x8x150xf16>) outs(%q, %s : memref<7x8x150xi8>, memref<7x8xf32>)
  return
}
