// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a tile comes through registers, all loads of a thread in front of its
// stores, and what is outside of the view is the tile's first element; that a step of k
// loads an element of each of two fibres and 16 bytes of the factor, that the loop over K
// has two of them per turn and the last one behind it; and that results behind the last
// one and fibres behind the last one are computed, but not left in the other buffer.
// CHECK-LABEL: llvm.func @parts(
// CHECK:         scf.for {{.*}} : i64 {
// CHECK:         scf.for {{.*}} : i32 {
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, {{.*}} : i64
// CHECK:           %[[OFFSET:.*]] = arith.select %[[INSIDE]]
// CHECK-COUNT-8:   llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
// CHECK-NOT:       llvm.load
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         %[[SUMS:.*]]:8 = scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK-COUNT-2:     llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:             llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK-COUNT-2:     llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:             llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK:             scf.yield
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK:         llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8: llvm.intr.fma
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, {{.*}} : i32
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      {{.*}}llvm.getelementptr
// CHECK-NEXT:      llvm.store {{.*}} : f32, !llvm.ptr<3>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @parts(%x: !tile.view<?x5x32xf32, [160, 32, 1]>, %f: !tile.view<5x7xf32, [7, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x5x32xf32>
    %b = tile.alloc : !tile.buffer<4x7x32xf32>
    %p = tile.prepare %f : !tile.view<5x7xf32, [7, 1]> -> !tile.operand<5x8xf32>
    tile.barrier
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x5x32xf32, [160, 32, 1]>, !tile.buffer<4x5x32xf32>
      tile.barrier
      tile.for_boxes %u of 128 together 2 parts 2 {
        %s = tile.multiply %a[%u], %p along 1 unrolled 2 : !tile.buffer<4x5x32xf32>, !tile.operand<5x8xf32> -> !tile.fragment<2x4xf32>
        tile.exchange %s to %b[%u] along [1] : !tile.fragment<2x4xf32>, !tile.buffer<4x7x32xf32>
      }
      tile.barrier
    }
    gpu.return
  }
}

func.func @parts_host(%px: !llvm.ptr, %pf: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x5x32xf32, [160, 32, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<5x7xf32, [7, 1]>
  tile.launch @kron_gpu::@parts tiles(%n) args(%x, %f, %n : !tile.view<?x5x32xf32, [160, 32, 1]>, !tile.view<5x7xf32, [7, 1]>, i64)
  return
}

// -----

// Verify a factor of each position in global memory, from which fibres behind the last
// one take the last one's, conjugated; and that results are stored from registers, with
// bias, scale and residual behind alpha, and a complex product of four multiply-adds.
// CHECK-LABEL: llvm.func @varying(
// CHECK:         %[[AT:.*]] = arith.minsi
// CHECK:         %[[RE:.*]] = llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
// CHECK:         %[[IM:.*]] = llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
// CHECK:         %[[CONJ:.*]] = arith.negf %[[IM]] : f32
// CHECK:         llvm.intr.fma(%{{.*}}, %[[RE]],
// CHECK:         llvm.intr.fma(%{{.*}}, %[[CONJ]],
// CHECK:         scf.if
// CHECK:           arith.mulf
// CHECK-COUNT-4:   arith.addf
// CHECK-COUNT-2:   st.global.cs
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @varying(%x: !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>, %y: !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>, %v: !tile.view<?x2x8x2xcomplex<f32>, [4, 2, 0, 1]>, %c: complex<f32>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<4x2x8xcomplex<f32>>
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 8 : !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>, !tile.buffer<4x2x8xcomplex<f32>>
      tile.barrier
      tile.for_boxes %u of 32 parts 2 {
        %s = tile.multiply %a[%u], %v tile %t along 1 conj_factor : !tile.buffer<4x2x8xcomplex<f32>>, !tile.view<?x2x8x2xcomplex<f32>, [4, 2, 0, 1]> -> !tile.fragment<1x1xcomplex<f32>>
        tile.store %s[%u] to %y[%t] along [1] alpha %c : complex<f32> bias %x : !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>
          residual %y : !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]> box [4, 2, 8] bytes 8 : !tile.fragment<1x1xcomplex<f32>>, !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

func.func @varying_host(%px: !llvm.ptr, %m: i64, %n: i64, %c: complex<f32>) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>
  %v = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x2x8x2xcomplex<f32>, [4, 2, 0, 1]>
  tile.launch @kron_gpu::@varying tiles(%n) args(%x, %x, %v, %c, %n : !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>, !tile.view<?x2x8xcomplex<f32>, [16, 8, 1]>, !tile.view<?x2x8x2xcomplex<f32>, [4, 2, 0, 1]>, complex<f32>, i64)
  return
}

// -----

// Verify that a largest sum starts with minus infinity.
// CHECK-LABEL: llvm.func @largest(
// CHECK:         %[[START:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         scf.for {{.*}} iter_args(%[[LARGEST:.*]] = %[[START]]) -> (f32)
// CHECK:           %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:           %[[NEXT:.*]] = arith.maxnumf %[[LARGEST]], %[[SUM]] : f32
// CHECK:           scf.yield %[[NEXT]] : f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @largest(%f: !tile.view<8x4xf32, [4, 1]>) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<64x8xf32>
    %b = tile.alloc : !tile.buffer<64x4xf32>
    tile.for_boxes %u of 64 parts 4 {
      %s = tile.multiply %a[%u], %f along 1 unrolled 1 semiring <max_plus> : !tile.buffer<64x8xf32>, !tile.view<8x4xf32, [4, 1]> -> !tile.fragment<1x1xf32>
      tile.exchange %s to %b[%u] along [1] : !tile.fragment<1x1xf32>, !tile.buffer<64x4xf32>
    }
    gpu.return
  }
}

