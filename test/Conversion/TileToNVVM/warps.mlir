// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that each of two warps copies its half of a tile, by 16 bytes of which lanes are
// neighbours, what is not known of an index swizzled apart from what is; that tiles are
// counted in 32 bits; that the elements of a factor are loaded once and stay in
// registers; that a lane loads two pairs of each of two boxes, multiplies 16 fibres by an
// instruction each, and writes where it has read.
// CHECK-LABEL: llvm.func @copied(
// CHECK:         %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         %[[WARP:.*]] = arith.divui %[[THREAD]], %c32_i32{{.*}} : i32
// CHECK:         %[[PART:.*]] = arith.muli %[[WARP]], %c512_i32{{.*}} : i32
// CHECK:         %[[LANE:.*]] = arith.andi %[[THREAD]], %c31_i32{{.*}} : i32
// CHECK:         %[[PAIR:.*]] = arith.muli %[[LANE]], %c2_i32{{.*}} : i32
// CHECK:         %[[INDEX:.*]] = arith.addi %[[PART]], %[[PAIR]] : i32
// CHECK:         %[[MOVED:.*]] = arith.divui %[[INDEX]], %c2_i32{{.*}} : i32
// CHECK:         %[[BIT:.*]] = arith.andi %[[MOVED]], %c8_i32{{.*}} : i32
// CHECK:         arith.xori %[[INDEX]], %[[BIT]] : i32
// CHECK-COUNT-8: nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<1> -> f64
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<1> -> f64
// CHECK:         scf.for {{.*}} : i32 {
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           nvvm.bar.warp.sync
// CHECK-COUNT-4:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-2:   mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-COUNT-4:   llvm.store %{{.*}} {alignment = 16 : i64} : vector<2xf64>, !llvm.ptr<3>
// CHECK-COUNT-4:   llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-2:   mma.sync.aligned.m16n8k8.row.col.f64
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @copied(%x: !tile.view<?x8x16xf64, [128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %tiles: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>>
    %a = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 apart>
    tile.for %t to %tiles : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
      tile.barrier groups 2
      tile.for_boxes %u of 8 together 2 warps 2 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<2x8x16xf64, dmma.m16n8k8>
        %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [32, 8] whole : !tile.fragment<2x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 apart> -> !tile.fragment<2x8x16xf64, dmma.m16n8k8>
        tile.exchange %c to %s[%u] along [1] : !tile.fragment<2x8x16xf64, dmma.m16n8k8>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
      }
      tile.release %s : !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
      tile.barrier
      %b = tile.acquire %r : !tile.ring<2 of <8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>> -> !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
      tile.copy %x[%t + 1] to %b groups 2 bytes 16 : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.buffer<8x8x16xf64, #tile.layout<[128, 16, 1], swizzle = [4, 3]>>
    }
    gpu.return
  }
}

func.func @copied_host(%px: !llvm.ptr, %pf: !llvm.ptr, %n: i64, %t: i32) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x16xf64, [128, 16, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x8xf64, [8, 1]>
  tile.launch @kron_gpu::@copied tiles(%n) args(%x, %f, %t : !tile.view<?x8x16xf64, [128, 16, 1]>, !tile.view<8x8xf64, [8, 1]>, i32)
  return
}

// -----

// Verify that pairs of the innermost axis are positions of it: rows 2t and 2t + 1 of the
// factor are loaded; that pairs are stored if they are inside of the view, and the addend
// is read where beta is not 0.
// CHECK-LABEL: llvm.func @stored(
// CHECK:         %[[SLOT:.*]] = arith.andi %{{.*}}, %c3_i32{{.*}} : i32
// CHECK:         %[[ROW:.*]] = arith.muli %[[SLOT]], %c2_i32{{.*}} : i32
// CHECK:         arith.addi %[[ROW]], %c1_i32{{.*}} : i32
// CHECK:         scf.for
// CHECK:           mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             %[[IS_ZERO:.*]] = arith.cmpf {{.*}} : f64
// CHECK:             scf.if %[[IS_ZERO]]
// CHECK:             } else {
// CHECK:               llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf64>
// CHECK:             st.global.cs.v2.f64
// CHECK:           scf.if
// CHECK:             st.global.cs.v2.f64
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @stored(%y: !tile.view<?x8xf64, [8, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %b: f64, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 1>} {
    %s = tile.alloc : !tile.buffer<16x8xf64>
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 pairs>
    tile.for %t to %tiles {
      tile.for_boxes %u of 1 warps 1 {
        %v = tile.load %s[%u] along [1] : !tile.buffer<16x8xf64> -> !tile.fragment<1x16x8xf64, dmma.m16n8k8>
        %c = tile.contract %v, %p along 2 atom <dmma.m16n8k8> block [16, 8] whole : !tile.fragment<1x16x8xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 pairs> -> !tile.fragment<1x16x8xf64, dmma.m16n8k8>
        tile.store %c[%u] to %y[%t] along [1] beta %b : f64 addend %y : !tile.view<?x8xf64, [8, 1]> box [16, 8] bytes 16 : !tile.fragment<1x16x8xf64, dmma.m16n8k8>, !tile.view<?x8xf64, [8, 1]>
      }
    }
    gpu.return
  }
}

