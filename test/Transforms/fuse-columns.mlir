// RUN: kron-opt %s --kron-decompose --kron-fuse --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse --split-input-file --remarks-filter=kron-fuse 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Verify that few columns lie outside between two fused regions, whose tiles are of axes that they
// do not contract: the first takes X with columns outermost, the second one brings them back.
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     scf.if
// CHECK:         %[[BETWEEN:.*]] = memref.alloc() {{.*}} : memref<5x200x200xf64>
// CHECK:         kron.fused ins({{.*}} : memref<200x200x5xf64>, memref<200x200xf64>) outs(%[[BETWEEN]] :
// CHECK-SAME:      input_permutation = array<i64: 2, 0, 1>, plan = #kron.cpu_plan<tiled_axis = 1>
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused ins(%[[BETWEEN]], {{.*}} outs({{.*}} : memref<200x200x5xf64>)
// CHECK-SAME:      input_permutation = array<i64: 1, 2, 0>, plan = #kron.cpu_plan<tiled_axis = 1>
// CHECK:           kron.mode_product axis(0)
// CHECK:             alpha(2.000000e+00 : f64) beta(5.000000e-01 : f64)
// CHECK:         memref.dealloc %[[BETWEEN]]
// CHECK-NOT:     kron.fused
// CHECK:         return
// REMARK: remark: [Analysis] Columns | Category:kron-fuse | {{.*}}Remark="columns lie outside between two fused regions where they fill less than {{[0-9]+}} % of the lanes"
func.func @few(%x: memref<40000x5xf64>, %f: memref<200x200xf64>, %z: memref<40000x5xf64>, %y: memref<40000x5xf64>) {
  kron.kmm ins(%x : memref<40000x5xf64>) factors(%f, %f : memref<200x200xf64>, memref<200x200xf64>)
           outs(%y : memref<40000x5xf64>) alpha(2.0 : f64) beta(0.5 : f64) addend(%z : memref<40000x5xf64>)
  return
}

// -----

// Verify that a number of columns which is known at launch chooses there: by the lanes that are
// filled, or if there are two threads for each tile. Rectangular factors, tensors.
// CHECK-LABEL: func.func @open(
// CHECK:         %[[FILLED:.*]] = arith.muli %[[COLUMNS:.*]], %{{.*}} : index
// CHECK:         %[[VECTORS:.*]] = arith.ceildivsi %[[COLUMNS]], %{{.*}}
// CHECK:         %[[ENOUGH:.*]] = arith.muli %[[VECTORS]], %{{.*}}
// CHECK:         %[[FEW:.*]] = arith.cmpi slt, %[[FILLED]], %[[ENOUGH]]
// CHECK:         kron.num_threads
// CHECK:         %[[IDLE:.*]] = arith.cmpi sge
// CHECK:         %[[OUTSIDE:.*]] = arith.ori %[[FEW]], %[[IDLE]]
// CHECK-SAME:      {kron.requires = [{lanes = {{[0-9]+}} : i64, max_filled = {{[1-9][0-9]*}} : i64},
// CHECK-SAME:                        {tile_columns = {{[1-9][0-9]*}} : i64, tile_threads = 2 : i64}]} : i1
// CHECK:         scf.if %[[OUTSIDE]] -> (tensor<100x64x?xf32>) {
// CHECK:           %[[SIZE:.*]] = tensor.dim %{{.*}} : tensor<100x64x?xf32>
// CHECK:           tensor.empty(%[[SIZE]]) : tensor<?x200x64xf32>
// CHECK:           kron.fused {{.*}}input_permutation = array<i64: 2, 0, 1>
// CHECK:           kron.fused {{.*}}input_permutation = array<i64: 1, 2, 0>
// CHECK:         } else {
// CHECK:           kron.fused
// CHECK-NOT:         input_permutation
// CHECK:         return
// REMARK: Category:kron-fuse{{.*}}FullLanes=
func.func @open(%x: tensor<20000x?xf32>, %f: tensor<100x200xf32>, %g: tensor<64x100xf32>, %y: tensor<6400x?xf32>) -> tensor<6400x?xf32> {
  %0 = kron.kmm ins(%x : tensor<20000x?xf32>) factors(%f, %g : tensor<100x200xf32>, tensor<64x100xf32>)
         outs(%y : tensor<6400x?xf32>) -> tensor<6400x?xf32>
  return %0 : tensor<6400x?xf32>
}

// -----

// Verify that columns that fill lanes choose by threads alone.
// CHECK-LABEL: func.func @full(
// CHECK:         %[[THREADS:.*]] = kron.num_threads
// CHECK:         %[[IDLE:.*]] = arith.cmpi sge, %[[THREADS]],
// CHECK-SAME:      {kron.requires = {tile_columns = 16 : i64, tile_threads = 2 : i64}} : index
// CHECK:         scf.if %[[IDLE]] {
// CHECK:           kron.fused {{.*}}input_permutation
// CHECK:         } else {
// REMARK: regions where a launch has two threads for each tile of 16 columns"
func.func @full(%x: memref<10000x16xf64>, %f: memref<100x100xf64>, %y: memref<10000x16xf64>) {
  kron.kmm ins(%x : memref<10000x16xf64>) factors(%f, %f : memref<100x100xf64>, memref<100x100xf64>)
           outs(%y : memref<10000x16xf64>)
  return
}

// -----

// Verify that factors commute: the last one on the innermost axis follows the one before it then.
// CHECK-LABEL: func.func @shrinking(
// CHECK:         kron.fused {{.*}}outs({{.*}} : memref<3x100x64xf32>)
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}}outs({{.*}} : memref<50x64x3xf32>)
// CHECK:           kron.mode_product axis(0)
// REMARK: Category:kron-fuse{{.*}}FullLanes=
func.func @shrinking(%x: memref<6400x3xf32>, %f: memref<50x100xf32>, %g: memref<64x64xf32>, %y: memref<3200x3xf32>) {
  kron.kmm ins(%x : memref<6400x3xf32>) factors(%f, %g : memref<50x100xf32>, memref<64x64xf32>)
           outs(%y : memref<3200x3xf32>)
  return
}

