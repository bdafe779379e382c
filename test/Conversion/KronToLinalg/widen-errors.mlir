// RUN: kron-opt --kron-widen --split-input-file --verify-diagnostics %s

// Verify that a constant whose values are not in the attribute is rejected.
func.func @resource() -> tensor<2xf32> {
  // expected-error @below {{expects constants to be dense and inline, but got "value" as a resource or sparse}}
  %0 = arith.constant dense_resource<values> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      values: "0x04000000000000400000803F"
    }
  }
#-}

// -----

// Verify that bits of values are refused, of which there will be more.
func.func @bits(%x: i16) -> f16 {
  // expected-error @below {{expects no bits of a type that becomes wider, but got 'f16'}}
  %y = arith.bitcast %x : i16 to f16
  return %y : f16
}

// -----

// Verify that tile operations are refused, whose copies are of as many bytes as elements have.
func.func @tile(%x: !llvm.ptr) {
  // expected-error @below {{'tile.view' op has no wider form: --kron-widen expects a program that --kron-tile has not seen}}
  %view = tile.view %x : !llvm.ptr -> <2x8x3xf32, [3, 6, 1]>
  return
}
