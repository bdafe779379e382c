// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --convert-kron-to-vector --split-input-file \
// RUN:   | FileCheck %s --check-prefix=CODE

// Verify that tiles of blocks that lie side by side in rows have as many rows as a processor follows from block to block,
// all of the same size if a number of five to eight divides them, else six.
// CHECK-LABEL: func.func @from_memory
// CHECK: #kron.cpu_plan<{{.*}}tile = 6, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 7, tiled_axis = 0
func.func @from_memory(%x: memref<35778x40xf32>, %f: memref<4x62x5x2xf32>, %y: memref<35778x496xf32>,
                       %x2: memref<40005x40xf32>, %y2: memref<40005x496xf32>) {
  kron.ksmm ins(%x : memref<35778x40xf32>) weights(%f : memref<4x62x5x2xf32>) outs(%y : memref<35778x496xf32>)
  kron.ksmm ins(%x2 : memref<40005x40xf32>) weights(%f : memref<4x62x5x2xf32>) outs(%y2 : memref<40005x496xf32>)
  return
}

// -----

// Verify that they have more where caches hold the arrays, where rows are one block, where the factor would be loaded from
// beyond the second-level cache too often, and where multiply-adds would wait for each other.
// CHECK-LABEL: func.func @others
// CHECK: #kron.cpu_plan<{{.*}}tile = 48, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 48, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 48, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 12, tiled_axis = 0
func.func @others(%x: memref<3578x40xf32>, %f: memref<4x62x5x2xf32>, %y: memref<3578x496xf32>,
                  %x2: memref<35778x10xf32>, %f2: memref<1x62x5x2xf32>, %y2: memref<35778x124xf32>,
                  %x3: memref<950x7040xf32>, %f3: memref<5x71x88x16xf32>, %y3: memref<950x5680xf32>,
                  %x4: memref<519x4876xf32>, %f4: memref<23x7x212x1xf32>, %y4: memref<519x161xf32>) {
  kron.ksmm ins(%x : memref<3578x40xf32>) weights(%f : memref<4x62x5x2xf32>) outs(%y : memref<3578x496xf32>)
  kron.ksmm ins(%x2 : memref<35778x10xf32>) weights(%f2 : memref<1x62x5x2xf32>) outs(%y2 : memref<35778x124xf32>)
  kron.ksmm ins(%x3 : memref<950x7040xf32>) weights(%f3 : memref<5x71x88x16xf32>) outs(%y3 : memref<950x5680xf32>)
  kron.ksmm ins(%x4 : memref<519x4876xf32>) weights(%f4 : memref<23x7x212x1xf32>) outs(%y4 : memref<519x161xf32>)
  return
}

// -----

// Verify that few rows of many are copied in segments if registers would read long t again from beyond the first-level
// cache: not for K of 15, nor for t of a line. Copies prefetch the tile beside them.
// CHECK-LABEL: func.func @few_of_many
// CHECK: #kron.cpu_plan<{{.*}}tile = 7, {{.*}}segment = {{[0-9]+}}
// CHECK: #kron.cpu_plan<{{.*}}tile = 6, tiled_axis = 0, whole_axes = [3], steps = [{rows = 5, vectors = {{[0-9]+}}}]>
// CHECK: #kron.cpu_plan<{{.*}}tile = 6, tiled_axis = 0, whole_axes = [3], steps = [{rows = {{[0-9]+}}, vectors = {{[0-9]+}}}]>
// CODE-LABEL: func.func private @few_of_many_fused(
// CODE: llvm.intr.prefetch
// CODE: vector.fma
// CODE-LABEL: func.func private @few_of_many_fused_0(
func.func @few_of_many(%x: memref<2450x5670xf32>, %f: memref<2x8x45x63xf32>, %y: memref<2450x1008xf32>,
                       %x2: memref<2314x1650xf32>, %f2: memref<2x5x15x55xf32>, %y2: memref<2314x550xf32>,
                       %x3: memref<4882x3420xf32>, %f3: memref<4x8x45x19xf32>, %y3: memref<4882x608xf32>) {
  kron.ksmm ins(%x : memref<2450x5670xf32>) weights(%f : memref<2x8x45x63xf32>) outs(%y : memref<2450x1008xf32>)
  kron.ksmm ins(%x2 : memref<2314x1650xf32>) weights(%f2 : memref<2x5x15x55xf32>) outs(%y2 : memref<2314x550xf32>)
  kron.ksmm ins(%x3 : memref<4882x3420xf32>) weights(%f3 : memref<4x8x45x19xf32>) outs(%y3 : memref<4882x608xf32>)
  return
}

// -----

// Verify that rows which would be left behind a tile and fewer than it join it, where other blocks are left for threads.
// CHECK-LABEL: func.func @left_rows
// CHECK: #kron.cpu_plan<{{.*}}tile = 13, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 12, tiled_axis = 0
// CHECK: #kron.cpu_plan<{{.*}}tile = 48, tiled_axis = 0
func.func @left_rows(%x: memref<13x9849xf32>, %f: memref<49x36x67x3xf32>, %y: memref<13x5292xf32>,
                     %x2: memref<25x9849xf32>, %y2: memref<25x5292xf32>,
                     %x3: memref<50x140xf32>, %f3: memref<1x20x70x2xf32>, %y3: memref<50x40xf32>) {
  kron.ksmm ins(%x : memref<13x9849xf32>) weights(%f : memref<49x36x67x3xf32>) outs(%y : memref<13x5292xf32>)
  kron.ksmm ins(%x2 : memref<25x9849xf32>) weights(%f : memref<49x36x67x3xf32>) outs(%y2 : memref<25x5292xf32>)
  kron.ksmm ins(%x3 : memref<50x140xf32>) weights(%f3 : memref<1x20x70x2xf32>) outs(%y3 : memref<50x40xf32>)
  return
}

// -----

// Verify that register tiles have no more rows than tiles of a size that does not divide all rows, where groups that are
// no power of two fill the lanes, and no more vectors, each of a row of its own, than a processor follows.
// CHECK-LABEL: func.func @rows_of_registers
// CHECK: #kron.cpu_plan<{{.*}}tile = 12, {{.*}}steps = [{rows = 12, vectors = 1}]>
// CHECK: #kron.cpu_plan<{{.*}}tile = 23, {{.*}}steps = [{rows = {{[0-9]+}}, vectors = {{([0-9]|1[0-2])}}}]>
func.func @rows_of_registers(%x: memref<753x1530xf32>, %f: memref<30x3x17x3xf32>, %y: memref<753x270xf32>,
                             %x2: memref<23x360xf64>, %f2: memref<24x32x3x5xf64>, %y2: memref<23x3840xf64>) {
  kron.ksmm ins(%x : memref<753x1530xf32>) weights(%f : memref<30x3x17x3xf32>) outs(%y : memref<753x270xf32>)
  kron.ksmm ins(%x2 : memref<23x360xf64>) weights(%f2 : memref<24x32x3x5xf64>) outs(%y2 : memref<23x3840xf64>)
  return
}