// -----

// Verify that columns of a transposed X, which lie outside already, stay there, and that the second
// fused region takes the axes between its own and the columns for one.
// CHECK-LABEL: func.func @transposed(
// CHECK:         %[[BETWEEN:.*]] = memref.alloc() {{.*}} : memref<7x120x3x90xf32>
// CHECK:         kron.fused ins({{.*}} : memref<7x120x3x90xf32>, {{.*}}) outs(%[[BETWEEN]] :
// CHECK-SAME:      attributes {plan = #kron.cpu_plan<tiled_axis = 1>}
// CHECK:           kron.mode_product axis(3)
// CHECK:           kron.mode_product axis(2)
// CHECK-DAG:     %[[READ:.*]] = memref.collapse_shape %[[BETWEEN]] {{\[\[}}0], [1], [2, 3]]
// CHECK-DAG:     %[[WRITTEN:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]]
// CHECK:         kron.fused ins(%[[READ]], {{.*}}) outs(%[[WRITTEN]] : memref<120x270x7xf32>)
// CHECK-SAME:      input_permutation = array<i64: 1, 2, 0>, plan = #kron.cpu_plan<tiled_axis = 1>
// CHECK:           kron.mode_product axis(0)
// REMARK: Category:kron-fuse{{.*}}FullLanes=
func.func @transposed(%x: memref<7x32400xf32>, %f: memref<120x120xf32>, %g: memref<3x3xf32>, %h: memref<90x90xf32>, %y: memref<32400x7xf32>) {
  kron.kmm ins(T(%x) : memref<7x32400xf32>) factors(%f, %g, %h : memref<120x120xf32>, memref<3x3xf32>, memref<90x90xf32>)
           outs(%y : memref<32400x7xf32>)
  return
}

// -----

// Verify that an array to be added, which may lie otherwise, leaves these axes apart.
// CHECK-LABEL: func.func @added(
// CHECK:         kron.fused
// CHECK-NOT:     memref.collapse_shape
// CHECK:         kron.fused {{.*}}input_permutation = array<i64: 1, 2, 3, 0>, plan = #kron.cpu_plan<tiled_axis = 2>
// REMARK: Category:kron-fuse{{.*}}FullLanes=
func.func @added(%x: memref<32400x7xf32>, %f: memref<120x120xf32>, %g: memref<3x3xf32>, %h: memref<90x90xf32>, %z: memref<32400x7xf32>, %y: memref<32400x7xf32>) {
  kron.kmm ins(%x : memref<32400x7xf32>) factors(%f, %g, %h : memref<120x120xf32>, memref<3x3xf32>, memref<90x90xf32>)
           outs(%y : memref<32400x7xf32>) beta(1.0 : f32) addend(%z : memref<32400x7xf32>)
  return
}