func.func @stored_host(%py: !llvm.ptr, %pf: !llvm.ptr, %b: f64, %n: i64) {
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8xf64, [8, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x8xf64, [8, 1]>
  tile.launch @kron_gpu::@stored tiles(%n) args(%y, %f, %b, %n : !tile.view<?x8xf64, [8, 1]>, !tile.view<8x8xf64, [8, 1]>, f64, i64)
  return
}

// -----

// Verify that each CTA of a cluster copies its half of a tile, the warps of three slots
// from the start and those of the last one behind; that a lane reads a pair of its own
// slot from both CTAs, and rows of the factor in the order of these.
// CHECK-LABEL: llvm.func @halves(
// CHECK:         %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank : i32
// CHECK:         %[[OWN:.*]] = arith.muli %[[RANK]], %c4_i32{{.*}} : i32
// CHECK:         arith.addi %{{.*}}, %[[OWN]] : i32
// CHECK:         arith.subi %c4_i32{{.*}}, %[[OWN]] : i32
// CHECK:         scf.for
// CHECK:           mapa.shared::cluster.u32 a, $2, $3; ld.shared::cluster.v2.f64 {$0, $1}, [a];
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf64>
// CHECK:           barrier.cluster.arrive
// CHECK:           mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:           barrier.cluster.wait
// CHECK:           %[[LATE:.*]] = arith.cmpi slt, %c2_i32{{.*}}, %{{.*}} : i32
// CHECK:           scf.if %[[LATE]]
// CHECK-COUNT-2:     nvvm.cp.async.shared.global
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @halves(%x: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %y: !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, %f: !tile.view<8x8xf64, [8, 1]>, %tiles: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1, cluster = 2>} {
    %p = tile.prepare %f : !tile.view<8x8xf64, [8, 1]> -> !tile.operand<8x8xf64, dmma.m16n8k8 halves>
    %r = tile.alloc : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1>
    %a = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.copy %x[0] to %a groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    tile.for %t to %tiles : i32 {
      %s = tile.wait %r pending 0 : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      %b = tile.acquire %r : !tile.ring<7 of <1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> along 1> -> !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.copy %x[%t + 1] to %b part [0, 3] groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.barrier cluster
      tile.for_boxes %u of 8 warps 8 {
        %v = tile.load %s[%u] along [1] halves : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
        tile.barrier cluster arrive
        %c = tile.contract %v, %p along 1 atom <dmma.m16n8k8> block [16, 8] whole : !tile.fragment<1x8x16xf64, dmma.m16n8k8>, !tile.operand<8x8xf64, dmma.m16n8k8 halves> -> !tile.fragment<1x8x16xf64, dmma.m16n8k8>
        tile.store %c[%u] to %y[%t] along [1] box [1, 8, 8, 16] bytes 16 : !tile.fragment<1x8x16xf64, dmma.m16n8k8>, !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>
      }
      tile.release %s : !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
      tile.barrier cluster wait
      tile.copy %x[%t + 1] to %b part [3, 4] groups 4 together 2 bytes 16 split : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.buffer<1x4x8x16xf64, #tile.layout<[512, 128, 16, 1], swizzle = [4, 3]>>
    }
    gpu.return
  }
}

func.func @halves_host(%px: !llvm.ptr, %py: !llvm.ptr, %pf: !llvm.ptr, %n: i64, %t: i32) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>
  %f = tile.view %pf : !llvm.ptr -> !tile.view<8x8xf64, [8, 1]>
  tile.launch @kron_gpu::@halves tiles(%n) args(%x, %y, %f, %t : !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.view<?x8x8x16xf64, [1024, 128, 16, 1]>, !tile.view<8x8xf64, [8, 1]>, i32)
  return
}
