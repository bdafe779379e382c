// RUN: kron-opt %s --kron-plan --split-input-file -verify-diagnostics

func.func @registers(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{'kron.pairwise' op has a plan that is none for it: expects rows * vectors to be at most 26, but got 12 * 3}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<rows = 12>}
  return
}

// -----

func.func @multiple(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  // expected-error @+1 {{'kron.pairwise' op has a plan that is none for it: expects row_block to be a multiple of rows, but got 100 and 8}}
  kron.pairwise dot ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      {plan = #kron.pairwise_plan<row_block = 100>}
  return
}
