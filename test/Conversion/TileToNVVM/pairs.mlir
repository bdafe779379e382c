// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify a loop along K whose turns copy one step in front of what they reduce: 16 bytes at a time if rows are aligned, else one
// element, whose places follow from a number of the thread that is read in the turn; of A two neighbours change places. A load is of four positions of a row, and
// exponentials and roots are the machine's; log2(e) is multiplied by what is the same for all elements. What does not exist of a tile is not stored.
// CHECK-LABEL: llvm.func @matrix(
// CHECK:         scf.for {{.*}} : i64 {
// CHECK:           %[[PARAM:.*]] = llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK:           %[[ALIGNED:.*]] = arith.cmpi eq,
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[TURNS:.*]] step %{{.*}} iter_args(
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             scf.if
// CHECK:               scf.if %[[ALIGNED]]
// CHECK:                 llvm.inline_asm has_side_effects {{.*}}"mov.u32 $0, %tid.x;"
// CHECK:                 llvm.getelementptr %{{.*}}[4] : (!llvm.ptr<3>)
// CHECK-COUNT-4:         nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %{{.*}}
// CHECK:               } else {
// CHECK:                 arith.xori
// CHECK:                 nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %{{.*}}
// CHECK:               scf.if
// CHECK:                 nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %{{.*}}
// CHECK:               } else {
// CHECK-NOT:             arith.xori
// CHECK:                 nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %{{.*}}
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             scf.if {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK:               scf.for
// CHECK-COUNT-3:         llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8:         math.fma
// CHECK:                 llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK:           %[[ROOT:.*]] = llvm.inline_asm {{.*}}"sqrt.approx.f32 $0, $1;"
// CHECK:           %[[FACTOR:.*]] = arith.mulf %[[PARAM]], %{{.*}}
// CHECK-NEXT:      %[[POWER:.*]] = arith.mulf %[[ROOT]], %[[FACTOR]]
// CHECK-NEXT:      llvm.inline_asm {{.*}}"ex2.approx.ftz.f32 $0, $1;"
// CHECK-COUNT-8:   "st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @matrix(%a: !tile.view<?x?xf32, [?, 1]>, %b: !tile.view<?x?x?xf32, [?, ?, 1]>, %g: !tile.view<?xf32, [1]>, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 32] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %h = tile.load_scalar %g[%u] : !tile.view<?xf32, [1]> -> f32
      %p = tile.pairs %a, %b[%u] through %l, %r lanes 8 from 0.0 zero_tail
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?x?xf32, [?, ?, 1]>, !tile.ring<2 of <16x16xf32, #tile.layout<[20, 1]>>>, !tile.ring<2 of <32x16xf32, #tile.layout<[20, 1]>>> -> !tile.fragment<1x2x4xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %z = math.fma %d, %d, %s : f32
        tile.yield %z : f32
      }
      %q = tile.map %p params(%h : f32) : !tile.fragment<1x2x4xf32> {
      ^bb0(%s: f32, %i: f32):
        %root = math.sqrt %s : f32
        %m = arith.mulf %root, %i : f32
        %z = math.exp %m : f32
        tile.yield %z : f32
      }
      tile.store_pairs %q to %y[%u] lanes 8 : !tile.fragment<1x2x4xf32>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  %b = tile.view %p sizes(%n, %n, %n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x?x?xf32, [?, ?, 1]>
  %g = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@matrix tiles(%n) args(%a, %b, %g, %b, %n : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?x?xf32, [?, ?, 1]>, !tile.view<?xf32, [1]>, !tile.view<?x?x?xf32, [?, ?, 1]>, i64)
  return
}

// -----

// Verify products of f16 in f32, whose columns that do not exist are neither multiplied nor larger than others, and positions
// behind the end of K of a function that they would change.
// CHECK-LABEL: llvm.func @products(
// CHECK:         scf.for {{.*}} : i64 {
// CHECK:           scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
// CHECK:             llvm.inline_asm has_side_effects {{.*}}"mov.u32 $0, %tid.x;"
// CHECK:             scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32) : i32 {
// CHECK:               scf.if %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK:                 llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf16>
// CHECK:                 arith.extf
// CHECK-NOT:             arith.select
// CHECK:                 arith.maximumf
// CHECK-NOT:             arith.select
// CHECK:               } else {
// CHECK:                 arith.maximumf
// CHECK-NEXT:            arith.select
// CHECK:             llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f16
// CHECK:             arith.extf
// CHECK:             %[[TERM:.*]] = arith.mulf
// CHECK-NEXT:        arith.select %{{.*}}, %[[TERM]],
// CHECK:             arith.maximumf
// CHECK:             "ex2.approx.ftz.f32 $0, $1;"
// CHECK:             arith.addf
// CHECK:             llvm.intr.fma
// CHECK:           nvvm.shfl.sync bfly
// CHECK-COUNT-8:   "st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @products(%a: !tile.view<?x?xf16, [?, 1]>, %v: !tile.view<?x2xf16, [2, 1]>, %y: !tile.view<?x?x2xf32, [?, 2, 1]>, %z: !tile.view<?x?x2xf32, [?, 2, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 16, 2] : !tile.view<?x?x2xf32, [?, 2, 1]>
      %s:2 = tile.for_pairs %m of %blocks by 32 [%u] times %v accumulate logsumexp lanes 8 : !tile.view<?x2xf16, [2, 1]> -> (!tile.fragment<1x2x2xf32>, !tile.fragment<1x2x2xf32>) {
        %p = tile.pairs %a, %a[%u, %m] through %l, %r lanes 8 from 0xFFF0000000000000
            : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>, !tile.ring<2 of <16x16xf16, #tile.layout<[24, 1]>>>, !tile.ring<2 of <32x16xf16, #tile.layout<[24, 1]>>> -> !tile.fragment<1x2x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %d = arith.mulf %e, %f : f32
          %w = arith.maximumf %o, %d : f32
          tile.yield %w : f32
        }
        tile.yield %p : !tile.fragment<1x2x4xf32>
      }
      tile.store_pairs %s#0 to %y[%u] lanes 8 sums : !tile.fragment<1x2x2xf32>, !tile.view<?x?x2xf32, [?, 2, 1]>
      tile.store_pairs %s#1 to %z[%u] lanes 8 sums : !tile.fragment<1x2x2xf32>, !tile.view<?x?x2xf32, [?, 2, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf16, [?, 1]>
  %v = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?x2xf16, [2, 1]>
  %y = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?x2xf32, [?, 2, 1]>
  tile.launch @kron_gpu::@products tiles(%n) args(%a, %v, %y, %y, %n, %n : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x2xf16, [2, 1]>, !tile.view<?x?x2xf32, [?, 2, 1]>, !tile.view<?x?x2xf32, [?, 2, 1]>, i64, i64)
  return
}

