// RUN: kron-opt %s -split-input-file -verify-diagnostics

// Every function is called after the constraint of the operation's description
// that it breaks; `scaled` stands for what all computing operations share.

//===----------------------------------------------------------------------===//
// All computing operations
//===----------------------------------------------------------------------===//

func.func @scaled_mixed_arrays(%x: tensor<2x4xf32>, %f: memref<4x4xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects all arrays to be tensors or all to be memrefs, but got 'tensor<2x4xf32>' for the input and 'memref<4x4xf32>' for factor 1}}
  %0 = kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @scaled_mixed_outs(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{expects all arrays to be tensors or all to be memrefs, but got 'tensor<2x4xf32>' for the input and 'memref<2x4xf32>' for the outs}}
  kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @scaled_missing_result(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%x : tensor<2x4xf32>)
  return
}

// -----

func.func @scaled_result_of_memref(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %0 = kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @scaled_result_type(%x: tensor<2x4xf32>, %f: tensor<4x4xf32>) {
  // expected-error @+1 {{expected type of operand #2 ('tensor<2x4xf32>') to match type of corresponding result ('tensor<?x4xf32>')}}
  %0 = kron.mkm ins(%x : tensor<2x4xf32>) factors(%f : tensor<4x4xf32>) outs(%x : tensor<2x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @scaled_element_type(%x: memref<2x4xi8>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of kron elements, but got 'memref<2x4xi8>'}}
  kron.mkm ins(%x : memref<2x4xi8>) factors(%x : memref<2x4xi8>) outs(%x : memref<2x4xi8>)
  return
}

// -----

func.func @scaled_unranked(%x: tensor<*xf32>, %f: tensor<4x4xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of kron elements, but got 'tensor<*xf32>'}}
  %0 = kron.mkm ins(%x : tensor<*xf32>) factors(%f : tensor<4x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

#tiled = affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>
func.func @scaled_layout(%x: memref<8x4xf32, #tiled>, %f: memref<4x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref of kron elements}}
  kron.mkm ins(%x : memref<8x4xf32, #tiled>) factors(%f : memref<4x4xf32>) outs(%y : memref<8x4xf32>)
  return
}

// -----

func.func @scaled_rank(%x: memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{expects the input to have a rank of at most 32, but got 33}}
  kron.mkm ins(%x : memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x4xf32>) factors(%f : memref<4x4xf32>)
           outs(%x : memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x4xf32>)
  return
}

// -----

func.func @scaled_alpha_twice(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %a: f32) {
  // expected-error @+1 {{expects alpha to be an operand or a constant, but got both}}
  "kron.mkm"(%x, %f, %a, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1>, static_alpha = 1.0 : f32}>
    : (memref<2x4xf32>, memref<4x4xf32>, f32, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @scaled_beta_twice(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %b: f32) {
  // expected-error @+1 {{expects beta to be an operand or a constant, but got both}}
  "kron.mkm"(%x, %f, %b, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 1>, static_beta = 1.0 : f32}>
    : (memref<2x4xf32>, memref<4x4xf32>, f32, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @scaled_scalar_kind(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{expects alpha to be a number, but got dense<1.000000e+00> : tensor<2xf32>}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) alpha(dense<1.0> : tensor<2xf32>)
  return
}

// -----

func.func @scaled_plan(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{attribute 'plan' failed to satisfy constraint: a #kron.cpu_plan, a #kron.gpu_plan, a #kron.dispatch or a #kron.region_plans}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) {plan = 4 : i64}
  return
}

// -----

func.func @scaled_segments(%x: memref<2x4xf32>) {
  // expected-error @+1 {{operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  "kron.mkm"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_mkm_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.mkm"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_kmm_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.kmm' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.kmm"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_batched_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.batched' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.batched"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_mkm_outs_twice(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.mkm"(%x, %x, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 2>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_mkm_input(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op failed to verify that operandSegmentSizes is 1 at position 0, for the input}}
  "kron.mkm"(%x, %x) <{operandSegmentSizes = array<i32: 0, 1, 0, 0, 0, 1>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_ksmm_weights(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op failed to verify that operandSegmentSizes is 1 at position 1, for the weights}}
  "kron.ksmm"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 1, 1>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_ksmm_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op failed to verify that operandSegmentSizes is 1 at position 7, for the outs}}
  "kron.ksmm"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1, 0>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_mode_product_factor(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op failed to verify that operandSegmentSizes is 1 at position 1, for the factor}}
  "kron.mode_product"(%x, %x, %x) <{axis = 1 : i64, factor_dims = array<i64: -1, -2>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_mode_product_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.mode_product"(%x, %x, %x) <{axis = 1 : i64, factor_dims = array<i64: -1, -2>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_ksmm_grad_gradient(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op failed to verify that operandSegmentSizes is 1 at position 1, for the gradient}}
  "kron.ksmm_grad"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_ksmm_grad_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op failed to verify that operandSegmentSizes is 1 at position 5, for the outs}}
  "kron.ksmm_grad"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_factor_grad_gradient(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op failed to verify that operandSegmentSizes is 1 at position 1, for the gradient}}
  "kron.factor_grad"(%x, %x, %x) <{index = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 0, 1>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_factor_grad_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op failed to verify that operandSegmentSizes is 1 at position 6, for the outs}}
  "kron.factor_grad"(%x, %x, %x) <{index = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> : (memref<2x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_bias_grad_gradient(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op failed to verify that operandSegmentSizes is 1 at position 0, for the gradient}}
  "kron.bias_grad"(%x, %x) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 1>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_bias_grad_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op failed to verify that operandSegmentSizes is 1 at position 4, for the outs}}
  "kron.bias_grad"(%x, %x) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_epilogue_input(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.epilogue' op failed to verify that operandSegmentSizes is 1 at position 0, for the input}}
  "kron.epilogue"(%x, %x) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @segments_epilogue_outs(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.epilogue' op failed to verify that operandSegmentSizes is 1 at position 3, for the outs}}
  "kron.epilogue"(%x, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  return
}

//===----------------------------------------------------------------------===//
// kron.mkm
//===----------------------------------------------------------------------===//

// -----

func.func @mkm_c1_no_factor(%x: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects at least one factor, but got none}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(:) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c1_trans_factors(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects trans_factors to have 1 entries, one per factor, but got 2}}
  "kron.mkm"(%x, %f, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>, trans_factors = [#kron.transpose<N>, #kron.transpose<T>]}>
    : (memref<2x4xf32>, memref<4x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @mkm_c1_trans_factors_kind(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{attribute 'trans_factors' failed to satisfy constraint: array of transposes}}
  "kron.mkm"(%x, %f, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>, trans_factors = ["T"]}>
    : (memref<2x4xf32>, memref<4x4xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @mkm_c1_factor_rank(%x: memref<2x4xf32>, %f: memref<4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects factor 1 to have a rank of at least 2, but got 1}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(T(%f) : memref<4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c1_empty_factor(%x: memref<2x0xf32>, %f: memref<2x2xf32>, %g: memref<0x4xf32>, %y: memref<2x8xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects factor 2 to have at least 1 row and 1 column, but got 'memref<0x4xf32>'}}
  kron.mkm ins(%x : memref<2x0xf32>) factors(%f, %g : memref<2x2xf32>, memref<0x4xf32>) outs(%y : memref<2x8xf32>)
  return
}

// -----

func.func @mkm_input_rank(%x: memref<4xf32>, %f: memref<4x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the input to have a rank of at least 2, but got 1}}
  kron.mkm ins(%x : memref<4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_outs_rank(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'kron.mkm' op expects the outs to have a rank of at least 2, but got 0}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<f32>)
  return
}

// -----

func.func @mkm_c2_factor(%x: memref<2x4xf32>, %f: memref<4x4xf64>) {
  // expected-error @+1 {{'kron.mkm' op expects factor 1 to have element type 'f32' as the input, but got 'f64'}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf64>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c2_outs(%x: memref<2x4xf16>, %f: memref<4x4xf16>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the outs to have element type 'f16' as the input, but got 'f32'}}
  kron.mkm ins(%x : memref<2x4xf16>) factors(%f : memref<4x4xf16>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c2_addend(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %z: memref<2x4xi32>) {
  // expected-error @+1 {{'kron.mkm' op expects the addend to have element type 'f32' as the input, but got 'i32'}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) beta(1.0 : f32) addend(%z : memref<2x4xi32>)
  return
}

// -----

func.func @mkm_c2_alpha(%x: memref<2x4xf16>, %f: memref<4x4xf16>) {
  // expected-error @+1 {{'kron.mkm' op expects alpha to have type 'f32', but got 'f16'}}
  kron.mkm ins(%x : memref<2x4xf16>) factors(%f : memref<4x4xf16>) outs(%x : memref<2x4xf16>) alpha(1.0 : f16)
  return
}

// -----

func.func @mkm_c2_beta(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %b: f64) {
  // expected-error @+1 {{'kron.mkm' op expects beta to have type 'f32', but got 'f64'}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) beta(%b : f64)
  return
}

// -----

func.func @mkm_c3_columns_of_input(%x: memref<2x60xf32>, %f: memref<8x8xf32>, %y: memref<2x64xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 1 of the input to be 64, the product of the factor rows, but got 60}}
  kron.mkm ins(%x : memref<2x60xf32>) factors(%f, %f : memref<8x8xf32>, memref<8x8xf32>) outs(%y : memref<2x64xf32>)
  return
}

// -----

func.func @mkm_c3_columns_of_transposed_input(%x: memref<7x2xf32>, %f: memref<4x8xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of the input to be 8, the rows of factor 1, but got 7}}
  kron.mkm ins(T(%x) : memref<7x2xf32>) factors(T(%f) : memref<4x8xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c3_columns_of_outs(%x: memref<2x4xf32>, %f: memref<4x5xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 1 of the outs to be 5, the columns of factor 1, but got 4}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x5xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c3_rows_overflow(%x: memref<?x?xf32>, %f: memref<4294967296x2xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the product of the factor rows to fit 63 bits}}
  kron.mkm ins(%x : memref<?x?xf32>) factors(%f, %f : memref<4294967296x2xf32>, memref<4294967296x2xf32>) outs(%x : memref<?x?xf32>)
  return
}

