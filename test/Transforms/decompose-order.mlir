// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: kron-opt %s --kron-decompose=pair-products | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: kron-opt %s --kron-cpu-pipeline="pair-products plan-only" | FileCheck %s --check-prefix=PIPELINE
// RUN: kron-opt %s --kron-cpu-pipeline="matrix-tiles plan-only" | FileCheck %s --check-prefix=PIPELINE

// Verify that factors which shrink the array come before those which let it grow:
// 16*2 + 4*8 multiply-adds per row, the other way round 16*8 + 64*2.
// CHECK-LABEL: func.func @shrink_first(
// CHECK: axis(1) {{.*}} : tensor<8x2xf32>
// CHECK: axis(2) {{.*}} : tensor<2x8xf32>
func.func @shrink_first(%x: tensor<9x16xf32>, %shrink: tensor<8x2xf32>,
                        %grow: tensor<2x8xf32>, %init: tensor<9x16xf32>)
    -> tensor<9x16xf32> {
  %y = kron.mkm ins(%x : tensor<9x16xf32>)
         factors(%shrink, %grow : tensor<8x2xf32>, tensor<2x8xf32>)
         outs(%init : tensor<9x16xf32>) -> tensor<9x16xf32>
  return %y : tensor<9x16xf32>
}

// Verify that the criterion is 1/P - 1/Q and not Q/P: 64x4 shrinks by more than
// 2x1, but its 4 multiply-adds per element halve behind it: 1 + 4/2 per element of
// X, the other way round 4 + 1/16.
// CHECK-LABEL: func.func @cheap_before_strong(
// CHECK: axis(1) {{.*}} : tensor<2x1xf32>
// CHECK: axis(2) {{.*}} : tensor<64x4xf32>
func.func @cheap_before_strong(%x: tensor<9x128xf32>, %a: tensor<2x1xf32>,
                               %b: tensor<64x4xf32>, %init: tensor<9x4xf32>)
    -> tensor<9x4xf32> {
  %y = kron.mkm ins(%x : tensor<9x128xf32>)
         factors(%a, %b : tensor<2x1xf32>, tensor<64x4xf32>)
         outs(%init : tensor<9x4xf32>) -> tensor<9x4xf32>
  return %y : tensor<9x4xf32>
}

// Verify that square factors cost the same in any order and that the last axis
// goes first then, between the factors that shrink and those that grow.
// CHECK-LABEL: func.func @ties(
// CHECK: axis(3) {{.*}} : tensor<4x2xf32>
// CHECK: axis(4) {{.*}} : tensor<5x5xf32>
// CHECK: axis(2) {{.*}} : tensor<3x3xf32>
// CHECK: axis(1) {{.*}} : tensor<2x4xf32>
func.func @ties(%x: tensor<9x120xf32>, %a: tensor<2x4xf32>, %b: tensor<3x3xf32>,
                %c: tensor<4x2xf32>, %d: tensor<5x5xf32>, %init: tensor<9x120xf32>)
    -> tensor<9x120xf32> {
  %y = kron.mkm ins(%x : tensor<9x120xf32>)
         factors(%a, %b, %c, %d : tensor<2x4xf32>, tensor<3x3xf32>, tensor<4x2xf32>,
                                  tensor<5x5xf32>)
         outs(%init : tensor<9x120xf32>) -> tensor<9x120xf32>
  return %y : tensor<9x120xf32>
}

// Verify that a factor that stretches X over the batch goes behind a shared one.
// CHECK-LABEL: func.func @stretch_last(
// CHECK: axis(2) {{.*}} factor(%{{.*}} [p, q] : tensor<4x4xf32>) outs(%{{.*}} : tensor<1x9x4x4xf32>)
// CHECK: axis(3) {{.*}} factor(%{{.*}} [0, p, q] : tensor<7x4x4xf32>) outs(%{{.*}} : tensor<7x9x4x4xf32>)
func.func @stretch_last(%x: tensor<9x16xf32>, %shared: tensor<4x4xf32>,
                        %batched: tensor<7x4x4xf32>, %init: tensor<7x9x16xf32>)
    -> tensor<7x9x16xf32> {
  %y = kron.mkm ins(%x : tensor<9x16xf32>)
         factors(%shared, %batched : tensor<4x4xf32>, tensor<7x4x4xf32>)
         outs(%init : tensor<7x9x16xf32>) -> tensor<7x9x16xf32>
  return %y : tensor<7x9x16xf32>
}