// -----

// Verify that two columns of a transposed X, which fill lanes with results of a small innermost factor, never lie
// outside: more threads share out the axes of factors.
// CHECK-LABEL: func.func @groups(
// CHECK:         %[[THREADS:.*]] = kron.num_threads
// CHECK:         %[[IDLE:.*]] = arith.cmpi sge, %[[THREADS]],
// CHECK:         scf.if %[[IDLE]] {
// REMARK-NOT: Columns
// REMARK: 2 fused regions where a launch has 4 threads or more
func.func @groups(%x: memref<2x792xf32>, %f: memref<49x33xf32>, %g: memref<11x6xf32>, %h: memref<482x4xf32>, %y: memref<259798x2xf32>) {
  kron.kmm ins(T(%x) : memref<2x792xf32>) factors(%f, %g, %h : memref<49x33xf32>, memref<11x6xf32>, memref<482x4xf32>)
           outs(%y : memref<259798x2xf32>)
  return
}

// -----

// Verify what has one form: an axis that is contracted twice, full lanes that more threads than tiles share out already, in two fused regions in
// place or by a batch; a single factor, factors that depend on a batch, a type
// that would be rounded in between, and a plan by hand.
// REMARK-NOT: Columns
// CHECK-LABEL: func.func @others(

// CHECK-NOT:     tiled_axis
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @others(%t: tensor<32x32x3xf32>, %a: tensor<4x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x4xf32>,
                  %xf: memref<40000x16xf64>, %xb: memref<64x10000x16xf64>, %g: memref<100x100xf64>,
                  %x: memref<200x5xf64>, %f: memref<200x200xf64>, %y: memref<200x5xf64>,
                  %xs: memref<3x40000x5xf64>, %fs: memref<3x200x200xf64>, %ys: memref<3x40000x5xf64>,
                  %yt: memref<40000x5xf64>,
                  %xh: memref<40000x5xf16>, %fh: memref<200x200xf16>, %yh: memref<40000x5xf16>) -> tensor<32x32x3xf32> {
  %e = tensor.empty() : tensor<4x32x3xf32>
  %e1 = kron.mode_product axis(0) ins(%t : tensor<32x32x3xf32>) factor(%a [q, p] : tensor<4x32xf32>) outs(%e : tensor<4x32x3xf32>) -> tensor<4x32x3xf32>
  %e2 = kron.mode_product axis(1) ins(%e1 : tensor<4x32x3xf32>) factor(%b [q, p] : tensor<32x32xf32>) outs(%e : tensor<4x32x3xf32>) -> tensor<4x32x3xf32>
  %e3 = kron.mode_product axis(0) ins(%e2 : tensor<4x32x3xf32>) factor(%c [q, p] : tensor<32x4xf32>) outs(%t : tensor<32x32x3xf32>) -> tensor<32x32x3xf32>
  kron.kmm ins(%xf : memref<40000x16xf64>) factors(%f, %f : memref<200x200xf64>, memref<200x200xf64>)
           outs(%xf : memref<40000x16xf64>)
  kron.kmm ins(%xb : memref<64x10000x16xf64>) factors(%g, %g : memref<100x100xf64>, memref<100x100xf64>)
           outs(%xb : memref<64x10000x16xf64>)
  kron.kmm ins(%x : memref<200x5xf64>) factors(%f : memref<200x200xf64>) outs(%y : memref<200x5xf64>)
  kron.kmm ins(%xs : memref<3x40000x5xf64>) factors(%fs, %fs : memref<3x200x200xf64>, memref<3x200x200xf64>)
           outs(%ys : memref<3x40000x5xf64>)
  kron.kmm ins(%xh : memref<40000x5xf16>) factors(%fh, %fh : memref<200x200xf16>, memref<200x200xf16>)
           outs(%yh : memref<40000x5xf16>)
  kron.kmm ins(%yt : memref<40000x5xf64>) factors(%f, %f : memref<200x200xf64>, memref<200x200xf64>)
           outs(%yt : memref<40000x5xf64>) {plan = #kron.cpu_plan<tile = 5>}
  return %e3 : tensor<32x32x3xf32>
}