// -----

func.func @mkm_input_of_more_bytes_than_memory(%x: memref<4x4611686018427387904xf32>, %f: memref<2147483648x4xf32>, %y: memref<4x16xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the input to have at most 2^56 bytes, but got 'memref<4x4611686018427387904xf32>'}}
  kron.mkm ins(%x : memref<4x4611686018427387904xf32>) factors(%f, %f : memref<2147483648x4xf32>, memref<2147483648x4xf32>) outs(%y : memref<4x16xf32>)
  return
}

// -----

func.func @mkm_c3_columns_overflow(%x: memref<?x?xf32>, %f: memref<?x4294967296xf32>, %g: memref<?x2147483648xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the product of the factor columns to fit 63 bits}}
  kron.mkm ins(%x : memref<?x?xf32>) factors(%f, %g : memref<?x4294967296xf32>, memref<?x2147483648xf32>) outs(%x : memref<?x?xf32>)
  return
}

// -----

func.func @mkm_c3_rows_of_input(%x: memref<3x4xf32>, %f: memref<4x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of the outs to be 3, the size in the input, but got 2}}
  kron.mkm ins(%x : memref<3x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c4_rank(%x: memref<2x4xf32>, %f: memref<5x4x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the outs to have rank 3, but got 2}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<5x4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mkm_c4_factor(%x: memref<5x2x4xf32>, %f: memref<1x2x2xf32>, %g: memref<3x2x2xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of factor 2 to be 5, the batch size of the arrays before it, or 1, but got 3}}
  kron.mkm ins(%x : memref<5x2x4xf32>) factors(%f, %g : memref<1x2x2xf32>, memref<3x2x2xf32>) outs(%x : memref<5x2x4xf32>)
  return
}

// -----

func.func @mkm_c4_outs(%x: memref<?x2x4xf32>, %f: memref<5x4x4xf32>, %y: memref<1x2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of the outs to be 5, the size that the batch dimensions broadcast to, but got 1}}
  kron.mkm ins(%x : memref<?x2x4xf32>) factors(%f : memref<5x4x4xf32>) outs(%y : memref<1x2x4xf32>)
  return
}

// -----

func.func @mkm_c4_outs_not_stretched(%x: memref<1x2x4xf32>, %f: memref<4x4xf32>, %y: memref<5x2x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of the outs to be 1, the size that the batch dimensions broadcast to, but got 5}}
  kron.mkm ins(%x : memref<1x2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<5x2x4xf32>)
  return
}

// -----

func.func @mkm_c5_rank(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %z: memref<4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects the addend to have rank 2, but got 1}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) beta(1.0 : f32) addend(%z : memref<4xf32>)
  return
}

// -----

func.func @mkm_c5_shape(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %z: memref<1x4xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 0 of the addend to be 2, the size in the outs, but got 1}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<2x4xf32>) beta(1.0 : f32) addend(%z : memref<1x4xf32>)
  return
}

// -----

func.func @mkm_c5_shape_of_dynamic_outs(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<?x?xf32>, %z: memref<?x5xf32>) {
  // expected-error @+1 {{'kron.mkm' op expects dimension 1 of the addend to be 4, the size in the outs, but got 5}}
  kron.mkm ins(%x : memref<2x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<?x?xf32>) beta(1.0 : f32) addend(%z : memref<?x5xf32>)
  return
}

//===----------------------------------------------------------------------===//
// kron.kmm
//===----------------------------------------------------------------------===//

// -----

func.func @kmm_c1_no_factor(%x: memref<4x2xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects at least one factor, but got none}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(:) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @kmm_c1_empty_factor(%x: memref<4x2xf32>, %f: memref<4x0xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects factor 1 to have at least 1 row and 1 column, but got 'memref<4x0xf32>'}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(%f : memref<4x0xf32>) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @kmm_c2_factor(%x: memref<4x2xf32>, %f: memref<4x4xi32>) {
  // expected-error @+1 {{'kron.kmm' op expects factor 1 to have element type 'f32' as the input, but got 'i32'}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(%f : memref<4x4xi32>) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @kmm_c3_rows_of_input(%x: memref<4x2xf32>, %f: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects dimension 0 of the input to be 5, the columns of factor 1, but got 4}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(%f : memref<4x5xf32>) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @kmm_c3_rows_of_outs(%x: memref<4x2xf32>, %f: memref<3x2xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects dimension 0 of the outs to be 9, the product of the factor rows, but got 4}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(%f, %f : memref<3x2xf32>, memref<3x2xf32>) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @kmm_c3_overflow(%x: memref<?x?xf32>, %f: memref<2x4294967296xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects the product of the factor columns to fit 63 bits}}
  kron.kmm ins(%x : memref<?x?xf32>) factors(%f, %f : memref<2x4294967296xf32>, memref<2x4294967296xf32>) outs(%x : memref<?x?xf32>)
  return
}

// -----

func.func @kmm_c3_columns(%x: memref<3x4xf32>, %f: memref<4x4xf32>, %y: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects dimension 1 of the outs to be 3, the size in the input, but got 5}}
  kron.kmm ins(T(%x) : memref<3x4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

func.func @kmm_c4_outs(%x: memref<7x4x2xf32>, %f: memref<4x4xf32>, %y: memref<8x4x2xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects dimension 0 of the outs to be 7, the size that the batch dimensions broadcast to, but got 8}}
  kron.kmm ins(%x : memref<7x4x2xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<8x4x2xf32>)
  return
}

// -----

func.func @kmm_c5_shape(%x: memref<4x2xf32>, %f: memref<4x4xf32>, %z: memref<4x3xf32>) {
  // expected-error @+1 {{'kron.kmm' op expects dimension 1 of the addend to be 2, the size in the outs, but got 3}}
  kron.kmm ins(%x : memref<4x2xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<4x2xf32>) addend(%z : memref<4x3xf32>)
  return
}

