// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that each of three groups takes tiles of its own: group g of CTA c starts with tile
// g * CTAs + c, three of whose pieces of 64 x 32 are copied to its ring, by 16 bytes if the
// array turns out to be aligned, if that tile exists; that the factor is packed in three
// parts, which the matrix unit sees behind a fence and a barrier; that a group waits for a
// piece, meets by itself, starts to copy the next one, and multiplies, small products in sums
// of their own; that products wait for those of the piece before, and at the end for all;
// that sums which are not finite are computed again from the array; and that results are
// stored by 16 bytes of a row.
// CHECK-LABEL: llvm.func @quads(
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %c128{{.*}} : i32
// CHECK:         arith.muli %{{.*}}, %[[GROUP]] : i32
// CHECK:         arith.cmpi slt
// CHECK:         scf.if
// CHECK-COUNT-4:   nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         llvm.fptrunc %{{.*}} : f32 to bf16
// CHECK:         fence.proxy.async;
// CHECK:         nvvm.barrier0
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 2
// CHECK:           nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK:           nvvm.cp.async.commit.group
// CHECK-COUNT-4:   llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           m64n128k16.f32.bf16.bf16{{.*}},d,0,1,1,0;{{.*}}wgmma.commit_group.sync.aligned;\0A}"
// CHECK:           m64n128k8.f32.tf32.tf32{{.*}},d,0,1,1;{{.*}}wgmma.wait_group.sync.aligned 2;
// CHECK:           m64n128k16.f32.bf16.bf16{{.*}},d,1,1,1,0;
// CHECK:           m64n128k8.f32.tf32.tf32{{.*}},d,1,1,1;{{.*}}wgmma.wait_group.sync.aligned 2;
// CHECK:           wgmma.wait_group.sync.aligned 2;
// CHECK:           wgmma.wait_group.sync.aligned 0;
// CHECK:           arith.addf
// CHECK:           nvvm.vote.sync any
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK:           st.global.cs.v4.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quads(%x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>, %f: !tile.view<128x128xf32, [128, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 384, ctas_per_sm = 1, groups = 3>} {
    %r = tile.alloc : !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f residuals : !tile.view<128x128xf32, [128, 1]> -> !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 128], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 3> : !tile.view<?x128xf32, [128, 1]>, !tile.operand<128x128xf32, wgmma.m64k8.tf32 quads>, !tile.ring<4 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 128] bytes 16 axes [0, 1] : !tile.fragment<1x64x128xf32, wgmma.m64k8.tf32>, !tile.view<?x128xf32, [128, 1]>
    }
    gpu.return
  }
}
func.func @quads_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x128xf32, [128, 1]>
  %y = tile.view %b1 sizes(%n) : !llvm.ptr -> !tile.view<?x128xf32, [128, 1]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<128x128xf32, [128, 1]>
  tile.launch @kron_gpu::@quads tiles(%n) args(%x, %y, %f, %m : !tile.view<?x128xf32, [128, 1]>, !tile.view<?x128xf32, [128, 1]>, !tile.view<128x128xf32, [128, 1]>, i32)
  return
}

// -----

// Verify that two CTAs that follow each other take the same tiles, of whose results each has
// 64; that a CTA that is left over takes none; that products without residuals are of TF32
// alone, and nothing is looked at; and that K, which ends within the second piece, is filled
// up with zeros by the copies.
// CHECK-LABEL: llvm.func @shares(
// CHECK:         %[[TILE:.*]] = arith.divui %[[CTA:.*]], %c2{{.*}} : i32
// CHECK:         %[[HAS:.*]] = arith.cmpi slt, %[[TILE]], %{{.*}} : i32
// CHECK:         arith.select %[[HAS]], %[[TILE]], %{{.*}} : i32
// CHECK:         %[[PART:.*]] = arith.remui %[[CTA]], %c2{{.*}} : i32
// CHECK:         arith.muli %[[PART]], %c64{{.*}} : i32
// CHECK:         scf.for
// CHECK-NOT:       nvvm.vote.sync
// CHECK:           m64n64k8.f32.tf32.tf32
// CHECK-NOT:       bf16
// CHECK:           wgmma.wait_group.sync.aligned 1;
// CHECK:           m64n64k8.f32.tf32.tf32
// CHECK:           wgmma.wait_group.sync.aligned 0;
// CHECK-NOT:       nvvm.vote.sync
// CHECK:           st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @shares(%x: !tile.view<40x9xf32, [9, 1]>, %y: !tile.view<100x9xf32, [9, 1]>, %f: !tile.view<40x100xf32, [100, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 2, shares = 2>} {
    %r = tile.alloc : !tile.ring<2 of <32x9xf32, #tile.layout<[16, 1]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 9], block = [32, 9], axes = [0, 1], warps = 4, bytes = 4, ahead = 1> : !tile.view<40x9xf32, [9, 1]>, !tile.ring<2 of <32x9xf32, #tile.layout<[16, 1]>>>
    %p = tile.prepare %f : !tile.view<40x100xf32, [100, 1]> -> !tile.operand<40x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 0 pieces <sizes = [64, 9], block = [32, 9], axes = [0, 1], warps = 4, bytes = 4, ahead = 1> : !tile.view<40x9xf32, [9, 1]>, !tile.operand<40x64xf32, wgmma.m64k8.tf32 pairs>, !tile.ring<2 of <32x9xf32, #tile.layout<[16, 1]>>> -> !tile.fragment<1x64x9xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [0] box [100, 9] bytes 4 axes [0, 1] : !tile.fragment<1x64x9xf32, wgmma.m64k8.tf32>, !tile.view<100x9xf32, [9, 1]>
    }
    gpu.return
  }
}
func.func @shares_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 : !llvm.ptr -> !tile.view<40x9xf32, [9, 1]>
  %y = tile.view %b1 : !llvm.ptr -> !tile.view<100x9xf32, [9, 1]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<40x100xf32, [100, 1]>
  tile.launch @kron_gpu::@shares tiles(%n) args(%x, %y, %f, %m : !tile.view<40x9xf32, [9, 1]>, !tile.view<100x9xf32, [9, 1]>, !tile.view<40x100xf32, [100, 1]>, i32)
  return
}

