// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify a loop over blocks that carries the sums: of each block, values of pairs, times the gradient and products of factors,
// are left in shared memory beside the positions of its columns, between two barriers. A column at a time, weights and
// positions are read, and derivatives added.
// CHECK-LABEL: llvm.func @gradients(
// CHECK:         scf.for {{.*}} : i64 {
// CHECK:           %[[S:.*]]:2 = scf.for {{.*}} -> (f32, f32) : i32 {
// CHECK:             scf.for %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, i32)
// CHECK:             scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
// CHECK-COUNT-16:    arith.mulf
// CHECK:             nvvm.barrier0
// CHECK:             nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %{{.*}}
// CHECK:             nvvm.cp.async.commit.group
// CHECK-COUNT-8:     llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             scf.for {{.*}} -> (f32, f32) : i32 {
// CHECK-COUNT-3:       llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:               arith.subf
// CHECK:               llvm.intr.fma
// CHECK:               arith.subf
// CHECK:               llvm.intr.fma
// CHECK-COUNT-2:   "st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @gradients(%a: !tile.view<?x?xf32, [?, 1]>, %b: !tile.view<?x?xf32, [?, 1]>, %h: !tile.view<?x?xf32, [?, 1]>, %x: !tile.view<?x3xf32, [3, 1]>, %z: !tile.view<?x3xf32, [3, 1]>, %g: f32, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
    %c = tile.alloc : !tile.ring<1 of <32x8xf32>>
    %w = tile.alloc : !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !tile.view<?x?xf32, [?, 1]> -> !tile.fragment<1x1x2xf32> {
      ^bb0(%m: index, %o: !tile.fragment<1x1x2xf32>):
        %p = tile.pairs %a, %b[%u, %m] through %l, %r lanes 8 from 0.0 zero_tail
            : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>, !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x2x4xf32> {
        ^bb0(%e: f32, %f: f32, %v: f32):
          %d = arith.subf %e, %f : f32
          %k = math.fma %d, %d, %v : f32
          tile.yield %k : f32
        }
        %q = tile.weigh_pairs %p : !tile.fragment<1x2x4xf32> [%u, %m] grad(%h : !tile.view<?x?xf32, [?, 1]>) factors(%x, %z : !tile.view<?x3xf32, [3, 1]>, !tile.view<?x3xf32, [3, 1]>) lanes 8 -> !tile.fragment<1x2x4xf32>
        %i = tile.add_derivatives %q to %o of %a, %b[%u, %m] through %c, %w lanes 4 weight_lanes 8 params(%g : f32)
            : !tile.fragment<1x2x4xf32>, !tile.fragment<1x1x2xf32>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<1 of <32x8xf32>>, !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>> {
        ^bb0(%e: f32, %f: f32, %j: f32):
          %d = arith.subf %e, %f : f32
          %k = arith.mulf %d, %j : f32
          tile.yield %k : f32
        }
        tile.yield %i : !tile.fragment<1x1x2xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !tile.fragment<1x1x2xf32>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64, %g: f32) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  %x = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?x3xf32, [3, 1]>
  %y = tile.view %p sizes(%n, %n, %n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x?x?xf32, [?, ?, 1]>
  tile.launch @kron_gpu::@gradients tiles(%n) args(%a, %a, %a, %x, %x, %g, %y, %n, %n : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x3xf32, [3, 1]>, !tile.view<?x3xf32, [3, 1]>, f32, !tile.view<?x?x?xf32, [?, ?, 1]>, i64, i64)
  return
}

// -----

// Verify that of outputs a derivative, a power with a negative exponent here, is computed once and multiplied for each.
// CHECK-LABEL: llvm.func @outputs(
// CHECK:           scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
// CHECK:             nvvm.barrier0
// CHECK:             arith.extf
// CHECK:             nvvm.barrier0
// CHECK:             scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
// CHECK:               llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK:               "lg2.approx.f32 $0, $1;"
// CHECK:               ex2.approx
// CHECK:               arith.mulf
// CHECK-COUNT-4:       llvm.intr.fma
// CHECK:               "lg2.approx.f32 $0, $1;"
// CHECK:               arith.mulf
// CHECK-COUNT-4:       llvm.intr.fma
// CHECK-COUNT-8:   "st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @outputs(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [1, ?]>, %x: !tile.view<?x1xf16, [1, 1]>, %z: !tile.view<?x?x1xf16, [?, 1, 1]>, %y: !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %c = tile.alloc : !tile.ring<1 of <32x8xf16>>
    %w = tile.alloc : !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>>
    %v = tile.alloc : !tile.ring<1 of <32x4xf32>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 4, 16, 8] : !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
      %s = tile.for_gradients %blocks by 32 of %b[%u] : !tile.view<?x?xf16, [1, ?]> -> !tile.fragment<4x1x2xf32> {
      ^bb0(%m: index, %o: !tile.fragment<4x1x2xf32>):
        %q = tile.weigh_pairs [%u, %m] factors(%x : !tile.view<?x1xf16, [1, 1]>) lanes 8 -> !tile.fragment<1x2x4xf32>
        %i = tile.add_derivatives %q to %o of %a, %b[%u, %m] through %c, %w outputs(%z through %v : !tile.view<?x?x1xf16, [?, 1, 1]>, !tile.ring<1 of <32x4xf32>>) lanes 4 weight_lanes 8 rhs_rows
            : !tile.fragment<1x2x4xf32>, !tile.fragment<4x1x2xf32>, !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [1, ?]>, !tile.ring<1 of <32x8xf16>>, !tile.ring<1 of <32x16xf32, #tile.layout<[20, 1]>>> {
        ^bb0(%e: f32, %f: f32):
          %d = arith.subf %e, %f : f32
          %k = math.absf %d : f32
          %p = arith.constant -0.5 : f32
          %j = math.powf %k, %p : f32
          tile.yield %j : f32
        }
        tile.yield %i : !tile.fragment<4x1x2xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !tile.fragment<4x1x2xf32>, !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf16, [?, 1]>
  %b = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf16, [1, ?]>
  %x = tile.view %p sizes(%n) strides() : !llvm.ptr -> !tile.view<?x1xf16, [1, 1]>
  %z = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?x1xf16, [?, 1, 1]>
  %y = tile.view %p sizes(%n, %n, %n, %n) strides(%n, %n, %n) : !llvm.ptr -> !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>
  tile.launch @kron_gpu::@outputs tiles(%n) args(%a, %b, %x, %z, %y, %n, %n : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [1, ?]>, !tile.view<?x1xf16, [1, 1]>, !tile.view<?x?x1xf16, [?, 1, 1]>, !tile.view<?x?x?x?xf32, [?, ?, ?, 1]>, i64, i64)
  return
}