//===----------------------------------------------------------------------===//
// kron.batched
//===----------------------------------------------------------------------===//

// -----

func.func @batched_c1_no_factor(%x: memref<4x2xf32>) {
  // expected-error @+1 {{'kron.batched' op expects at least one factor, but got none}}
  kron.batched ins(%x : memref<4x2xf32>) factors(:) outs(%x : memref<4x2xf32>)
  return
}

// -----

func.func @batched_c1_axes(%x: memref<4x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.batched' op expects the input to have a rank of at least 3, but got 2}}
  kron.batched ins(%x : memref<4x4xf32>) factors(%f, %f, %f : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  return
}

// -----

func.func @batched_c2_outs(%x: memref<4xf32>, %f: memref<4x4xf32>, %y: memref<4xf64>) {
  // expected-error @+1 {{'kron.batched' op expects the outs to have element type 'f32' as the input, but got 'f64'}}
  kron.batched ins(%x : memref<4xf32>) factors(%f : memref<4x4xf32>) outs(%y : memref<4xf64>)
  return
}

// -----

func.func @batched_c3_columns(%x: memref<9x4x7xf32>, %f: memref<4x4xf32>, %g: memref<7x8xf32>) {
  // expected-error @+1 {{'kron.batched' op expects dimension 2 of the input to be 8, the columns of factor 2, but got 7}}
  kron.batched ins(%x : memref<9x4x7xf32>) factors(%f, %g : memref<4x4xf32>, memref<7x8xf32>) outs(%x : memref<9x4x7xf32>)
  return
}

// -----

func.func @batched_c3_columns_of_transposed(%x: memref<9x7x4xf32>, %f: memref<5x4xf32>, %g: memref<8x6xf32>, %y: memref<9x5x8xf32>) {
  // expected-error @+1 {{'kron.batched' op expects dimension 1 of the input to be 6, the columns of factor 2, but got 7}}
  kron.batched ins(T(%x) : memref<9x7x4xf32>) factors(%f, %g : memref<5x4xf32>, memref<8x6xf32>) outs(%y : memref<9x5x8xf32>)
  return
}

// -----

func.func @batched_c3_rows(%x: memref<4xf32>, %f: memref<5x4xf32>, %y: memref<6xf32>) {
  // expected-error @+1 {{'kron.batched' op expects dimension 0 of the outs to be 5, the rows of factor 1, but got 6}}
  kron.batched ins(%x : memref<4xf32>) factors(%f : memref<5x4xf32>) outs(%y : memref<6xf32>)
  return
}

// -----

func.func @batched_c4_factor(%x: memref<9x4xf32>, %f: memref<8x4x4xf32>) {
  // expected-error @+1 {{'kron.batched' op expects dimension 0 of factor 1 to be 9, the batch size of the arrays before it, or 1, but got 8}}
  kron.batched ins(%x : memref<9x4xf32>) factors(%f : memref<8x4x4xf32>) outs(%x : memref<9x4xf32>)
  return
}

// -----

func.func @batched_c5_shape(%x: memref<4xf32>, %f: memref<4x4xf32>, %z: memref<3xf32>) {
  // expected-error @+1 {{'kron.batched' op expects dimension 0 of the addend to be 4, the size in the outs, but got 3}}
  kron.batched ins(%x : memref<4xf32>) factors(%f : memref<4x4xf32>) outs(%x : memref<4xf32>) addend(%z : memref<3xf32>)
  return
}

//===----------------------------------------------------------------------===//
// kron.ksmm
//===----------------------------------------------------------------------===//

// -----

func.func @ksmm_c1_rank(%x: memref<2x4xf32>, %k: memref<1x4x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the weights to have rank 4, but got 3}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(T(%k) : memref<1x4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @ksmm_c1_size(%x: memref<2x0xf32>, %k: memref<1x4x4x0xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects every dimension of the weights to be at least 1, but got 'memref<1x4x4x0xf32>'}}
  kron.ksmm ins(%x : memref<2x0xf32>) weights(%k : memref<1x4x4x0xf32>) outs(%x : memref<2x0xf32>)
  return
}

// -----

func.func @ksmm_c2_weights(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf16>) {
  // expected-error @+1 {{'kron.ksmm' op expects the weights to have element type 'f32' as the input, but got 'f16'}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf16>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @ksmm_c2_bias(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %b: memref<4xf64>) {
  // expected-error @+1 {{'kron.ksmm' op expects the bias to have element type 'f32' as the input, but got 'f64'}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) bias(%b : memref<4xf64>)
  return
}

// -----

func.func @ksmm_c2_scale(%x: memref<2x4xbf16>, %k: memref<1x4x4x1xbf16>) {
  // expected-error @+1 {{'kron.ksmm' op expects scale to have type 'f32', but got 'bf16'}}
  kron.ksmm ins(%x : memref<2x4xbf16>) weights(%k : memref<1x4x4x1xbf16>) outs(%x : memref<2x4xbf16>) {scale = 2.0 : bf16}
  return
}

// -----

func.func @ksmm_c2_scale_kind(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects scale to be a number, but got dense<2.000000e+00> : tensor<1xf32>}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) {scale = dense<2.0> : tensor<1xf32>}
  return
}

// -----

func.func @ksmm_c3_input_rank(%x: memref<4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<1x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the input to have rank 2, but got 1}}
  kron.ksmm ins(%x : memref<4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%y : memref<1x4xf32>)
  return
}

// -----

func.func @ksmm_c3_outs_rank(%x: memref<1x4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<1x1x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the outs to have rank 2, but got 3}}
  kron.ksmm ins(%x : memref<1x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%y : memref<1x1x4xf32>)
  return
}

// -----

func.func @ksmm_c3_input_features(%x: memref<2x30xf32>, %k: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 1 of the input to be 40, the product a*c*d of the pattern, but got 30}}
  kron.ksmm ins(%x : memref<2x30xf32>) weights(%k : memref<2x3x4x5xf32>) outs(%x : memref<2x30xf32>)
  return
}

// -----

func.func @ksmm_c3_outs_features_of_transposed(%x: memref<30x2xf32>, %k: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 0 of the outs to be 40, the product a*b*d of the pattern, but got 30}}
  kron.ksmm ins(%x : memref<30x2xf32>) weights(T(%k) : memref<2x3x4x5xf32>) outs(%x : memref<30x2xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @ksmm_c3_batch(%x: memref<4x2xf32>, %k: memref<1x4x4x1xf32>, %y: memref<3x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 0 of the outs to be 2, the batch of the input, but got 3}}
  kron.ksmm ins(T(%x) : memref<4x2xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%y : memref<3x4xf32>)
  return
}

// -----

func.func @ksmm_c3_overflow(%x: memref<?x?xf32>, %k: memref<2097152x1x2097152x2097152xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the weights to have at most 2^56 bytes, but got 'memref<2097152x1x2097152x2097152xf32>'}}
  kron.ksmm ins(%x : memref<?x?xf32>) weights(%k : memref<2097152x1x2097152x2097152xf32>) outs(%x : memref<?x?xf32>)
  return
}

// -----

func.func @ksmm_c4_addend(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %z: memref<2x3xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 1 of the addend to be 4, the size in the outs, but got 3}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) addend(%z : memref<2x3xf32>)
  return
}

// -----

func.func @ksmm_c4_residual(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %r: memref<4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the residual to have rank 2, but got 1}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) residual(%r : memref<4xf32>)
  return
}

// -----

func.func @ksmm_c4_bias_rank(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %b: memref<1x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the bias to have rank 1, but got 2}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) bias(%b : memref<1x4xf32>)
  return
}

// -----

func.func @ksmm_c4_bias(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %b: memref<2xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 0 of the bias to be 4, the features of the outs, but got 2}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%x : memref<2x4xf32>) bias(%b : memref<2xf32>)
  return
}

// -----