// Verify that the last axis goes first of square factors of bf16, too; but where multiply-adds of
// the first one count half, it is the one with the most of them, and the others stay in order: 3 +
// 4 + 50 / 2 per element of X.
// CHECK-LABEL: func.func @largest_first(
// PLAIN: axis(3) {{.*}} : tensor<4x4xbf16>
// PLAIN: axis(2) {{.*}} : tensor<50x50xbf16>
// PLAIN: axis(1) {{.*}} : tensor<3x3xbf16>
// PIPELINE-LABEL: func.func @largest_first(
// PIPELINE-NOT: axis(3)
// PIPELINE: kron.mode_product axis(2) {{.*}} : tensor<50x50xbf16>
// BF16: axis(2) {{.*}} : tensor<50x50xbf16>
// BF16: axis(3) {{.*}} : tensor<4x4xbf16>
// BF16: axis(1) {{.*}} : tensor<3x3xbf16>
func.func @largest_first(%x: tensor<9x600xbf16>, %a: tensor<3x3xbf16>, %b: tensor<50x50xbf16>,
                         %c: tensor<4x4xbf16>, %init: tensor<9x600xbf16>) -> tensor<9x600xbf16> {
  %y = kron.mkm ins(%x : tensor<9x600xbf16>)
         factors(%a, %b, %c : tensor<3x3xbf16>, tensor<50x50xbf16>, tensor<4x4xbf16>)
         outs(%init : tensor<9x600xbf16>) -> tensor<9x600xbf16>
  return %y : tensor<9x600xbf16>
}

// Verify that a factor that shrinks the array stays first where that saves more, and that
// multiply-adds of IEEE, and those of f32, count the same everywhere.
// CHECK-LABEL: func.func @shrinks_bf16(
// CHECK: axis(2) {{.*}} : tensor<64x8xbf16>
// CHECK: axis(1) {{.*}} : tensor<50x50xbf16>
// CHECK: axis(2) {{.*}} : tensor<4x4xbf16>
// CHECK: axis(1) {{.*}} : tensor<50x50xbf16>
// CHECK: axis(2) {{.*}} : tensor<4x4xf32>
// CHECK: axis(1) {{.*}} : tensor<50x50xf32>
func.func @shrinks_bf16(%x: tensor<9x3200xbf16>, %b: tensor<50x50xbf16>, %c: tensor<64x8xbf16>,
                        %init: tensor<9x400xbf16>, %x4: tensor<9x200xbf16>, %c4: tensor<4x4xbf16>,
                        %init4: tensor<9x200xbf16>, %xf: tensor<9x200xf32>, %bf: tensor<50x50xf32>,
                        %cf: tensor<4x4xf32>, %initf: tensor<9x200xf32>)
    -> (tensor<9x400xbf16>, tensor<9x200xbf16>, tensor<9x200xf32>) {
  %y = kron.mkm ins(%x : tensor<9x3200xbf16>) factors(%b, %c : tensor<50x50xbf16>, tensor<64x8xbf16>)
         outs(%init : tensor<9x400xbf16>) -> tensor<9x400xbf16>
  %y4 = kron.mkm ins(%x4 : tensor<9x200xbf16>) factors(%b, %c4 : tensor<50x50xbf16>, tensor<4x4xbf16>)
         outs(%init4 : tensor<9x200xbf16>) {precision = #kron.precision<ieee>} -> tensor<9x200xbf16>
  %yf = kron.mkm ins(%xf : tensor<9x200xf32>) factors(%bf, %cf : tensor<50x50xf32>, tensor<4x4xf32>)
         outs(%initf : tensor<9x200xf32>) -> tensor<9x200xf32>
  return %y, %y4, %yf : tensor<9x400xbf16>, tensor<9x200xbf16>, tensor<9x200xf32>
}