// -----

// Verify products of parts of 64 bytes of a row, by loads of four matrices that are operands as they are, the small ones first, from zero on in each step, whose sums are added; that
// norms and scales of both sides arrive meanwhile, those of two columns in one load; that distances are made of them, whose tests wait for no other one's; that all warps say whether they are exact; and
// that the function is computed where one does not.
// CHECK-LABEL: llvm.func @products_of_rows(
// CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
// CHECK-NOT:     nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, i32)
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK-COUNT-3:   nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %{{.*}}
// CHECK:           scf.if {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK:             arith.xori
// CHECK-COUNT-8:     ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-12:    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-COUNT-8:     arith.addf
// CHECK-NOT:     llvm.load {{.*}} !llvm.ptr<1>
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xf32>
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK:         arith.divf
// CHECK:         %[[NORMS:.*]] = arith.addf
// CHECK:         %[[SQUARE:.*]] = llvm.intr.fma({{.*}}, %[[NORMS]])
// CHECK:         llvm.intr.fma(%[[NORMS]], %{{.*}}, %[[SQUARE]])
// CHECK-NOT:     arith.cmpf
// CHECK:         arith.cmpf oeq
// CHECK-NEXT:    arith.constant 0 : i32
// CHECK-NEXT:    arith.cmpi sge
// CHECK:         nvvm.vote.sync all
// CHECK:         nvvm.barrier0
// CHECK-COUNT-2: llvm.load {{.*}} !llvm.ptr<3> -> i32
// CHECK:         %[[HELD:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[HELD]] -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    } else {
// CHECK:           scf.for
// CHECK-COUNT-2:     llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK:         st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @products_of_rows(%a: !tile.view<?x?xf16, [?, 1]>, %b: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    %o = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    %q = tile.alloc : !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] : !tile.view<?x?xf32, [?, 1]>
      %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>) by(%b, %b : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>)
          [%u] through %l, %r lanes 8 norms(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0
          : !tile.ring<2 of <32x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
      %d = tile.pairs %x, %x[%u] through %o, %q lanes 8 from 0.0 zero_tail products(%p held %h : !tile.fragment<1x2x4xf32, mma.m16n8k16>)
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16> {
      ^bb0(%f: f32, %g: f32, %s: f32):
        %m = arith.subf %f, %g : f32
        %z = math.fma %m, %m, %s : f32
        tile.yield %z : f32
      }
      tile.store_pairs %d to %y[%u] lanes 8 : !tile.fragment<1x2x4xf32, mma.m16n8k16>, !tile.view<?x?xf32, [?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf16, [?, 1]>
  %e = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  %y = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  tile.launch @kron_gpu::@products_of_rows tiles(%n) args(%a, %a, %e, %y, %y, %n : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>, !tile.view<?xf32, [1]>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, i64)
  return
}

// -----

// Verify that a row less itself is 0 in tiles of which it is not known that they are beside the diagonal, and that lanes give each other
// f16 of neighbouring rows before they store them on the other side of it.
// CHECK-LABEL: llvm.func @half_of_products(
// CHECK:         arith.ori {{.*}} : i1
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, i1) {
// CHECK-NOT:       arith.select
// CHECK:         } else {
// CHECK-COUNT-2:   arith.select {{.*}} : f32
// CHECK:         nvvm.vote.sync all
// CHECK:         "st.global.cs.b32 [$0], $1;"
// CHECK:         nvvm.shfl.sync bfly
// CHECK:         "prmt.b32 $0, $1, $2, $3;"
// CHECK:         "st.global.cs.b32 [$0], $1;"
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @half_of_products(%a: !tile.view<?x?xf16, [?, 1]>, %e: !tile.view<?xf32, [1]>, %y: !tile.view<?x?xf16, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <16x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <32x32xf16>>
    %o = tile.alloc : !tile.ring<2 of <16x8xf16, #tile.layout<[24, 1]>>>
    %q = tile.alloc : !tile.ring<2 of <32x8xf16, #tile.layout<[24, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [16, 32] triangle : !tile.view<?x?xf16, [?, 1]>
      %p, %h = tile.multiply_rows(%a : !tile.view<?x?xf16, [?, 1]>) by(%a : !tile.view<?x?xf16, [?, 1]>)
          [%u] through %l, %r lanes 8 norms(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) roundings 16.0 same_rows
          : !tile.ring<2 of <16x32xf16>>, !tile.ring<2 of <32x32xf16>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16>
      %d = tile.pairs %a, %a[%u] through %o, %q lanes 8 from 0.0 zero_tail products(%p held %h : !tile.fragment<1x2x4xf32, mma.m16n8k16>)
          : !tile.view<?x?xf16, [?, 1]>, !tile.view<?x?xf16, [?, 1]>, !tile.ring<2 of <16x8xf16, #tile.layout<[24, 1]>>>, !tile.ring<2 of <32x8xf16, #tile.layout<[24, 1]>>> -> !tile.fragment<1x2x4xf32, mma.m16n8k16> {
      ^bb0(%f: f32, %g: f32, %s: f32):
        %m = arith.subf %f, %g : f32
        %z = math.fma %m, %m, %s : f32
        tile.yield %z : f32
      }
      tile.store_pairs %d to %y[%u] lanes 8 : !tile.fragment<1x2x4xf32, mma.m16n8k16>, !tile.view<?x?xf16, [?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf16, [?, 1]>
  %e = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@half_of_products tiles(%n) args(%a, %e, %a, %n : !tile.view<?x?xf16, [?, 1]>, !tile.view<?xf32, [1]>, !tile.view<?x?xf16, [?, 1]>, i64)
  return
}

// -----

// Verify powers: of the first elements by the machine, in which the whole part of an exponent is a product and only the fraction a
// logarithm; of others by a table that is made in front of the loop over tiles, from factors of bits of the exponent and a part of
// the fraction, whose element and cubic are a power between 1 and 2, times the rest. Both are added by a multiply-add. A product with a root is such a power.
// CHECK-LABEL: llvm.func @powers(
// CHECK-COUNT-9: arith.mulf {{.*}} : f64
// CHECK:         %[[POWER:.*]] = arith.truncf {{.*}} : f64 to f32
// CHECK:         arith.constant 0xFF800000 : f32
// CHECK:         %[[SCALE:.*]] = arith.truncf {{.*}} : f64 to f32
// CHECK:         llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK:         nvvm.barrier0
// CHECK:         "lg2.approx.ftz.f32 $0, $1;"
// CHECK:         arith.mulf
// CHECK-NEXT:    "ex2.approx.ftz.f32 $0, $1;"
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    llvm.intr.fma
// CHECK:         arith.shrui
// CHECK:         arith.andi
// CHECK:         llvm.load {{.*}} -> vector<2xf32>
// CHECK-COUNT-4: llvm.intr.fma
// CHECK:         arith.mulf
// CHECK:         arith.mulf
// CHECK-NEXT:    llvm.intr.fma
// CHECK-LABEL: llvm.func @roots(
// CHECK:         "sqrt.approx.ftz.f32 $0, $1;"
// CHECK:         llvm.intr.fma
// CHECK:         llvm.load {{.*}} -> vector<2xf32>
// CHECK-COUNT-4: llvm.intr.fma
// CHECK:         llvm.intr.fma
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @powers(%a: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [8, 16] : !tile.view<?x?xf32, [?, 1]>
      %p = tile.pairs %a, %a[%u] through %l, %r lanes 8 from 0.0 polynomials 8 zero_tail
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %exponent = arith.constant 2.3 : f32
        %d = arith.subf %e, %f : f32
        %m = math.absf %d : f32
        %w = math.powf %m, %exponent : f32
        %z = arith.addf %s, %w : f32
        tile.yield %z : f32
      }
      tile.store_pairs %p to %y[%u] lanes 8 : !tile.fragment<1x1x2xf32>, !tile.view<?x?xf32, [?, 1]>
    }
    gpu.return
  }
  gpu.func @roots(%a: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?xf32, [?, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>
    %r = tile.alloc : !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [8, 16] : !tile.view<?x?xf32, [?, 1]>
      %p = tile.pairs %a, %a[%u] through %l, %r lanes 8 from 0.0 polynomials 8 zero_tail
          : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <8x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <16x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x2xf32> {
      ^bb0(%e: f32, %f: f32, %s: f32):
        %d = arith.subf %e, %f : f32
        %m = math.absf %d : f32
        %q = math.sqrt %m : f32
        %w = arith.mulf %q, %m : f32
        %z = arith.addf %s, %w : f32
        tile.yield %z : f32
      }
      tile.store_pairs %p to %y[%u] lanes 8 : !tile.fragment<1x1x2xf32>, !tile.view<?x?xf32, [?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  tile.launch @kron_gpu::@powers tiles(%n) args(%a, %a, %n : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, i64)
  tile.launch @kron_gpu::@roots tiles(%n) args(%a, %a, %n : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, i64)
  return
}

// -----

// Verify rows that are loaded once, in front of the loop over blocks: two blocks arrive together, while the two in front are computed,
// and so do their values, in front of the first block and of the second one of each two. The function has no loop along K, and a column of the
// block is computed where its value is multiplied, in front of the next one. Sums of a block start from zero, and are added to those so far.
// CHECK-LABEL: llvm.func @kept_rows(
// CHECK:         scf.for {{.*}} : i64 {
// CHECK-COUNT-3:   llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f32
// CHECK:           scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32) : i32 {
// CHECK:             %[[WANTED:.*]] = arith.ori
// CHECK:             %[[EXIST:.*]] = arith.cmpi
// CHECK-NEXT:        %[[COPIES:.*]] = arith.andi %[[WANTED]], %[[EXIST]]
// CHECK-NEXT:        scf.if %[[COPIES]] {
// CHECK:               nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %{{.*}}
// CHECK:               nvvm.cp.async.commit.group
// CHECK:             scf.if
// CHECK-NEXT:          nvvm.barrier0
// CHECK:               nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
// CHECK:               nvvm.cp.async.commit.group
// CHECK:             scf.if
// CHECK-NEXT:          nvvm.cp.async.wait.group 0
// CHECK-NEXT:          nvvm.barrier0
// CHECK:               nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
// CHECK:               nvvm.cp.async.commit.group
// CHECK-NOT:         scf.for
// CHECK:             scf.if {{.*}} -> (f32) {
// CHECK-NOT:           {{scf|llvm.ptr<1>|llvm.load .* -> f32}}
// CHECK:               llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-3:       arith.subf
// CHECK-NOT:           {{scf|arith.subf}}
// CHECK:               llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK-NEXT:          llvm.intr.fma
// CHECK-NOT:           {{scf|llvm.load .* -> f32}}
// CHECK:               llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-3:       arith.subf
// CHECK:               llvm.load {{.*}} !llvm.ptr<3> -> f32
// CHECK-NEXT:          llvm.intr.fma
// CHECK:               %[[NEXT:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
// CHECK-NEXT:          scf.yield %[[NEXT]] : f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @kept_rows(%a: !tile.view<?x3xf32, [3, 1]>, %v: !tile.view<?x1xf32, [1, 1]>, %y: !tile.view<?x?x1xf32, [?, 1, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<4 of <8x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 32, 1] : !tile.view<?x?x1xf32, [?, 1, 1]>
      %r = tile.keep_rows %a[%u] lanes 2 : !tile.view<?x3xf32, [3, 1]> -> !tile.fragment<1x1x3xf32>
      %s = tile.for_pairs %m of %blocks by 8 [%u] times %v accumulate sum lanes 2 : !tile.view<?x1xf32, [1, 1]> -> !tile.fragment<1x1x1xf32> {
        %p = tile.pairs_of_rows %r, %a[%u, %m] through %l lanes 2 from 0.0
            : !tile.fragment<1x1x3xf32>, !tile.view<?x3xf32, [3, 1]>, !tile.ring<4 of <8x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x1x4xf32> {
        ^bb0(%e: f32, %f: f32, %o: f32):
          %d = arith.subf %e, %f : f32
          %z = math.fma %d, %d, %o : f32
          tile.yield %z : f32
        }
        tile.yield %p : !tile.fragment<1x1x4xf32>
      }
      tile.store_pairs %s to %y[%u] lanes 2 sums : !tile.fragment<1x1x1xf32>, !tile.view<?x?x1xf32, [?, 1, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n) strides() : !llvm.ptr -> !tile.view<?x3xf32, [3, 1]>
  %v = tile.view %p sizes(%n) strides() : !llvm.ptr -> !tile.view<?x1xf32, [1, 1]>
  %y = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?x1xf32, [?, 1, 1]>
  tile.launch @kron_gpu::@kept_rows tiles(%n) args(%a, %v, %y, %n, %n : !tile.view<?x3xf32, [3, 1]>, !tile.view<?x1xf32, [1, 1]>, !tile.view<?x?x1xf32, [?, 1, 1]>, i64, i64)
  return
}

// -----

// Verify rows that warpgroups multiply, small products first, from zero on in each step: one thread starts copies of a later step,
// of the next block if this one has none, while they are under way, once all warps are done with their slot. Values are copied in
// front of their block, are waited for behind these, and are multiplied by elements split in TF32; sums that are not finite
// are computed by multiply-adds.
// CHECK-LABEL: llvm.func @packed_values(
// CHECK:         scf.if
// CHECK-COUNT-2:   "mbarrier.init.shared::cta.b64 [$0], $1;", "l,r,~{memory}" %{{.*}}, %{{c1_i32.*}} :{{.*}}
// CHECK:           "fence.mbarrier_init.release.cluster;"
// CHECK:         scf.for
// CHECK:         nvvm.barrier0
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK:           nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %{{.*}}
// CHECK-NEXT:      nvvm.cp.async.commit.group
// CHECK:           scf.if
// CHECK-NEXT:        nvvm.barrier0
// CHECK:             mbarrier.try_wait.parity
// CHECK-COUNT-4:     cp.async.bulk.shared::cluster.global
// CHECK:           scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK-COUNT-2:     nvvm.shfl.sync idx
// CHECK:             mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@!p bra wait_${:uid};
// CHECK:             wgmma.fence.sync.aligned;{{.*}}wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{.*}},a,b,0,1,1,0,0;{{.*}}wgmma.mma_async{{.*}},a,b,1,1,1,0,0;{{.*}}wgmma.commit_group.sync.aligned;
// CHECK:             scf.if
// CHECK:               mbarrier.try_wait.parity
// CHECK:               mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;
// CHECK-COUNT-4:       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
// CHECK:             "wgmma.wait_group.sync.aligned 0;"
// CHECK:             scf.if
// CHECK:               "mbarrier.arrive.shared::cta.b64 _, [$0];"
// CHECK-COUNT-16:    arith.addf
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK-NEXT:      nvvm.barrier0
// CHECK:           nvvm.vote.sync all
// CHECK:           scf.if {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK:           llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK:           arith.addi
// CHECK:           arith.andi
// CHECK:           arith.subf
// CHECK-COUNT-12:  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK:           nvvm.vote.sync any
// CHECK:           scf.if
// CHECK:             nvvm.shfl.sync bfly
// CHECK:         st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @packed_values(%a: !tile.view<?x?x32xf16, [?, 32, 1]>, %e: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <128x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    %o = tile.alloc : !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
    %q = tile.alloc : !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
    %w = tile.alloc : !tile.ring<2 of <4x128xf32>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 8] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %x through %w accumulate sum lanes 4 : !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <4x128xf32>> -> !tile.fragment<1x2x2xf32, wgmma.m64k16> {
        %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?x?x32xf16, [?, 32, 1]>) by(%a, %a : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?x?x32xf16, [?, 32, 1]>) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) along %n roundings 16.0 : !tile.ring<2 of <128x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x8xf32, wgmma.m64k16>
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !tile.fragment<1x2x8xf32, wgmma.m64k16>)
            : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x2x8xf32, wgmma.m64k16> {
        ^bb0(%f: f32, %g: f32, %i: f32):
          %j = arith.subf %f, %g : f32
          %z = math.fma %j, %j, %i : f32
          tile.yield %z : f32
        }
        tile.yield %d : !tile.fragment<1x2x8xf32, wgmma.m64k16>
      }
      tile.store_pairs %s to %y[%u] lanes 4 : !tile.fragment<1x2x2xf32, wgmma.m64k16>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?x32xf16, [?, 32, 1]>
  %e = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  %x = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  %y = tile.view %p sizes(%n, %n, %n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x?x?xf32, [?, ?, 1]>
  tile.launch @kron_gpu::@packed_values tiles(%n) args(%a, %e, %x, %y, %n, %n : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?xf32, [1]>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?x?xf32, [?, ?, 1]>, i64, i64)
  return
}