func.func @ksmm_c5_relu(%x: memref<2x4xcomplex<f32>>, %k: memref<1x4x4x1xcomplex<f32>>) {
  // expected-error @+1 {{'kron.ksmm' op expects real elements for activation relu, but got 'complex<f32>'}}
  kron.ksmm ins(%x : memref<2x4xcomplex<f32>>) weights(%k : memref<1x4x4x1xcomplex<f32>>) outs(%x : memref<2x4xcomplex<f32>>) {activation = #kron.activation<relu>}
  return
}

// -----

func.func @ksmm_c5_silu(%x: memref<2x4xi64>, %k: memref<1x4x4x1xi64>) {
  // expected-error @+1 {{'kron.ksmm' op expects floating-point elements for activation silu, but got 'i64'}}
  kron.ksmm ins(%x : memref<2x4xi64>) weights(%k : memref<1x4x4x1xi64>) outs(%x : memref<2x4xi64>) {activation = #kron.activation<silu>}
  return
}

// -----

func.func @ksmm_c5_gelu(%x: memref<2x4xcomplex<f64>>, %k: memref<1x4x4x1xcomplex<f64>>) {
  // expected-error @+1 {{'kron.ksmm' op expects floating-point elements for activation gelu, but got 'complex<f64>'}}
  kron.ksmm ins(%x : memref<2x4xcomplex<f64>>) weights(%k : memref<1x4x4x1xcomplex<f64>>) outs(%x : memref<2x4xcomplex<f64>>) {activation = #kron.activation<gelu>}
  return
}

// -----

func.func @ksmm_c4_bias_of_dynamic_outs(%x: memref<2x4xf32>, %k: memref<1x4x4x1xf32>, %y: memref<?x?xf32>, %b: memref<2xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects dimension 0 of the bias to be 4, the features of the outs, but got 2}}
  kron.ksmm ins(%x : memref<2x4xf32>) weights(%k : memref<1x4x4x1xf32>) outs(%y : memref<?x?xf32>) bias(%b : memref<2xf32>)
  return
}

//===----------------------------------------------------------------------===//
// kron.ksmm_grad
//===----------------------------------------------------------------------===//

// -----

func.func @ksmm_grad_c1_rank(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the outs to have rank 4, but got 3}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4xf32>)
  return
}

// -----

func.func @ksmm_grad_c1_size(%x: memref<9x40xf32>, %g: memref<9x0xf32>, %d: memref<2x0x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects every dimension of the outs to be at least 1, but got 'memref<2x0x4x5xf32>'}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x0xf32>) outs(%d : memref<2x0x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c2_grad(%x: memref<9x40xf32>, %g: memref<9x30xf16>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the gradient to have element type 'f32' as the input, but got 'f16'}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf16>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c2_outs(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x5xf64>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the outs to have element type 'f32' as the input, but got 'f64'}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x5xf64>)
  return
}

// -----

func.func @ksmm_grad_c2_alpha(%x: memref<9x40xbf16>, %g: memref<9x30xbf16>, %d: memref<2x3x4x5xbf16>, %s: bf16) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects alpha to have type 'f32', but got 'bf16'}}
  kron.ksmm_grad ins(%x : memref<9x40xbf16>) grad(%g : memref<9x30xbf16>) outs(%d : memref<2x3x4x5xbf16>) alpha(%s : bf16)
  return
}

// -----

func.func @ksmm_grad_c3_input_rank(%x: memref<9x40x1xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the input to have rank 2, but got 3}}
  kron.ksmm_grad ins(%x : memref<9x40x1xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c3_grad_rank(%x: memref<9x40xf32>, %g: memref<30xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the gradient to have rank 2, but got 1}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<30xf32>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c3_input_features(%x: memref<9x41xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 1 of the input to be 40, the product a*c*d of the pattern, but got 41}}
  kron.ksmm_grad ins(%x : memref<9x41xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c3_grad_features(%x: memref<9x40xf32>, %g: memref<9x40xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 1 of the gradient to be 30, the product a*b*d of the pattern, but got 40}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x40xf32>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c3_layout(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 0 of the input to be 40, the product a*c*d of the pattern, but got 9}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x5xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @ksmm_grad_c3_batch(%x: memref<9x40xf32>, %g: memref<8x30xf32>, %d: memref<2x3x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 0 of the gradient to be 9, the batch of the input, but got 8}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<8x30xf32>) outs(%d : memref<2x3x4x5xf32>)
  return
}

// -----

func.func @ksmm_grad_c3_overflow(%x: memref<?x?xf32>, %g: memref<?x?xf32>, %d: memref<4294967296x1x4294967296x1xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects the outs to have at most 2^56 bytes, but got 'memref<4294967296x1x4294967296x1xf32>'}}
  kron.ksmm_grad ins(%x : memref<?x?xf32>) grad(%g : memref<?x?xf32>) outs(%d : memref<4294967296x1x4294967296x1xf32>)
  return
}

// -----

func.func @ksmm_grad_c4_addend(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x5xf32>, %z: memref<2x3x4x6xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 3 of the addend to be 5, the size in the outs, but got 6}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x5xf32>) beta(1.0 : f32) addend(%z : memref<2x3x4x6xf32>)
  return
}

// -----

func.func @ksmm_grad_c1_pattern_rank(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<1x3x4x1xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects product_pattern to have 4 entries, but got 3}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<1x3x4x1xf32>) {product_pattern = array<i64: 2, 3, 4>}
  return
}

// -----

func.func @ksmm_grad_c1_pattern_size(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<1x3x4x1xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects entry 3 of product_pattern to be at least 1, but got 0}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<1x3x4x1xf32>) {product_pattern = array<i64: 2, 3, 4, 0>}
  return
}

// -----

func.func @ksmm_grad_c1_pattern_shared(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x3x4x2xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 3 of the outs to be 5, as in product_pattern, or 1, but got 2}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x3x4x2xf32>) {product_pattern = array<i64: 2, 3, 4, 5>}
  return
}

// -----

func.func @ksmm_grad_c1_pattern_kept(%x: memref<9x40xf32>, %g: memref<9x30xf32>, %d: memref<2x1x4x5xf32>) {
  // expected-error @+1 {{'kron.ksmm_grad' op expects dimension 1 of the outs to be 3, as in product_pattern, but got 1}}
  kron.ksmm_grad ins(%x : memref<9x40xf32>) grad(%g : memref<9x30xf32>) outs(%d : memref<2x1x4x5xf32>) {product_pattern = array<i64: 2, 3, 4, 5>}
  return
}

//===----------------------------------------------------------------------===//
// kron.factor_grad
//===----------------------------------------------------------------------===//

// -----

func.func @factor_grad_c1_index(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects index to be from 0 to 1, but got 2}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) {index = 2 : i64}
  return
}

// -----

func.func @factor_grad_c1_transposes(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects trans_factors to have 1 entries, one per other factor, but got 2}}
  "kron.factor_grad"(%x, %g, %f, %d) {index = 0 : i64, trans_factors = [#kron.transpose<N>, #kron.transpose<T>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>} : (memref<9x6xf32>, memref<9x20xf32>, memref<2x4xf32>, memref<3x5xf32>) -> ()
  return
}

// -----

func.func @factor_grad_c1_rank(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<1x2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects other factor 1 to have rank 2, but got 3}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<1x2x4xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c1_size(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<2x0xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects other factor 1 to have at least 1 row and 1 column, but got 'memref<2x0xf32>'}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x0xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c2(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<2x4xf16>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects other factor 1 to have element type 'f32' as the input, but got 'f16'}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x4xf16>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c3_input(%x: memref<9x7xf32>, %g: memref<9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects dimension 1 of the input to be 6, the product of what the factors contract, but got 7}}
  kron.factor_grad ins(%x : memref<9x7xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c3_grad(%x: memref<9x6xf32>, %g: memref<9x6xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects dimension 1 of the gradient to be 20, the product of what the factors result in, but got 6}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<9x6xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c3_layout(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<4x2xf32>, %d: memref<5x3xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects dimension 1 of the gradient to be 6, the size in the input, but got 20}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<4x2xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<5x3xf32>) {index = 0 : i64, layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @factor_grad_c3_overflow(%x: memref<?x?xf32>, %g: memref<?x?xf32>, %f: memref<4294967296x1xf32>, %d: memref<4294967296x1xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects the product of the sizes of the factors to fit 63 bits}}
  kron.factor_grad ins(%x : memref<?x?xf32>) factors(%f : memref<4294967296x1xf32>) grad(%g : memref<?x?xf32>) outs(%d : memref<4294967296x1xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c4_input_rank(%x: memref<6xf32>, %g: memref<20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects the input to have a rank of at least 2, but got 1}}
  kron.factor_grad ins(%x : memref<6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c4_grad_rank(%x: memref<9x6xf32>, %g: memref<1x9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects the gradient to have rank 2, but got 3}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<1x9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c4_batch(%x: memref<2x9x6xf32>, %g: memref<1x9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects dimension 0 of the gradient to be 2, the size in the input, but got 1}}
  kron.factor_grad ins(%x : memref<2x9x6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<1x9x20xf32>) outs(%d : memref<3x5xf32>) {index = 0 : i64}
  return
}

