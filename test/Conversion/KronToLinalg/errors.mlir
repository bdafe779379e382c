// RUN: kron-opt --convert-kron-to-linalg --split-input-file --verify-diagnostics %s

// Verify that a scale which depends on what only exists in a fused region is rejected.
func.func @fused_scale_from_destination(%x: memref<3x2xf32>, %f: memref<2x2xf32>,
                                       %y: memref<3x2xf32>) {
  // expected-error @below {{'kron.fused' op has no lowering to linalg}}
  kron.fused ins(%x, %f : memref<3x2xf32>, memref<2x2xf32>) outs(%y : memref<3x2xf32>) {
  ^bb0(%tx: tensor<3x2xf32>, %a: tensor<2x2xf32>, %out: tensor<3x2xf32>):
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<3x2xf32>
    %size = tensor.dim %e, %c0 : tensor<3x2xf32>
    %size_i32 = arith.index_cast %size : index to i32
    %alpha = arith.sitofp %size_i32 : i32 to f32
    %1 = kron.mode_product axis(1) ins(%tx : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<3x2xf32>) factor(%a [p, q] : tensor<2x2xf32>)
           outs(%out : tensor<3x2xf32>) alpha(%alpha : f32) -> tensor<3x2xf32>
    kron.yield %2 : tensor<3x2xf32>
  }
  return
}

// -----

// Verify that sizes which a cast hides may not contradict those that are known.
func.func @hidden_by_cast(%x: memref<4x1xi32>, %a: memref<1x2xi32>, %y: memref<2x1xi32>) {
  // expected-note @below {{operand 1 is 'memref<1x2xi32>' by its definition, 'memref<?x?xi32>' by its type}}
  // expected-note @below {{operand 2 is 'memref<1x2xi32>' by its definition}}
  %cast = memref.cast %a : memref<1x2xi32> to memref<?x?xi32>
  // expected-error @below {{'kron.kmm' op expects dimension 0 of the input to be 2, the product of the factor columns, but got 4}}
  kron.kmm ins(%x : memref<4x1xi32>) factors(%cast, T(%cast) : memref<?x?xi32>, memref<?x?xi32>) outs(%y : memref<2x1xi32>)
  return
}

// -----

// Verify that those of an allocation, and of destinations, may not either.
func.func @hidden_by_allocation(%x: memref<4x4xf32>, %a: memref<2x3xf32>) -> memref<?x?xf32> {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{operand 3 is 'memref<4x8xf32>' by its definition, 'memref<?x?xf32>' by its type}}
  %y = memref.alloc(%c4, %c8) : memref<?x?xf32>
  // expected-error @below {{'kron.mkm' op expects dimension 1 of the outs to be 9, the product of the factor columns, but got 8}}
  kron.mkm ins(%x : memref<4x4xf32>) factors(%a, %a : memref<2x3xf32>, memref<2x3xf32>) outs(%y : memref<?x?xf32>)
  return %y : memref<?x?xf32>
}

// -----

// Verify the same of operations with a region, in which types do not depend on sizes.
func.func @hidden_from_pairs(%x: tensor<4x3xf32>, %y: tensor<5x2xf32>, %o: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-note @below {{operand 1 is 'tensor<5x2xf32>' by its definition, 'tensor<?x?xf32>' by its type}}
  %cast = tensor.cast %y : tensor<5x2xf32> to tensor<?x?xf32>
  // expected-error @below {{'kron.pairwise' op expects dimension 1 of the right operand to be 3, the K of the left operand, but got 2}}
  %0 = kron.pairwise square_diff ins(%x, %cast : tensor<4x3xf32>, tensor<?x?xf32>) outs(%o : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Verify the same of what a fused region holds, whose arguments stand for its operands.
func.func @hidden_from_fused(%x: memref<3x4xf32>, %f: memref<3x2xf32>, %y: memref<3x2xf32>) {
  %cast = memref.cast %f : memref<3x2xf32> to memref<?x?xf32>
  kron.fused ins(%x, %cast : memref<3x4xf32>, memref<?x?xf32>) outs(%y : memref<3x2xf32>) {
  // expected-note @below {{operand 1 is 'tensor<3x2xf32>' by its definition, 'tensor<?x?xf32>' by its type}}
  ^bb0(%tx: tensor<3x4xf32>, %a: tensor<?x?xf32>, %out: tensor<3x2xf32>):
    // expected-error @below {{'kron.mode_product' op expects dimension 0 of the factor to be 4, the size of the contracted axis of the input, but got 3}}
    %0 = kron.mode_product axis(1) ins(%tx : tensor<3x4xf32>) factor(%a [p, q] : tensor<?x?xf32>)
           outs(%out : tensor<3x2xf32>) -> tensor<3x2xf32>
    kron.yield %0 : tensor<3x2xf32>
  }
  return
}

// -----

// Verify that sizes of a permuted operand are those of its argument's axes.
func.func @hidden_from_permuted(%x: memref<4x3xf32>, %f: memref<3x2xf32>, %y: memref<3x2xf32>) {
  %cast = memref.cast %x : memref<4x3xf32> to memref<?x3xf32>
  kron.fused ins(%cast, %f : memref<?x3xf32>, memref<3x2xf32>) outs(%y : memref<3x2xf32>)
      attributes {input_permutation = array<i64: 1, 0>} {
  // expected-note @below {{operand 0 is 'tensor<3x4xf32>' by its definition, 'tensor<3x?xf32>' by its type}}
  ^bb0(%tx: tensor<3x?xf32>, %a: tensor<3x2xf32>, %out: tensor<3x2xf32>):
    // expected-error @below {{'kron.mode_product' op expects dimension 0 of the factor to be 4, the size of the contracted axis of the input, but got 3}}
    %0 = kron.mode_product axis(1) ins(%tx : tensor<3x?xf32>) factor(%a [p, q] : tensor<3x2xf32>)
           outs(%out : tensor<3x2xf32>) -> tensor<3x2xf32>
    kron.yield %0 : tensor<3x2xf32>
  }
  return
}