func.func @largest_host(%pf: !llvm.ptr, %n: i64) {
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x4xf32, [4, 1]>
  tile.launch @kron_gpu::@largest tiles(%n) args(%f : !tile.view<8x4xf32, [4, 1]>)
  return
}

// -----

// Verify that a thread whose fibres are nearer to each other in memory than its results
// stores one result of both after the other, where all of them exist, and each fibre by
// itself elsewhere; and that results which lie side by side follow each other.
// CHECK-LABEL: llvm.func @turns(
// CHECK:         %[[SUMS:.*]]:4 = scf.for
// CHECK:         %[[S0:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[SUMS]]#0
// CHECK:         %[[S1:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[SUMS]]#1
// CHECK:         %[[S2:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[SUMS]]#2
// CHECK:         %[[S3:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[SUMS]]#3
// CHECK:         scf.if
// CHECK:           "st.global.cs.f32 {{.*}}, %[[S0]] :
// CHECK:           "st.global.cs.f32 {{.*}}, %[[S2]] :
// CHECK:           "st.global.cs.f32 {{.*}}, %[[S1]] :
// CHECK:           "st.global.cs.f32 {{.*}}, %[[S3]] :
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             "st.global.cs.f32 {{.*}}, %[[S0]] :
// CHECK:             "st.global.cs.f32 {{.*}}, %[[S1]] :
// CHECK:           scf.if
// CHECK:             "st.global.cs.f32 {{.*}}, %[[S2]] :
// CHECK:             "st.global.cs.f32 {{.*}}, %[[S3]] :
// CHECK-LABEL: llvm.func @rows(
// CHECK:         %[[OTHERS:.*]]:4 = scf.for
// CHECK:         %[[O0:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[OTHERS]]#0
// CHECK:         %[[O1:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[OTHERS]]#1
// CHECK:         %[[O2:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[OTHERS]]#2
// CHECK:         %[[O3:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %[[OTHERS]]#3
// CHECK-NOT:     } else {
// CHECK:         scf.if
// CHECK:           "st.global.cs.f32 {{.*}}, %[[O0]] :
// CHECK:           "st.global.cs.f32 {{.*}}, %[[O1]] :
// CHECK:         scf.if
// CHECK:           "st.global.cs.f32 {{.*}}, %[[O2]] :
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @turns(%x: !tile.view<?x8x100xf32, [800, 100, 1]>, %f: !tile.view<8x4xf32, [4, 1]>, %y: !tile.view<?x4x100xf32, [400, 100, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<1x8x64xf32>
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x8x100xf32, [800, 100, 1]>, !tile.buffer<1x8x64xf32>
      tile.barrier
      tile.for_boxes %u of 64 together 2 order [0, 1, 2] parts 2 {
        %s = tile.multiply %a[%u], %f along 1 unrolled 2 : !tile.buffer<1x8x64xf32>, !tile.view<8x4xf32, [4, 1]> -> !tile.fragment<2x2xf32>
        tile.store %s[%u] to %y[%t] along [1] box [1, 4, 64] bytes 4 : !tile.fragment<2x2xf32>, !tile.view<?x4x100xf32, [400, 100, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
  gpu.func @rows(%x: !tile.view<?x8xf32, [8, 1]>, %f: !tile.view<8x4xf32, [4, 1]>, %y: !tile.view<?x4xf32, [4, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %a = tile.alloc : !tile.buffer<64x8xf32>
    tile.for %t to %n {
      tile.copy %x[%t + 0] to %a bytes 4 : !tile.view<?x8xf32, [8, 1]>, !tile.buffer<64x8xf32>
      tile.barrier
      tile.for_boxes %u of 64 together 2 order [0, 1] parts 2 {
        %s = tile.multiply %a[%u], %f along 1 unrolled 2 : !tile.buffer<64x8xf32>, !tile.view<8x4xf32, [4, 1]> -> !tile.fragment<2x2xf32>
        tile.store %s[%u] to %y[%t] along [1] box [64, 4] bytes 4 : !tile.fragment<2x2xf32>, !tile.view<?x4xf32, [4, 1]>
      }
      tile.barrier
    }
    gpu.return
  }
}

func.func @turns_host(%px: !llvm.ptr, %pf: !llvm.ptr, %py: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x8x100xf32, [800, 100, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x4xf32, [4, 1]>
  %y = tile.view %py sizes(%m) : !llvm.ptr -> !tile.view<?x4x100xf32, [400, 100, 1]>
  tile.launch @kron_gpu::@turns tiles(%n) args(%x, %f, %y, %n : !tile.view<?x8x100xf32, [800, 100, 1]>, !tile.view<8x4xf32, [4, 1]>, !tile.view<?x4x100xf32, [400, 100, 1]>, i64)
  %x1 = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x8xf32, [8, 1]>
  %y1 = tile.view %py sizes(%m) : !llvm.ptr -> !tile.view<?x4xf32, [4, 1]>
  tile.launch @kron_gpu::@rows tiles(%n) args(%x1, %f, %y1, %n : !tile.view<?x8xf32, [8, 1]>, !tile.view<8x4xf32, [4, 1]>, !tile.view<?x4xf32, [4, 1]>, i64)
  return
}