// -----

// Verify that a lane stores two results of a fibre together where neighbours of the array lie
// along what is contracted, which is not the innermost dimension of the tile.
// CHECK-LABEL: llvm.func @along(
// CHECK:         wgmma.wait_group.sync.aligned 0;
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.extractvalue %{{.*}}[0] :
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.extractvalue %{{.*}}[1] :
// CHECK:         %[[ONE:.*]] = llvm.insertelement %[[FIRST]], %{{.*}} : vector<2xf32>
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    llvm.insertelement %[[SECOND]], %[[ONE]]{{.*}} : vector<2xf32>
// CHECK-COUNT-4: st.global.cs.v2.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @along(%x: !tile.view<64x1024xf32, [1024, 1]>, %y: !tile.view<16x1024xf32, [1, 16]>, %f: !tile.view<64x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 64], block = [32, 64], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<64x1024xf32, [1024, 1]>, !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>>
    %p = tile.prepare %f : !tile.view<64x16xf32, [16, 1]> -> !tile.operand<64x16xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 0 pieces <sizes = [64, 64], block = [32, 64], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<64x1024xf32, [1024, 1]>, !tile.operand<64x16xf32, wgmma.m64k8.tf32 pairs>, !tile.ring<3 of <32x64xf32, #tile.layout<[64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.fragment<1x16x64xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [0] box [16, 64] bytes 8 axes [0, 1] : !tile.fragment<1x16x64xf32, wgmma.m64k8.tf32>, !tile.view<16x1024xf32, [1, 16]>
    }
    gpu.return
  }
}
func.func @along_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 : !llvm.ptr -> !tile.view<64x1024xf32, [1024, 1]>
  %y = tile.view %b1 : !llvm.ptr -> !tile.view<16x1024xf32, [1, 16]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<64x16xf32, [16, 1]>
  tile.launch @kron_gpu::@along tiles(%n) args(%x, %y, %f, %m : !tile.view<64x1024xf32, [1024, 1]>, !tile.view<16x1024xf32, [1, 16]>, !tile.view<64x16xf32, [16, 1]>, i32)
  return
}

// -----

// Verify the same of two neighbouring fibres at a position where neighbours lie along fibres, and
// what is contracted is the innermost dimension; results that may not be aligned are stored one by
// one.
// CHECK-LABEL: llvm.func @columns(
// CHECK:         wgmma.wait_group.sync.aligned 0;
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.extractvalue %{{.*}}[0] :
// CHECK-NEXT:    llvm.extractvalue %{{.*}}[1] :
// CHECK-NEXT:    %[[SECOND:.*]] = llvm.extractvalue %{{.*}}[2] :
// CHECK:         %[[ONE:.*]] = llvm.insertelement %[[FIRST]], %{{.*}} : vector<2xf32>
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    llvm.insertelement %[[SECOND]], %[[ONE]]{{.*}} : vector<2xf32>
// CHECK-COUNT-4: st.global.cs.v2.f32
// CHECK:         } else {
// CHECK-COUNT-8: st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @columns(%x: !tile.view<1024x64xf32, [64, 1]>, %y: !tile.view<1024x16xf32, [1, 1024]>, %f: !tile.view<64x16xf32, [16, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    tile.copy_pieces %x to %r pieces <sizes = [64, 64], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<1024x64xf32, [64, 1]>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>>
    %p = tile.prepare %f : !tile.view<64x16xf32, [16, 1]> -> !tile.operand<64x16xf32, wgmma.m64k8.tf32 quads>
    tile.barrier
    tile.for %t to %n : i32 {
      %s = tile.contract_pieces %x[%t], %p in %r along 1 pieces <sizes = [64, 64], block = [64, 32], axes = [0, 1], warps = 4, bytes = 16, ahead = 2> : !tile.view<1024x64xf32, [64, 1]>, !tile.operand<64x16xf32, wgmma.m64k8.tf32 quads>, !tile.ring<3 of <64x32xf32, #tile.layout<[32, 1], swizzle = [6, 4, 7, 3]>>> -> !tile.fragment<1x64x16xf32, wgmma.m64k8.tf32>
      tile.store %s to %y[%t] along [1] box [64, 16] bytes 8 axes [0, 1] : !tile.fragment<1x64x16xf32, wgmma.m64k8.tf32>, !tile.view<1024x16xf32, [1, 1024]>
    }
    gpu.return
  }
}
func.func @columns_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 : !llvm.ptr -> !tile.view<1024x64xf32, [64, 1]>
  %y = tile.view %b1 : !llvm.ptr -> !tile.view<1024x16xf32, [1, 1024]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<64x16xf32, [16, 1]>
  tile.launch @kron_gpu::@columns tiles(%n) args(%x, %y, %f, %m : !tile.view<1024x64xf32, [64, 1]>, !tile.view<1024x16xf32, [1, 1024]>, !tile.view<64x16xf32, [16, 1]>, i32)
  return
}
