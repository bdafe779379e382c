// What comes in goes out.
func.func @copy(%x: tensor<?x?xTYPE>) -> tensor<?x?xTYPE> {
  return %x : tensor<?x?xTYPE>
}
