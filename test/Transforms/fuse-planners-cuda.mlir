// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" --split-input-file \
// RUN:   --remarks-filter='kron-fuse' -o /dev/null 2>&1 | FileCheck %s

// Verify that cuts are compared by times of planners, which know that registers do not hold the factor of axis 2 in a
// tile of all three.
// CHECK: Regions=3, Remark="3 fused regions: axes 3 ({{.*}}); axes 2 ({{.*}}); axes 1 ({{.*}})"
func.func @apart(%x: memref<365x3x165x7xf64>, %f: memref<3x3xf64>, %g: memref<165x165xf64>, %h: memref<7x7xf64>,
                 %y: memref<365x3x165x7xf64>) {
  kron.batched ins(%x : memref<365x3x165x7xf64>) factors(%f, %g, %h : memref<3x3xf64>, memref<165x165xf64>, memref<7x7xf64>)
    outs(%y : memref<365x3x165x7xf64>)
  return
}

// -----

// Verify that the general kernel takes four factors at once, which no other one does, as fast as it is.
// CHECK: Regions=1, Remark="1 fused region: axes 4, 3, 2, 1 ({{.*}})"
func.func @together(%x: memref<4035x21x7x7x3xf64>, %f: memref<21x21xf64>, %g: memref<7x7xf64>, %h: memref<3x3xf64>,
                    %y: memref<4035x21x7x7x3xf64>) {
  kron.batched ins(%x : memref<4035x21x7x7x3xf64>)
    factors(%f, %g, %g, %h : memref<21x21xf64>, memref<7x7xf64>, memref<7x7xf64>, memref<3x3xf64>)
    outs(%y : memref<4035x21x7x7x3xf64>)
  return
}

// -----

// Verify that an open size leaves it to the cost model.
// CHECK: Regions=1, Remark="1 fused region: axes 3, 2, 1 ({{.*}})"
func.func @open(%x: memref<?x3x165x7xf64>, %f: memref<3x3xf64>, %g: memref<165x165xf64>, %h: memref<7x7xf64>,
                %y: memref<?x3x165x7xf64>) {
  kron.batched ins(%x : memref<?x3x165x7xf64>) factors(%f, %g, %h : memref<3x3xf64>, memref<165x165xf64>, memref<7x7xf64>)
    outs(%y : memref<?x3x165x7xf64>)
  return
}

// -----

// Verify that so do IEEE products, whose times planners do not know.
// CHECK: Regions=3, Remark="3 fused regions: axes 4, 3 ({{.*}}); axes 2 ({{.*}}); axes 1 ({{.*}})"
func.func @ieee(%x: memref<1024x1048576xf32>, %f: memref<32x32xf32>, %y: memref<1024x1048576xf32>) {
  kron.mkm ins(%x : memref<1024x1048576xf32>) factors(%f, %f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<1024x1048576xf32>) {precision = #kron.precision<ieee>}
  return
}
