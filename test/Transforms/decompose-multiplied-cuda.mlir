// RUN: kron-opt %s --kron-decompose="target=cuda chip=h200" --remarks-filter=kron-decompose 2>&1 | FileCheck %s


// Verify that factors between which rows are long are multiplied with each other, for many rows.
// CHECK: remark: [Passed] MultipliedOut | Category:kron-decompose | Factors=2, Remark="factors 1 to 2 of 2 are multiplied with each other first: the chain takes {{.*}} us instead of {{.*}} us"
// CHECK-NOT: MultipliedOut

// CHECK-LABEL: func.func @wide
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<29x1x138x3x1x1x3x3xf32>)
// CHECK: kron.mode_product {{.*}} -> tensor<29x2x23x9xf32>
// CHECK: kron.mode_product {{.*}} -> tensor<29x46x1x27005xf32>
func.func @wide(%x: tensor<261x27005xf32>, %f: tensor<29x138x3x3xf32>, %g: tensor<29x2x18x23xf32>) -> tensor<1334x27005xf32> {
  %e = tensor.empty() : tensor<12006x27005xf32>
  %v = kron.ksmm ins(%x : tensor<261x27005xf32>) weights(%f : tensor<29x138x3x3xf32>) outs(%e : tensor<12006x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<12006x27005xf32>
  %i = tensor.empty() : tensor<1334x27005xf32>
  %y = kron.ksmm ins(%v : tensor<12006x27005xf32>) weights(%g : tensor<29x2x18x23xf32>) outs(%i : tensor<1334x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x27005xf32>
  return %y : tensor<1334x27005xf32>
}

// Verify that the same for few rows, of an unknown number, of f16, with a plan, and where something else needs what lies
// between, is not.
// CHECK-NOT: linalg.generic
func.func @few(%x: tensor<261x64xf32>, %f: tensor<29x138x3x3xf32>, %g: tensor<29x2x18x23xf32>) -> tensor<1334x64xf32> {
  %e = tensor.empty() : tensor<12006x64xf32>
  %v = kron.ksmm ins(%x : tensor<261x64xf32>) weights(%f : tensor<29x138x3x3xf32>) outs(%e : tensor<12006x64xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<12006x64xf32>
  %i = tensor.empty() : tensor<1334x64xf32>
  %y = kron.ksmm ins(%v : tensor<12006x64xf32>) weights(%g : tensor<29x2x18x23xf32>) outs(%i : tensor<1334x64xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x64xf32>
  return %y : tensor<1334x64xf32>
}

func.func @open(%x: tensor<261x?xf32>, %f: tensor<29x138x3x3xf32>, %g: tensor<29x2x18x23xf32>, %e: tensor<12006x?xf32>,
                %i: tensor<1334x?xf32>) -> tensor<1334x?xf32> {
  %v = kron.ksmm ins(%x : tensor<261x?xf32>) weights(%f : tensor<29x138x3x3xf32>) outs(%e : tensor<12006x?xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<12006x?xf32>
  %y = kron.ksmm ins(%v : tensor<12006x?xf32>) weights(%g : tensor<29x2x18x23xf32>) outs(%i : tensor<1334x?xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x?xf32>
  return %y : tensor<1334x?xf32>
}

func.func @half(%x: tensor<261x27005xf16>, %f: tensor<29x138x3x3xf16>, %g: tensor<29x2x18x23xf16>) -> tensor<1334x27005xf16> {
  %e = tensor.empty() : tensor<12006x27005xf16>
  %v = kron.ksmm ins(%x : tensor<261x27005xf16>) weights(%f : tensor<29x138x3x3xf16>) outs(%e : tensor<12006x27005xf16>)
    {layout = #kron.layout<batch_last>} -> tensor<12006x27005xf16>
  %i = tensor.empty() : tensor<1334x27005xf16>
  %y = kron.ksmm ins(%v : tensor<12006x27005xf16>) weights(%g : tensor<29x2x18x23xf16>) outs(%i : tensor<1334x27005xf16>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x27005xf16>
  return %y : tensor<1334x27005xf16>
}

func.func @planned(%x: tensor<261x27005xf32>, %f: tensor<29x138x3x3xf32>, %g: tensor<29x2x18x23xf32>) -> tensor<1334x27005xf32> {
  %e = tensor.empty() : tensor<12006x27005xf32>
  %v = kron.ksmm ins(%x : tensor<261x27005xf32>) weights(%f : tensor<29x138x3x3xf32>) outs(%e : tensor<12006x27005xf32>)
    {layout = #kron.layout<batch_last>, plan = #kron.gpu_plan<kernel = simt>} -> tensor<12006x27005xf32>
  %i = tensor.empty() : tensor<1334x27005xf32>
  %y = kron.ksmm ins(%v : tensor<12006x27005xf32>) weights(%g : tensor<29x2x18x23xf32>) outs(%i : tensor<1334x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x27005xf32>
  return %y : tensor<1334x27005xf32>
}

func.func @kept(%x: tensor<261x27005xf32>, %f: tensor<29x138x3x3xf32>, %g: tensor<29x2x18x23xf32>)
    -> (tensor<1334x27005xf32>, tensor<12006x27005xf32>) {
  %e = tensor.empty() : tensor<12006x27005xf32>
  %v = kron.ksmm ins(%x : tensor<261x27005xf32>) weights(%f : tensor<29x138x3x3xf32>) outs(%e : tensor<12006x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<12006x27005xf32>
  %i = tensor.empty() : tensor<1334x27005xf32>
  %y = kron.ksmm ins(%v : tensor<12006x27005xf32>) weights(%g : tensor<29x2x18x23xf32>) outs(%i : tensor<1334x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<1334x27005xf32>
  return %y, %v : tensor<1334x27005xf32>, tensor<12006x27005xf32>
}

// Verify that nor are factors whose product has zeros: the first group of the first one ends before the second group of
// the second one begins.
func.func @apart(%x: tensor<9x27005xf32>, %f: tensor<3x1380x3x1xf32>, %g: tensor<2x2x2070x1xf32>) -> tensor<4x27005xf32> {
  %e = tensor.empty() : tensor<4140x27005xf32>
  %v = kron.ksmm ins(%x : tensor<9x27005xf32>) weights(%f : tensor<3x1380x3x1xf32>) outs(%e : tensor<4140x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<4140x27005xf32>
  %i = tensor.empty() : tensor<4x27005xf32>
  %y = kron.ksmm ins(%v : tensor<4140x27005xf32>) weights(%g : tensor<2x2x2070x1xf32>) outs(%i : tensor<4x27005xf32>)
    {layout = #kron.layout<batch_last>} -> tensor<4x27005xf32>
  return %y : tensor<4x27005xf32>
}