// -----

func.func @factor_grad_c5(%x: memref<9x6xf32>, %g: memref<9x20xf32>, %f: memref<2x4xf32>, %d: memref<3x5xf32>, %z: memref<5x3xf32>) {
  // expected-error @+1 {{'kron.factor_grad' op expects dimension 0 of the addend to be 3, the size in the outs, but got 5}}
  kron.factor_grad ins(%x : memref<9x6xf32>) factors(%f : memref<2x4xf32>) grad(%g : memref<9x20xf32>) outs(%d : memref<3x5xf32>) beta(1.0 : f32) addend(%z : memref<5x3xf32>) {index = 0 : i64}
  return
}

//===----------------------------------------------------------------------===//
// kron.bias_grad
//===----------------------------------------------------------------------===//

// -----

func.func @bias_grad_c1(%g: memref<9x20xf32>, %d: memref<20xf64>) {
  // expected-error @+1 {{'kron.bias_grad' op expects the outs to have element type 'f32' as the gradient, but got 'f64'}}
  kron.bias_grad ins(%g : memref<9x20xf32>) outs(%d : memref<20xf64>)
  return
}

// -----

func.func @bias_grad_c1_wide(%g: memref<9x20xbf16>, %d: memref<20xf16>) {
  // expected-error @+1 {{'kron.bias_grad' op expects the outs to have element type 'bf16' or 'f32' as the gradient, but got 'f16'}}
  kron.bias_grad ins(%g : memref<9x20xbf16>) outs(%d : memref<20xf16>)
  return
}

// -----

func.func @bias_grad_c1_addend(%g: memref<9x20xbf16>, %d: memref<20xf32>, %z: memref<20xbf16>) {
  // expected-error @+1 {{'kron.bias_grad' op expects the addend to have element type 'f32' as the outs, but got 'bf16'}}
  kron.bias_grad ins(%g : memref<9x20xbf16>) outs(%d : memref<20xf32>) beta(1.0 : f32) addend(%z : memref<20xbf16>)
  return
}

// -----

func.func @bias_grad_c2_rank(%g: memref<20xf32>, %d: memref<20xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op expects the gradient to have rank 2, but got 1}}
  kron.bias_grad ins(%g : memref<20xf32>) outs(%d : memref<20xf32>)
  return
}

// -----

func.func @bias_grad_c2_features(%g: memref<9x20xf32>, %d: memref<20xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op expects dimension 0 of the outs to be 9, the features of the gradient, but got 20}}
  kron.bias_grad ins(%g : memref<9x20xf32>) outs(%d : memref<20xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @bias_grad_c3(%g: memref<9x20xf32>, %d: memref<20xf32>, %z: memref<9xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op expects dimension 0 of the addend to be 20, the size in the outs, but got 9}}
  kron.bias_grad ins(%g : memref<9x20xf32>) outs(%d : memref<20xf32>) beta(1.0 : f32) addend(%z : memref<9xf32>)
  return
}

// -----

func.func @bias_grad_c4_cpu(%g: memref<9x20xf32>, %d: memref<20xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op expects no plan, since no fused region is made of it, but got #kron.cpu_plan<tile = 8>}}
  kron.bias_grad ins(%g : memref<9x20xf32>) outs(%d : memref<20xf32>) {plan = #kron.cpu_plan<tile = 8>}
  return
}

// -----

func.func @bias_grad_c4_gpu(%g: memref<9x20xf32>, %d: memref<20xf32>) {
  // expected-error @+1 {{'kron.bias_grad' op expects no plan, since no fused region is made of it, but got #kron.gpu_plan<kernel = simt>}}
  kron.bias_grad ins(%g : memref<9x20xf32>) outs(%d : memref<20xf32>) {plan = #kron.gpu_plan<kernel = simt>}
  return
}

//===----------------------------------------------------------------------===//
// kron.mode_product
//===----------------------------------------------------------------------===//

// -----

func.func @mode_product_c1_rank(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the outs to have rank 2, but got 1}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

func.func @mode_product_c1_axis(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects axis to be in [0, 2), but got 2}}
  kron.mode_product axis(2) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c1_negative_axis(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects axis to be in [0, 2), but got -1}}
  kron.mode_product axis(-1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c1_rank_zero(%x: memref<f32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects axis to be in [0, 0), but got 0}}
  kron.mode_product axis(0) ins(%x : memref<f32>) factor(%f [p, q] : memref<4x4xf32>) outs(%x : memref<f32>)
  return
}

// -----

func.func @mode_product_c1_size(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<3x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the outs to be 2, the size in the input, but got 3}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x4xf32>) outs(%y : memref<3x4xf32>)
  return
}

// -----

func.func @mode_product_c2_count(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects factor_dims to have 2 entries, one per dimension of the factor, but got 3}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [0, p, q] : memref<4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_no_p(%x: memref<2x4xf32>, %f: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects factor_dims to contain `p` exactly once, but got 0 times}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [0, q] : memref<4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_two_q(%x: memref<2x4xf32>, %f: memref<4x4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects factor_dims to contain `q` exactly once, but got 2 times}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [q, p, q] : memref<4x4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_range(%x: memref<2x4xf32>, %f: memref<4x4x2xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the axes in factor_dims to be in [0, 2), but got 5}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q, 5] : memref<4x4x2xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_negative(%x: memref<2x4xf32>, %f: memref<4x4x2xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the axes in factor_dims to be in [0, 2), but got -7}}
  "kron.mode_product"(%x, %f, %x) <{axis = 1 : i64, factor_dims = array<i64: -1, -2, -7>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>}>
    : (memref<2x4xf32>, memref<4x4x2xf32>, memref<2x4xf32>) -> ()
  return
}

// -----