// -----

// Verify that values which multiply-adds take arrive in front of the rows of their block, zeros for those that do not exist, in one of two
// places, and are loaded two at a time; of a block that is not whole, elements that do not exist are zeros.
// CHECK-LABEL: llvm.func @values(
// CHECK:         nvvm.barrier0
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32, f32)
// CHECK:           %[[BYTES:.*]] = arith.select %{{.*}}, %{{c4_i32.*}}, %{{c0_i32.*}} : i32
// CHECK:           nvvm.cp.async.shared.global {{.*}}, 4, cache = ca, %[[BYTES]]
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           cp.async.bulk.shared::cluster.global
// CHECK:           nvvm.vote.sync all
// CHECK:           scf.if {{.*}} -> (f32, f32) {
// CHECK-NOT:         arith.select
// CHECK-COUNT-4:     llvm.load {{.*}} !llvm.ptr<3> -> vector<2xf32>
// CHECK:           } else {
// CHECK-COUNT-16:    arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @values(%a: !tile.view<?x?x32xf16, [?, 32, 1]>, %e: !tile.view<?xf32, [1]>, %x: !tile.view<?x?xf32, [?, 1]>, %y: !tile.view<?x?x?xf32, [?, ?, 1]>, %blocks: i64, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2>} {
    %l = tile.alloc : !tile.ring<2 of <128x32xf16>>
    %r = tile.alloc : !tile.ring<2 of <64x32xf16>>
    %o = tile.alloc : !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>
    %q = tile.alloc : !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>>
    tile.for %t to %n {
      %u = tile.place %t of %y by [1, 64, 1] : !tile.view<?x?x?xf32, [?, ?, 1]>
      %s = tile.for_pairs %m of %blocks by 32 [%u] times %x accumulate sum lanes 4 : !tile.view<?x?xf32, [?, 1]> -> !tile.fragment<1x2x1xf32, wgmma.m64k16> {
        %p, %h = tile.multiply_rows(%a, %a : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?x?x32xf16, [?, 32, 1]>) by(%a, %a : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?x?x32xf16, [?, 32, 1]>) [%u, %m] through %l, %r lanes 4
            norms(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) scales(%e, %e : !tile.view<?xf32, [1]>, !tile.view<?xf32, [1]>) along %n roundings 16.0 : !tile.ring<2 of <128x32xf16>>, !tile.ring<2 of <64x32xf16>> -> !tile.fragment<1x2x8xf32, wgmma.m64k16>
        %d = tile.pairs %x, %x[%u, %m] through %o, %q lanes 4 from 0.0 zero_tail products(%p held %h : !tile.fragment<1x2x8xf32, wgmma.m64k16>)
            : !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?xf32, [?, 1]>, !tile.ring<2 of <64x8xf32, #tile.layout<[12, 1]>>>, !tile.ring<2 of <32x8xf32, #tile.layout<[12, 1]>>> -> !tile.fragment<1x2x8xf32, wgmma.m64k16> {
        ^bb0(%f: f32, %g: f32, %i: f32):
          %j = arith.subf %f, %g : f32
          %z = math.fma %j, %j, %i : f32
          tile.yield %z : f32
        }
        tile.yield %d : !tile.fragment<1x2x8xf32, wgmma.m64k16>
      }
      tile.store_pairs %s to %y[%u] lanes 4 sums : !tile.fragment<1x2x1xf32, wgmma.m64k16>, !tile.view<?x?x?xf32, [?, ?, 1]>
    }
    gpu.return
  }
}
func.func @launch(%p: !llvm.ptr, %n: i64) {
  %a = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?x32xf16, [?, 32, 1]>
  %e = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  %x = tile.view %p sizes(%n, %n) strides(%n) : !llvm.ptr -> !tile.view<?x?xf32, [?, 1]>
  %y = tile.view %p sizes(%n, %n, %n) strides(%n, %n) : !llvm.ptr -> !tile.view<?x?x?xf32, [?, ?, 1]>
  tile.launch @kron_gpu::@values tiles(%n) args(%a, %e, %x, %y, %n, %n : !tile.view<?x?x32xf16, [?, 32, 1]>, !tile.view<?xf32, [1]>, !tile.view<?x?xf32, [?, 1]>, !tile.view<?x?x?xf32, [?, ?, 1]>, i64, i64)
  return
}
