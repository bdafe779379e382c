// RUN: kron-opt %s --kron-lower-interface --split-input-file --verify-diagnostics

// expected-error@+1 {{expects argument 0 of public function 'unranked' to be a ranked tensor, a strided memref or a scalar, but got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error@+1 {{expects argument 0 of public function 'element' to be an array of f32, f64, f16, bf16, i32, i64, complex<f32>, complex<f64>, i8, f8E4M3FN or f8E5M2, but got 'tensor<4xi16>'}}
func.func @element(%x: tensor<4xi16>) {
  return
}

// -----

// expected-error@+1 {{expects argument 0 of public function 'byte' to be a ranked tensor, a strided memref or a scalar, but got 'i8'}}
func.func @byte(%x: i8) {
  return
}

// -----

// expected-error@+1 {{expects argument 0 of public function 'stride' to be row-major or of dynamic strides (the innermost may be 1), but got 'memref<4x4xf32, strided<[8, 1]>>'}}
func.func @stride(%x: memref<4x4xf32, strided<[8, 1]>>) {
  return
}

// -----

// expected-error@+1 {{expects result 0 of public function 'scalar' to be a ranked tensor, but got 'f32'}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error@+1 {{expects kron.result of argument 0 to be less than the number of results (1), but got 1}}
func.func @number(%x: tensor<4xf32> {kron.result = 1}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects argument 0 to have the type of result 0 ('tensor<4xf32>'), but got 'tensor<?xf32>'}}
func.func @type(%x: tensor<?xf32> {kron.result = 0}) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects result 0 to have one kron.result argument, but got arguments 0 and 1}}
func.func @twice(%x: tensor<4xf32> {kron.result = 0}, %y: tensor<4xf32> {kron.result = 0}) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects kron.name to be a C identifier, but got 'not a name'}}
func.func @name(%x: tensor<4xf32> {kron.name = "not a name"}) {
  return
}

// -----

// expected-error@+1 {{expects kron.name to be unique, but 'arg1' occurs twice}}
func.func @unique(%x: tensor<4xf32> {kron.name = "arg1"}, %y: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects public function 'callee' not to be called from the module}}
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects the name of a public function to be a C identifier other than kron, kron_* and kron[A-Z]*, but got 'kronLaunch'}}
func.func @kronLaunch(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function to be a C identifier other than kron, kron_* and kron[A-Z]*, but got 'not-c'}}
func.func @"not-c"(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function to be a C identifier other than kron, kron_* and kron[A-Z]*, but got 'kron'}}
func.func @kron(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be of those that C reserves, __* and _[A-Z]*, but got '__truncsfhf2'}}
func.func @__truncsfhf2(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be a keyword of C or C++, but got 'restrict'}}
func.func @restrict(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be a keyword of C or C++, but got 'xor'}}
func.func @xor(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be a type of the C library, but got 'size_t'}}
func.func @size_t(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be that of a function of the C library, but got 'erf'}}
func.func @erf(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be that of a function of the C library, but got 'malloc'}}
func.func @malloc(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be that of a function of the C library, but got 'free'}}
func.func @free(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects the name of a public function not to be that of a function of the C library, but got 'pthread_mutex_lock'}}
func.func @pthread_mutex_lock(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{expects argument 0 of public function 'space' to be in the default memory space, but got 'memref<4xf32, 1>'}}
func.func @space(%x: memref<4xf32, 1>) {
  return
}

// -----

// expected-error@+1 {{expects argument 0 of public function 'strided_space' to be in the default memory space, but got 'memref<4x4xf32, strided<[?, 1]>, 1>'}}
func.func @strided_space(%x: memref<4x4xf32, strided<[?, 1]>, 1>) {
  return
}