func.func @mode_product_c2_negative_in_assembly(%x: memref<2x4xf32>, %f: memref<4x4x2xf32>) {
  // expected-error @+1 {{expects `p`, `q` or an axis number >= 0}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q, -3] : memref<4x4x2xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_axis(%x: memref<2x4xf32>, %f: memref<4x4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects factor_dims to name the contracted axis 1 as `p` or `q` only}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q, 1] : memref<4x4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c2_twice(%x: memref<2x4xf32>, %f: memref<2x4x4x2xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects factor_dims to contain axis 0 at most once, but got 2 times}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [0, p, q, 0] : memref<2x4x4x2xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c3_p(%x: memref<2x4xf32>, %f: memref<5x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the factor to be 4, the size of the contracted axis of the input, but got 5}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<5x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c3_contracted_one(%x: memref<2x1xf32>, %f: memref<5x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the factor to be 1, the size of the contracted axis of the input, but got 5}}
  kron.mode_product axis(1) ins(%x : memref<2x1xf32>) factor(%f [p, q] : memref<5x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c3_q(%x: memref<2x4xf32>, %f: memref<5x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the factor to be 4, the size of the resulting axis of the outs, but got 5}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [q, p] : memref<5x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c3_other(%x: memref<2x4xf32>, %f: memref<3x4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the factor to be 2, the size of axis 0 of the outs, or 1, but got 3}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [0, p, q] : memref<3x4x4xf32>) outs(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c4_input(%x: memref<2x4xf64>, %f: memref<4x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the input to have element type 'f32' as the factor, but got 'f64'}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf64>) factor(%f [p, q] : memref<4x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c4_outs(%x: memref<2x4xf16>, %f: memref<4x4xf16>, %y: memref<2x4xbf16>) {
  // expected-error @+1 {{'kron.mode_product' op expects the outs to have element type 'f16' or 'f32' as the factor, but got 'bf16'}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf16>) factor(%f [p, q] : memref<4x4xf16>) outs(%y : memref<2x4xbf16>)
  return
}

// -----

func.func @mode_product_c4_alpha(%x: memref<2x4xf16>, %f: memref<4x4xf16>) {
  // expected-error @+1 {{'kron.mode_product' op expects alpha to have type 'f32', but got 'f16'}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf16>) factor(%f [p, q] : memref<4x4xf16>) outs(%x : memref<2x4xf16>) alpha(2.0 : f16)
  return
}

// -----

func.func @mode_product_c5_type(%x: memref<2x4xf16>, %f: memref<4x4xf16>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the addend to have element type 'f32' as the outs, but got 'f16'}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf16>) factor(%f [p, q] : memref<4x4xf16>) outs(%y : memref<2x4xf32>) addend(%x : memref<2x4xf16>)
  return
}

// -----

func.func @mode_product_c5_shape(%x: memref<2x4xf32>, %f: memref<4x5xf32>, %y: memref<2x5xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 1 of the addend to be 5, the size in the outs, but got 4}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x5xf32>) outs(%y : memref<2x5xf32>) addend(%x : memref<2x4xf32>)
  return
}

// -----

func.func @mode_product_c3_other_of_dynamic_outs(%x: memref<2x4xf32>, %f: memref<3x4x4xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 0 of the factor to be 2, the size of axis 0 of the outs, or 1, but got 3}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [0, p, q] : memref<3x4x4xf32>) outs(%y : memref<?x?xf32>)
  return
}

// -----

func.func @mode_product_c5_shape_of_dynamic_outs(%x: memref<2x4xf32>, %f: memref<4x5xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects dimension 1 of the addend to be 5, the size in the outs, but got 4}}
  kron.mode_product axis(1) ins(%x : memref<2x4xf32>) factor(%f [p, q] : memref<4x5xf32>) outs(%y : memref<?x?xf32>) addend(%x : memref<2x4xf32>)
  return
}

//===----------------------------------------------------------------------===//
// kron.fused
//===----------------------------------------------------------------------===//

// -----

func.func @fused_c1_no_input(%y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects at least one operand in ins, but got none}}
  "kron.fused"(%y) ({
  ^bb0(%out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%out : tensor<4x4xf32>) factor(%out [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }) : (memref<4x4xf32>) -> ()
  return
}

// -----

func.func @fused_mixed(%x: memref<4x4xf32>, %y: tensor<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects all arrays to be tensors or all to be memrefs, but got 'memref<4x4xf32>' for input 0 and 'tensor<4x4xf32>' for the outs}}
  %0 = kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : tensor<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return
}

// -----

func.func @fused_c2_permutation(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects input_permutation to be a permutation of the 2 axes of the first input, but got [0, 0]}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) attributes {input_permutation = array<i64: 0, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c2_permutation_length(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects input_permutation to be a permutation of the 2 axes of the first input, but got [0, 1, 2]}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) attributes {input_permutation = array<i64: 0, 1, 2>} {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c2_count(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects 3 block arguments, one per operand, but got 2}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%tx : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c2_type(%x: memref<2x4xf32>, %f: memref<4x4xf32>, %y: memref<4x2xf32>) {
  // expected-error @+1 {{'kron.fused' op expects block argument 0 to have type 'tensor<4x2xf32>', but got 'tensor<2x4xf32>'}}
  kron.fused ins(%x, %f : memref<2x4xf32>, memref<4x4xf32>) outs(%y : memref<4x2xf32>) attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<2x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<2x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<2x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>) outs(%out : tensor<2x4xf32>) -> tensor<2x4xf32>
    kron.yield %1 : tensor<2x4xf32>
  }
  return
}

// -----

