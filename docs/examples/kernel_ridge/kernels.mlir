// [kernel]
// The Gaussian kernel matrix of all rows of %a and %b, exp(-gamma |a - b|^2), times %v. The matrix is never
// in memory.
func.func @gaussian(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %v: tensor<?x1xf64>, %gamma: f64)
    -> tensor<?x1xf64> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf64>
  %init = tensor.empty(%rows) : tensor<?x1xf64>
  %y = kron.pairwise_apply square_diff ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
         values(%v : tensor<?x1xf64>) params(%gamma : f64) outs(%init : tensor<?x1xf64>)
         epilogue {
         ^bb0(%s: f64, %g: f64):
           %scaled = arith.mulf %s, %g : f64
           %negated = arith.negf %scaled : f64
           %r = math.exp %negated : f64
           kron.pairwise_yield %r : f64
         } -> tensor<?x1xf64>
  return %y : tensor<?x1xf64>
}
// [/kernel]
