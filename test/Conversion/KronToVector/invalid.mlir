// RUN: kron-opt %s --convert-kron-to-vector --split-input-file -verify-diagnostics

func.func @no_plan(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{'kron.fused' op expects a complete plan for a CPU: run --kron-plan first}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

func.func @partial_plan(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{expects a complete plan for a CPU: run --kron-plan first; found #kron.cpu_plan<vector_bits = 512, tile = 1>}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1>} {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

// A constraint for all steps is no part of a complete plan.
func.func @constraint(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{expects a complete plan for a CPU: run --kron-plan first}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1, tiled_axis = 0, register_rows = 2, steps = [{}]>} {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

// A step without register tiles is not complete.
func.func @no_register_tile(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{expects a complete plan for a CPU: run --kron-plan first}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1, tiled_axis = 0, steps = [{vectors = 1}]>} {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

// The plan of another step: there are no rows to share a vector of q.
func.func @other_step(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: step 1 cannot have sharing_rows = 2: so many rows do not fill a vector with what results leave}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 4, tiled_axis = 0, steps = [{rows = 4, vectors = 1, sharing_rows = 2}]>} {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

func.func @other_plan(%x: memref<4x16xf32>, %f: memref<16x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{'kron.fused' op has a plan that is none for it: expects tiled_axis to be an axis along which all factors are the same, but got 1}}
  kron.fused ins(%x, %f : memref<4x16xf32>, memref<16x16xf32>) outs(%y : memref<4x16xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1, tiled_axis = 1, steps = [{rows = 4, vectors = 1}]>} {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

func.func @on_tensors(%x: tensor<4x16xf32>, %f: tensor<16x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{'kron.fused' op expects memref operands: run --kron-bufferize first}}
  %r = kron.fused ins(%x, %f : tensor<4x16xf32>, tensor<16x16xf32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%t: tensor<4x16xf32>, %a: tensor<16x16xf32>, %o: tensor<4x16xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf32>) factor(%a [p, q] : tensor<16x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @extended(%x: memref<4x16xf80>, %f: memref<16x16xf80>, %y: memref<4x16xf80>) {
  kron.fused ins(%x, %f : memref<4x16xf80>, memref<16x16xf80>) outs(%y : memref<4x16xf80>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1>} {
  ^bb0(%t: tensor<4x16xf80>, %a: tensor<16x16xf80>, %o: tensor<4x16xf80>):
    // expected-error @+1 {{'kron.mode_product' op cannot become vector code: element type f80 has no vector kernel}}
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x16xf80>) factor(%a [p, q] : tensor<16x16xf80>) outs(%o : tensor<4x16xf80>) -> tensor<4x16xf80>
    kron.yield %1 : tensor<4x16xf80>
  }
  return
}

// -----

func.func @no_elements(%x: memref<4x0xf32>, %f: memref<0x16xf32>, %y: memref<4x16xf32>) {
  kron.fused ins(%x, %f : memref<4x0xf32>, memref<0x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%t: tensor<4x0xf32>, %a: tensor<0x16xf32>, %o: tensor<4x16xf32>):
    // expected-error @+1 {{'kron.mode_product' op cannot become vector code: an array has no elements}}
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x0xf32>) factor(%a [p, q] : tensor<0x16xf32>) outs(%o : tensor<4x16xf32>) -> tensor<4x16xf32>
    kron.yield %1 : tensor<4x16xf32>
  }
  return
}

// -----

func.func @inner_alpha(%x: memref<1x2xf32>, %f: memref<2x2xf32>, %y: memref<1x2xf32>) {
  kron.fused ins(%x, %f : memref<1x2xf32>, memref<2x2xf32>) outs(%y : memref<1x2xf32>)
      attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 1, tiled_axis = 0, steps = [{rows = 1, vectors = 1}]>} {
  ^bb0(%t: tensor<1x2xf32>, %a: tensor<2x2xf32>, %o: tensor<1x2xf32>):
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<1x2xf32>
    %alpha = tensor.extract %e[%c0, %c0] : tensor<1x2xf32>
    // expected-error @+1 {{'kron.mode_product' op expects alpha to depend on arguments of the region only}}
    %1 = kron.mode_product axis(1) ins(%t : tensor<1x2xf32>) factor(%a [p, q] : tensor<2x2xf32>) outs(%o : tensor<1x2xf32>) alpha(%alpha : f32) -> tensor<1x2xf32>
    kron.yield %1 : tensor<1x2xf32>
  }
  return
}

// -----

func.func @dynamic_axis(%x: memref<16x?xf32>, %f: memref<16x16xf32>, %y: memref<16x?xf32>) {
  kron.fused ins(%x, %f : memref<16x?xf32>, memref<16x16xf32>) outs(%y : memref<16x?xf32>) {
  ^bb0(%t: tensor<16x?xf32>, %a: tensor<16x16xf32>, %o: tensor<16x?xf32>):
    // expected-error @+1 {{'kron.mode_product' op cannot become vector code: the contracted axis has a dynamic size}}
    %1 = kron.mode_product axis(1) ins(%t : tensor<16x?xf32>) factor(%a [q, p] : tensor<16x16xf32>) outs(%o : tensor<16x?xf32>) -> tensor<16x?xf32>
    kron.yield %1 : tensor<16x?xf32>
  }
  return
}