func.func @fused_c3_empty(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects at least one kron.mode_product in its region, but got none}}
  kron.fused ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    kron.yield %tx : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_other_op(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects only kron.mode_product, kron.epilogue, tensor.empty, reshapes and scalar operations in its region, but got 'arith.addf'}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %0 = arith.addf %f, %f : tensor<4x4xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_memref(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects mode product 1 to be on tensors, but got 'memref<4x4xf32>'}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    kron.mode_product axis(0) ins(%x : memref<4x4xf32>) factor(%x [p, q] : memref<4x4xf32>) outs(%x : memref<4x4xf32>)
    kron.yield %out : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_first_input(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects mode product 1 to be applied to the first block argument}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%f : tensor<4x4xf32>) factor(%tx [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_chain(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects mode product 2 to be applied to the result of the one before}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_factor(%x: tensor<4x4xf32>, %g: tensor<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the factor of mode product 1 to be an argument of its region}}
  %0 = kron.fused ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%g [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return
}

// -----

func.func @fused_c3_addend(%x: tensor<4x4xf32>, %g: tensor<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the addend of mode product 1 to be an argument of its region}}
  %0 = kron.fused ins(%x : tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%tx [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) beta(1.0 : f32) addend(%g : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return
}

// -----

func.func @fused_c3_scaling(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects only the last mode product to have alpha, beta or an addend, but number 1 has}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) alpha(2.0 : f32) -> tensor<4x4xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_reshaped_input(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects mode product 1 to be applied to the first block argument}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %0 = tensor.collapse_shape %tx [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_reshape_of_other(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects mode product 2 to be applied to the result of the one before}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = tensor.collapse_shape %tx [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %3 = tensor.expand_shape %2 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    %4 = kron.mode_product axis(1) ins(%3 : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %4 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_reshape_used_twice(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the result of mode product 1 to be used only by the next one}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %3 = tensor.expand_shape %2 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    %4 = kron.mode_product axis(1) ins(%3 : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%3 : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %4 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_second_use(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the result of mode product 1 to be used only by the next one}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%1 : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c4_value(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects kron.yield to give the result of the last mode product}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %out : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c4_epilogue(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects kron.yield to give the result of its kron.epilogue}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %out : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c4_type(%x: memref<4x4xf32>, %f: memref<4x5xf32>) {
  // expected-error @+1 {{'kron.fused' op expects kron.yield to give 'tensor<4x4xf32>', the type of the last block argument, but got 'tensor<4x5xf32>'}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x5xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x5xf32>, %out: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x5xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tf [p, q] : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
    kron.yield %1 : tensor<4x5xf32>
  }
  return
}

// -----

func.func @fused_c4_terminator(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its region to end with kron.yield, but got 'ub.unreachable'}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    ub.unreachable
  }
  return
}

// -----

func.func @fused_no_block(%x: memref<4x4xf32>) {
  // expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "kron.fused"(%x, %x) ({}) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}

// -----

func.func @yield_outside(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'kron.yield' op expects parent op 'kron.fused'}}
  kron.yield %x : tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// kron.epilogue
//===----------------------------------------------------------------------===//

// -----

func.func @epilogue_mixed(%v: tensor<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects all arrays to be tensors or all to be memrefs, but got 'tensor<4x8xf32>' for the input and 'memref<4x8xf32>' for the outs}}
  kron.epilogue ins(%v : tensor<4x8xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c1_input(%v: memref<4x7xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects dimension 1 of the input to be 8, the size in the outs, but got 7}}
  kron.epilogue ins(%v : memref<4x7xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c1_residual(%r: memref<5x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects dimension 0 of the residual to be 4, the size in the outs, but got 5}}
  kron.epilogue ins(%y : memref<4x8xf32>) residual(%r : memref<5x8xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c2_input(%v: memref<4x8xf64>, %y: memref<4x8xf16>) {
  // expected-error @+1 {{'kron.epilogue' op expects the input to have element type 'f16' or 'f32' as the outs, but got 'f64'}}
  kron.epilogue ins(%v : memref<4x8xf64>) outs(%y : memref<4x8xf16>)
  return
}

// -----

func.func @epilogue_c2_bias(%b: memref<8xf64>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects the bias to have element type 'f32' as the outs, but got 'f64'}}
  kron.epilogue ins(%y : memref<4x8xf32>) bias(%b [1] : memref<8xf64>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c2_scale(%y: memref<4x8xf16>) {
  // expected-error @+1 {{'kron.epilogue' op expects scale to have type 'f32', but got 'f16'}}
  kron.epilogue ins(%y : memref<4x8xf16>) outs(%y : memref<4x8xf16>) {scale = 2.0 : f16}
  return
}

// -----

func.func @epilogue_c3_count(%b: memref<8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects one axis for each of the 1 dimensions of the bias, but got 2}}
  kron.epilogue ins(%y : memref<4x8xf32>) bias(%b [0, 1] : memref<8xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c3_range(%b: memref<8xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects the axes of the bias to be in [0, 2), but got 2}}
  kron.epilogue ins(%y : memref<4x8xf32>) bias(%b [2] : memref<8xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c3_twice(%b: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects the bias to name axis 1 once, but got 2 times}}
  kron.epilogue ins(%y : memref<4x4xf32>) bias(%b [1, 1] : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @epilogue_c3_size(%b: memref<4xf32>, %y: memref<4x8xf32>) {
  // expected-error @+1 {{'kron.epilogue' op expects dimension 0 of the bias to be 8, the size of axis 1 of the outs, but got 4}}
  kron.epilogue ins(%y : memref<4x8xf32>) bias(%b [1] : memref<4xf32>) outs(%y : memref<4x8xf32>)
  return
}

// -----

func.func @epilogue_c4_gelu(%y: memref<4x8xi32>) {
  // expected-error @+1 {{'kron.epilogue' op expects floating-point elements for activation gelu, but got 'i32'}}
  kron.epilogue ins(%y : memref<4x8xi32>) outs(%y : memref<4x8xi32>) {activation = #kron.activation<gelu>}
  return
}

// -----

func.func @epilogue_c4_relu(%y: memref<4x8xcomplex<f32>>) {
  // expected-error @+1 {{'kron.epilogue' op expects real elements for activation relu, but got 'complex<f32>'}}
  kron.epilogue ins(%y : memref<4x8xcomplex<f32>>) outs(%y : memref<4x8xcomplex<f32>>) {activation = #kron.activation<relu>}
  return
}

// -----

func.func @fused_c3_epilogue_memref(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its kron.epilogue to be on tensors, but got 'memref<4x4xf32>'}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.epilogue ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>)
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_input(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its kron.epilogue to be applied to the result of the last mode product}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%tx : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_twice(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the result of the last mode product to be used only by its kron.epilogue}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    %3 = kron.epilogue ins(%1 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_bias(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the bias of its kron.epilogue to be an argument of its region}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) bias(%e [0, 1] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_residual(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the residual of its kron.epilogue to be an argument of its region}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) residual(%e : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_beta(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the last mode product to have an addend for its beta before a kron.epilogue}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) beta(1.0 : f32) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c3_epilogue_yield(%x: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects the result of the last mode product to be used only by its kron.epilogue}}
  kron.fused ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%tx: tensor<4x4xf32>, %f: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<4x4xf32>) factor(%f [p, q] : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {activation = #kron.activation<relu>} -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// 8 bits
//===----------------------------------------------------------------------===//

func.func @ksmm_c2_float8_integers(%x: memref<4x4xf8E4M3FN>, %k: memref<1x4x4x1xi32>, %y: memref<4x4xi32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the outs to have floating-point elements beside an input of 'f8E4M3FN', but got 'i32'}}
  kron.ksmm ins(%x : memref<4x4xf8E4M3FN>) weights(%k : memref<1x4x4x1xi32>) outs(%y : memref<4x4xi32>)
  return
}

// -----

func.func @ksmm_c2_float8_weights(%x: memref<4x4xcomplex<f32>>, %k: memref<1x4x4x1xf8E5M2>, %y: memref<4x4xcomplex<f32>>) {
  // expected-error @+1 {{'kron.ksmm' op expects the outs to have floating-point elements beside weights of 'f8E5M2', but got 'complex<f32>'}}
  kron.ksmm ins(%x : memref<4x4xcomplex<f32>>) weights(%k : memref<1x4x4x1xf8E5M2>) outs(%y : memref<4x4xcomplex<f32>>)
  return
}

// -----

func.func @ksmm_c2_float8_mixed(%x: memref<4x4xf8E4M3FN>, %k: memref<1x4x4x1xf16>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.ksmm' op expects the weights to have element type 'f32' as the outs, f8E4M3FN or f8E5M2, but got 'f16'}}
  kron.ksmm ins(%x : memref<4x4xf8E4M3FN>) weights(%k : memref<1x4x4x1xf16>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @ksmm_c2_float8_bias(%x: memref<4x4xf8E4M3FN>, %k: memref<1x4x4x1xf16>, %b: memref<4xf32>, %y: memref<4x4xf16>) {
  // expected-error @+1 {{'kron.ksmm' op expects the bias to have element type 'f16' as the outs, but got 'f32'}}
  kron.ksmm ins(%x : memref<4x4xf8E4M3FN>) weights(%k : memref<1x4x4x1xf16>) outs(%y : memref<4x4xf16>) bias(%b : memref<4xf32>)
  return
}

// -----

func.func @ksmm_float8_outs(%x: memref<4x4xf8E4M3FN>, %k: memref<1x4x4x1xf8E4M3FN>) {
  // expected-error @+1 {{'kron.ksmm' op operand #2 must be ranked tensor or strided memref of kron elements, but got 'memref<4x4xf8E4M3FN>'}}
  kron.ksmm ins(%x : memref<4x4xf8E4M3FN>) weights(%k : memref<1x4x4x1xf8E4M3FN>) outs(%x : memref<4x4xf8E4M3FN>)
  return
}

// -----

func.func @mkm_float8(%x: memref<4x4xf8E4M3FN>, %f: memref<4x4xf16>, %y: memref<4x4xf16>) {
  // expected-error @+1 {{'kron.mkm' op operand #0 must be ranked tensor or strided memref of kron elements, but got 'memref<4x4xf8E4M3FN>'}}
  kron.mkm ins(%x : memref<4x4xf8E4M3FN>) factors(%f : memref<4x4xf16>) outs(%y : memref<4x4xf16>)
  return
}

// -----

func.func @mode_product_c4_float8(%x: memref<4x4xf8E4M3FN>, %f: memref<4x4xi32>, %y: memref<4x4xi32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the input to have element type 'i32' as the factor, but got 'f8E4M3FN'}}
  kron.mode_product axis(1) ins(%x : memref<4x4xf8E4M3FN>) factor(%f [p, q] : memref<4x4xi32>) outs(%y : memref<4x4xi32>)
  return
}

// -----

func.func @mode_product_c4_float8_outs(%f: memref<4x4xf16>, %y: memref<4x4xbf16>) {
  // expected-error @+1 {{'kron.mode_product' op expects the outs to have element type 'f16' or 'f32' as the factor, but got 'bf16'}}
  kron.mode_product axis(1) ins(%f : memref<4x4xf16>) factor(%f [p, q] : memref<4x4xf16>) outs(%y : memref<4x4xbf16>)
  return
}

// -----

func.func @quantize_kinds(%v: memref<4x4xf16>, %q: memref<4x4xi8>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects all arrays to be tensors or all to be memrefs, but got 'memref<4x4xf16>' for the input and 'tensor<4xf32>' for the scales}}
  kron.quantize ins(%v : memref<4x4xf16>) outs(%q, %s : memref<4x4xi8>, tensor<4xf32>)
  return
}

