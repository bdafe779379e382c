// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan="whole-bits=256" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=SPLIT
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan="vector-bits=256 whole-bits=256" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=NARROW
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --convert-kron-to-vector --split-input-file \
// RUN:   | FileCheck %s --check-prefix=CODE

// Verify that lanes run over p for any number of rows where few results would leave lanes over q empty, in blocks of four
// rows and then one after the other, since tiles of 12 do not divide 76 rows.
// CHECK-LABEL: func.func @few_results
// CHECK: #kron.cpu_plan<{{.*}}tile = 12, {{.*}}steps = [{lanes = 1}]>
// NARROW-LABEL: func.func @few_results
// NARROW: #kron.cpu_plan<{{.*}}steps = [{lanes = 1}]>
// CODE-LABEL: func.func private @few_results_fused(
// CODE: llvm.load {{.*}} -> vector<16xf32>
// CODE: vector.fma
// CODE: vector.shuffle
// CODE: llvm.store {{.*}} : vector<2xf32>
// CODE: scf.for
// CODE: vector.fma
// CODE: llvm.store {{.*}} : vector<2xf32>
func.func @few_results(%x: memref<76x3358xf32>, %f: memref<73x2x46x1xf32>, %y: memref<76x146xf32>) {
  kron.ksmm ins(%x : memref<76x3358xf32>) weights(%f : memref<73x2x46x1xf32>) outs(%y : memref<76x146xf32>)
  return
}

// -----

// Verify that they run over q where adding up the lanes would take longer: of more results, or of less that is added up.
// CHECK-LABEL: func.func @more_results
// CHECK: steps = [{rows
// CHECK: steps = [{rows
// NARROW-LABEL: func.func @more_results
// NARROW: steps = [{rows
// NARROW: steps = [{rows
func.func @more_results(%x: memref<96x1440xf32>, %f: memref<30x8x48x1xf32>, %y: memref<96x240xf32>,
                        %x2: memref<96x360xf32>, %f2: memref<30x4x12x1xf32>, %y2: memref<96x120xf32>) {
  kron.ksmm ins(%x : memref<96x1440xf32>) weights(%f : memref<30x8x48x1xf32>) outs(%y : memref<96x240xf32>)
  kron.ksmm ins(%x2 : memref<96x360xf32>) weights(%f2 : memref<30x4x12x1xf32>) outs(%y2 : memref<96x120xf32>)
  return
}

// -----

// Verify that lanes run over a short inner axis alone, and leave others empty, where a processor splits vectors that
// groups of several q would fill; where it does not, only if the factor is used less often than packing it takes.
// CHECK-LABEL: func.func @groups
// CHECK: steps = [{rows
// CHECK: steps = [{lanes = 3
// SPLIT-LABEL: func.func @groups
// SPLIT: steps = [{lanes = 3
// SPLIT: steps = [{lanes = 3
func.func @groups(%x: memref<32x7200xf32>, %f: memref<20x40x60x6xf32>, %y: memref<32x4800xf32>,
                  %x2: memref<10x7200xf32>, %y2: memref<10x4800xf32>) {
  kron.ksmm ins(%x : memref<32x7200xf32>) weights(%f : memref<20x40x60x6xf32>) outs(%y : memref<32x4800xf32>)
  kron.ksmm ins(%x2 : memref<10x7200xf32>) weights(%f : memref<20x40x60x6xf32>) outs(%y2 : memref<10x4800xf32>)
  return
}

// -----

// Verify that groups of several q fill the lanes in spite of that where they fill more than twice as many, where few of
// what is added up make stores of parts weigh more, and where the factor is converted.
// SPLIT-LABEL: func.func @filled_groups
// SPLIT: steps = [{rows
// SPLIT: steps = [{rows
// SPLIT: steps = [{rows
func.func @filled_groups(%x: memref<32x3600xf32>, %f: memref<20x40x60x3xf32>, %y: memref<32x2400xf32>,
                         %x2: memref<65x192xf32>, %f2: memref<16x102x2x6xf32>, %y2: memref<65x9792xf32>,
                         %x3: memref<32x7200xf16>, %f3: memref<20x40x60x6xf16>, %y3: memref<32x4800xf16>) {
  kron.ksmm ins(%x : memref<32x3600xf32>) weights(%f : memref<20x40x60x3xf32>) outs(%y : memref<32x2400xf32>)
  kron.ksmm ins(%x2 : memref<65x192xf32>) weights(%f2 : memref<16x102x2x6xf32>) outs(%y2 : memref<65x9792xf32>)
  kron.ksmm ins(%x3 : memref<32x7200xf16>) weights(%f3 : memref<20x40x60x6xf16>) outs(%y3 : memref<32x4800xf16>)
  return
}

// -----

// Verify that blocks of q that go along an axis prefetch the next block's part of a factor that comes from memory, at
// each of two positions half of the rows, for all p; not of a smaller factor.
// CHECK-LABEL: func.func @along
// CHECK: steps = [{rows = {{[0-9]+}}, vectors = 2, along_axis = 2, factor_ahead = {{[0-9]+}}}]
// CHECK: steps = [{rows = {{[0-9]+}}, vectors = 2, along_axis = 2}]
// CODE-LABEL: func.func private @along_fused(
// CODE: scf.for %{{.*}} to %c2_i64
// CODE: arith.remui %{{.*}}, %c2_i64
// CODE: scf.for %{{.*}} to %c104_i64
// CODE-COUNT-7: llvm.intr.prefetch
// CODE-NOT: llvm.intr.prefetch
// CODE: }
// CODE: vector.fma
// CODE-LABEL: func.func private @along_fused_0(
// CODE: scf.for %{{.*}} to %c2_i64
// CODE-NOT: arith.remui
// CODE: vector.fma
func.func @along(%x: memref<51168x27xf32>, %f: memref<6x117x104x82xf32>, %y: memref<57564x27xf32>,
                 %x2: memref<8528x27xf32>, %f2: memref<1x117x104x82xf32>, %y2: memref<9594x27xf32>) {
  kron.ksmm ins(%x : memref<51168x27xf32>) weights(%f : memref<6x117x104x82xf32>) outs(%y : memref<57564x27xf32>) {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x2 : memref<8528x27xf32>) weights(%f2 : memref<1x117x104x82xf32>) outs(%y2 : memref<9594x27xf32>) {layout = #kron.layout<batch_last>}
  return
}
