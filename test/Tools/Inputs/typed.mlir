// Z = alpha X (A (x) B) + beta Z in place.
func.func @update(%x: tensor<?x6xTYPE>, %a: tensor<2x3xTYPE>, %b: tensor<3x2xTYPE>,
                  %z: tensor<?x6xTYPE> {kron.result = 0}, %alpha: SCALAR,
                  %beta: SCALAR) -> tensor<?x6xTYPE> {
  %y = kron.mkm ins(%x : tensor<?x6xTYPE>)
         factors(%a, %b : tensor<2x3xTYPE>, tensor<3x2xTYPE>)
         outs(%z : tensor<?x6xTYPE>) alpha(%alpha : SCALAR) beta(%beta : SCALAR)
         -> tensor<?x6xTYPE>
  return %y : tensor<?x6xTYPE>
}