// -----

func.func @quantize_input(%v: memref<4x4xi32>, %q: memref<4x4xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op operand #0 must be ranked tensor or strided memref of f32, f64, f16 or bf16, but got 'memref<4x4xi32>'}}
  kron.quantize ins(%v : memref<4x4xi32>) outs(%q, %s : memref<4x4xi8>, memref<4xf32>)
  return
}

// -----

func.func @quantize_outs(%v: memref<4x4xf16>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op operand #1 must be ranked tensor or strided memref of i8, f8E4M3FN or f8E5M2, but got 'memref<4x4xf16>'}}
  kron.quantize ins(%v : memref<4x4xf16>) outs(%v, %s : memref<4x4xf16>, memref<4xf32>)
  return
}

// -----

func.func @quantize_c1_rank(%v: memref<4x4xf16>, %q: memref<4xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects the input to have rank 1, but got 2}}
  kron.quantize ins(%v : memref<4x4xf16>) outs(%q, %s : memref<4xi8>, memref<4xf32>)
  return
}

// -----

func.func @quantize_c1_shape(%v: memref<4x4xf16>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects dimension 1 of the input to be 8, the size in the outs, but got 4}}
  kron.quantize ins(%v : memref<4x4xf16>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>)
  return
}

// -----

func.func @quantize_c1_scales_rank(%v: memref<4x4xf16>, %q: memref<4x4xi8>, %s: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects the scales to have a rank of less than 2, that of the input, but got 2}}
  kron.quantize ins(%v : memref<4x4xf16>) outs(%q, %s : memref<4x4xi8>, memref<4x4xf32>)
  return
}

// -----

func.func @quantize_c2_scales(%v: memref<4x8xf16>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects dimension 0 of the scales to be 8, the size of dimension 1 of the input, but got 4}}
  kron.quantize ins(%v : memref<4x8xf16>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>) {layout = #kron.layout<batch_last>}
  return
}

// -----

func.func @quantize_c3_scales_type(%v: memref<4x8xbf16>, %q: memref<4x8xi8>, %s: memref<4xbf16>) {
  // expected-error @+1 {{'kron.quantize' op expects the scales to have element type 'f32' for an input of 'bf16', but got 'bf16'}}
  kron.quantize ins(%v : memref<4x8xbf16>) outs(%q, %s : memref<4x8xi8>, memref<4xbf16>)
  return
}

// -----

func.func @quantize_c4_plan(%v: memref<4x8xf16>, %q: memref<4x8xi8>, %s: memref<4xf32>) {
  // expected-error @+1 {{'kron.quantize' op expects a plan of kernel quantize, but got simt}}
  kron.quantize ins(%v : memref<4x8xf16>) outs(%q, %s : memref<4x8xi8>, memref<4xf32>) {plan = #kron.gpu_plan<kernel = simt>}
  return
}

// -----

func.func @mode_product_c4_float8_integers(%x: memref<4x4xi32>, %f: memref<4x4xf8E4M3FN>, %y: memref<4x4xi32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the input to have element type 'f8E4M3FN' as the factor, but got 'i32'}}
  kron.mode_product axis(1) ins(%x : memref<4x4xi32>) factor(%f [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<4x4xi32>)
  return
}

// -----

func.func @mode_product_c4_float8_wider(%x: memref<4x4xf64>, %f: memref<4x4xf8E4M3FN>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.mode_product' op expects the outs to have element type 'f64' as the factor, but got 'f32'}}
  kron.mode_product axis(1) ins(%x : memref<4x4xf64>) factor(%f [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<4x4xf32>)
  return
}

// -----

func.func @fused_c5_contracted(%x: tensor<9x1xf32>, %g: tensor<9x9xf32>, %f: tensor<13x13xf32>, %y: tensor<9x13xf32>) -> tensor<9x13xf32> {
  // expected-error @+1 {{'kron.fused' op expects no mode product to contract an axis that another one stretches, nor to stretch one of regrouped axes, but got number 2}}
  %0 = kron.fused ins(%x, %g, %f : tensor<9x1xf32>, tensor<9x9xf32>, tensor<13x13xf32>) outs(%y : tensor<9x13xf32>) {
  ^bb0(%tx: tensor<9x1xf32>, %tg: tensor<9x9xf32>, %tf: tensor<13x13xf32>, %out: tensor<9x13xf32>):
    %e = tensor.empty() : tensor<9x13xf32>
    %1 = kron.mode_product axis(0) ins(%tx : tensor<9x1xf32>) factor(%tg [p, q] : tensor<9x9xf32>)
           outs(%e : tensor<9x13xf32>) -> tensor<9x13xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<9x13xf32>) factor(%tf [p, q] : tensor<13x13xf32>)
           outs(%out : tensor<9x13xf32>) -> tensor<9x13xf32>
    kron.yield %2 : tensor<9x13xf32>
  } -> tensor<9x13xf32>
  return %0 : tensor<9x13xf32>
}

// -----

func.func @fused_c5_regrouped(%x: tensor<1x6xf32>, %f: tensor<6x6xf32>, %g: tensor<2x2xf32>, %y: tensor<5x2x3xf32>) -> tensor<5x2x3xf32> {
  // expected-error @+1 {{'kron.fused' op expects no mode product to contract an axis that another one stretches, nor to stretch one of regrouped axes, but got number 2}}
  %0 = kron.fused ins(%x, %f, %g : tensor<1x6xf32>, tensor<6x6xf32>, tensor<2x2xf32>) outs(%y : tensor<5x2x3xf32>) {
  ^bb0(%tx: tensor<1x6xf32>, %tf: tensor<6x6xf32>, %tg: tensor<2x2xf32>, %out: tensor<5x2x3xf32>):
    %e = tensor.empty() : tensor<5x6xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<1x6xf32>) factor(%tf [p, q] : tensor<6x6xf32>)
           outs(%e : tensor<5x6xf32>) -> tensor<5x6xf32>
    %v = tensor.expand_shape %1 [[0], [1, 2]] output_shape [5, 2, 3] : tensor<5x6xf32> into tensor<5x2x3xf32>
    %2 = kron.mode_product axis(1) ins(%v : tensor<5x2x3xf32>) factor(%tg [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
    kron.yield %2 : tensor<5x2x3xf32>
  } -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}

// -----

func.func @fused_c6_factor(%x: memref<4x4xf32>, %f: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its first operand, which input_permutation permutes, only as the array that the mode products are applied to, but got it as the factor of mode product 1}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tx [p, q] : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c6_addend(%x: memref<4x4xf32>, %f: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its first operand, which input_permutation permutes, only as the array that the mode products are applied to, but got it as the addend of mode product 1}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) beta(2.0 : f32) addend(%tx : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c6_outs(%x: memref<4x4xf32>, %f: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its first operand, which input_permutation permutes, only as the array that the mode products are applied to, but got it as the outs of mode product 1, which beta reads}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
           outs(%tx : tensor<4x4xf32>) beta(2.0 : f32) -> tensor<4x4xf32>
    kron.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c6_bias(%x: memref<4x4xf32>, %f: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its first operand, which input_permutation permutes, only as the array that the mode products are applied to, but got it as the bias of its kron.epilogue}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) bias(%tx [0, 1] : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @fused_c6_residual(%x: memref<4x4xf32>, %f: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'kron.fused' op expects its first operand, which input_permutation permutes, only as the array that the mode products are applied to, but got it as the residual of its kron.epilogue}}
  kron.fused ins(%x, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  ^bb0(%tx: tensor<4x4xf32>, %tf: tensor<4x4xf32>, %out: tensor<4x4xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4x4xf32>) factor(%tf [p, q] : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = kron.epilogue ins(%1 : tensor<4x4xf32>) residual(%tx : tensor<4x4xf32>)
           outs(%out : tensor<4x4xf32>) -> tensor<4x4xf32>
    kron.yield %2 : tensor<4x4xf32>
  }
  return
}
