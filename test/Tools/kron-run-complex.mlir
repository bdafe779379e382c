// RUN: kron-run %s --entry quotient --arg ones:2x2:c64 --arg value:4:c64 --out - | FileCheck %s --check-prefix=QUOTIENT
// RUN: kron-run %s --entry quotient --arg ones:2x2:c64 --arg value:4:c64 --out - --reference | FileCheck %s --check-prefix=QUOTIENT
// RUN: kron-run %s --entry functions --arg random:9x7:c32:1 --arg random:9x7:c32:2 --verify | FileCheck %s --check-prefix=FUNCTIONS
// RUN: kron-run %s --entry scaled --arg random:9x4:c32:1 --arg random:2x2:c32:2 --arg value:3:c32 --arg value:4:c32 --verify | FileCheck %s --check-prefix=SCALED

#rows = affine_map<(d0, d1) -> (d0, d1)>

// Verify a quotient by hand: (3+4j) / (1 * 4).
// QUOTIENT: 0.75+1j 0.75+1j
// QUOTIENT-NEXT: 0.75+1j 0.75+1j
func.func @quotient(%x: tensor<2x2xcomplex<f64>>, %d: complex<f64>) -> tensor<2x2xcomplex<f64>> {
  %e = tensor.empty() : tensor<2x2xcomplex<f64>>
  %n = complex.constant [3.0, 4.0] : complex<f64>
  %z = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x2xcomplex<f64>>) outs(%e : tensor<2x2xcomplex<f64>>) {
  ^bb0(%a: complex<f64>, %o: complex<f64>):
    %p = complex.mul %a, %d : complex<f64>
    %q = complex.div %n, %p : complex<f64>
    linalg.yield %q : complex<f64>
  } -> tensor<2x2xcomplex<f64>>
  return %z : tensor<2x2xcomplex<f64>>
}

// Verify functions that become several of real numbers.
// FUNCTIONS: verify result: {{.*}}: ok
func.func @functions(%x: tensor<9x7xcomplex<f32>>, %y: tensor<9x7xcomplex<f32>>) -> tensor<9x7xcomplex<f32>> {
  %e = tensor.empty() : tensor<9x7xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<9x7xcomplex<f32>>, tensor<9x7xcomplex<f32>>) outs(%e : tensor<9x7xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %o: complex<f32>):
    %0 = complex.sqrt %a : complex<f32>
    %1 = complex.tanh %b : complex<f32>
    %2 = complex.atan2 %0, %1 : complex<f32>
    %3 = complex.rsqrt %2 : complex<f32>
    %4 = complex.exp %3 : complex<f32>
    linalg.yield %4 : complex<f32>
  } -> tensor<9x7xcomplex<f32>>
  return %z : tensor<9x7xcomplex<f32>>
}

// Verify a scalar that is a quotient.
// SCALED: verify result: {{.*}}: ok
func.func @scaled(%x: tensor<9x4xcomplex<f32>>, %f: tensor<2x2xcomplex<f32>>, %n: complex<f32>,
                  %d: complex<f32>) -> tensor<9x4xcomplex<f32>> {
  %e = tensor.empty() : tensor<9x4xcomplex<f32>>
  %alpha = complex.div %n, %d : complex<f32>
  %y = kron.mkm ins(%x : tensor<9x4xcomplex<f32>>)
         factors(%f, %f : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>)
         outs(%e : tensor<9x4xcomplex<f32>>) alpha(%alpha : complex<f32>)
         -> tensor<9x4xcomplex<f32>>
  return %y : tensor<9x4xcomplex<f32>>
}
