// Verify that functions of pairs become libraries with a version for each instruction set, and PTX,
// where powers and exponentials are polynomials in the former, and machine instructions in the latter. The header has sizes by name, and the hyper-parameter as a scalar.
// RUN: kronc %s -o %t.ll
// RUN: FileCheck %s --input-file %t.ll
// RUN: kronc %s -o %t.h
// RUN: FileCheck %s --input-file %t.h --check-prefix=HEADER
// RUN: kronc %s --target nvidia --gpu-arch sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=PTX
// CHECK: define internal void @laplace_pairwise(i64
// CHECK: define internal void @laplace_pairwise.1(i64
// CHECK: define internal void @laplace_pairwise.2(i64
// HEADER: - arg0: f32 [n0, n1]
// HEADER: - arg1: f32 [n2, n1]
// HEADER: - arg2: scalar f32
// HEADER: - result: f32 [n0, n2]
// PTX: .entry laplace_0(
// PTX: cp.async
// PTX: lg2.approx.ftz.f32
// PTX: ex2.approx.ftz.f32
// PTX-NOT: call

func.func @laplace(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %scale: f32) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = kron.pairwise pow_diff(1.3) ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) params(%scale : f32)
      outs(%e : tensor<?x?xf32>)
      epilogue {
      ^bb0(%v: f32, %s: f32):
        %p = arith.mulf %v, %s : f32
        %n0 = arith.negf %p : f32
        %r = math.exp %n0 : f32
        kron.pairwise_yield %r : f32
      } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
