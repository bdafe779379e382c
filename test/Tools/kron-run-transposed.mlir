// RUN: kron-run %s --entry=few --arg=random:15x37:f32:1 --arg=random:3x3:f32:2 --arg=random:5x5:f32:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=growing --arg=random:21x301:f64:1 --arg=random:3x7:f64:2 --arg=random:7x5:f64:3 --verify | FileCheck %s
// RUN: kron-run %s --entry=many --arg=random:625x301:f32:1 --arg=random:5x5:f32:2 --verify | FileCheck %s

// Verify that a transposed X whose rows are in the lanes is right: of rows that fill no whole tile, with results of
// another size, and with slices.
// CHECK: verify {{.*}}: ok

func.func @few(%x: tensor<15x37xf32>, %a: tensor<3x3xf32>, %b: tensor<5x5xf32>) -> tensor<37x15xf32> {
  %e = tensor.empty() : tensor<37x15xf32>
  %y = kron.mkm ins(T(%x) : tensor<15x37xf32>) factors(%a, %b : tensor<3x3xf32>, tensor<5x5xf32>)
                outs(%e : tensor<37x15xf32>) {plan = #kron.cpu_plan<rows_in_lanes = 1>} -> tensor<37x15xf32>
  return %y : tensor<37x15xf32>
}

func.func @growing(%x: tensor<21x301xf64>, %a: tensor<3x7xf64>, %b: tensor<7x5xf64>) -> tensor<301x35xf64> {
  %e = tensor.empty() : tensor<301x35xf64>
  %y = kron.mkm ins(T(%x) : tensor<21x301xf64>) factors(%a, %b : tensor<3x7xf64>, tensor<7x5xf64>)
                outs(%e : tensor<301x35xf64>) {plan = #kron.cpu_plan<rows_in_lanes = 1>} -> tensor<301x35xf64>
  return %y : tensor<301x35xf64>
}

func.func @many(%x: tensor<625x301xf32>, %a: tensor<5x5xf32>) -> tensor<301x625xf32> {
  %e = tensor.empty() : tensor<301x625xf32>
  %y = kron.mkm ins(T(%x) : tensor<625x301xf32>)
                factors(%a, %a, %a, %a : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>)
                outs(%e : tensor<301x625xf32>) {plan = #kron.cpu_plan<rows_in_lanes = 1>} -> tensor<301x625xf32>
  return %y : tensor<301x625xf32>
}
