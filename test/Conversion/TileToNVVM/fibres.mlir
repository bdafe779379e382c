// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that group g of two starts with tile g * CTAs + c, if that exists, into a ring of its
// own; that lines of the next tile go to the second-level cache; that the threads of a group
// meet alone in the loop; that 64 fibres of pairs become one series of products, of which
// sums that are not finite are computed again from shared memory; that where arrays are
// aligned, which is tested once, in front of the loop, warps fill what they have read by 16 bytes,
// behind a meeting of the warp, and store pairs; and that elsewhere sums go back to shared memory,
// from where elements go to the array.
// CHECK-LABEL: llvm.func @refilled(
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %c128{{.*}} : i32
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         fence.proxy.async;
// CHECK:         nvvm.barrier0
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.for
// CHECK:           prefetch.global.L2
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK-COUNT-16:  llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK:           m64n64k16.f32.bf16.bf16{{.*}},d,0,1,1,0;{{.*}}m64n64k8.f32.tf32.tf32{{.*}}wgmma.wait_group.sync.aligned 0;
// CHECK:           nvvm.vote.sync any
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:           scf.if %[[ALIGNED]] {
// CHECK:             nvvm.bar.warp.sync
// CHECK-COUNT-8:     nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:             st.global.cs.v2.f32
// CHECK:           } else {
// CHECK:             nvvm.bar.warp.sync
// CHECK:             llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK:           scf.if %[[ALIGNED]] {
// CHECK-NEXT:        nvvm.cp.async.commit.group
// CHECK-NEXT:      } else {
// CHECK:             nvvm.barrier id
// CHECK:             st.global.cs.f32
// CHECK:             nvvm.barrier id
// CHECK:             nvvm.cp.async.commit.group
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @refilled(%x: !tile.view<?x64x64xf32, [4096, 64, 1]>, %y: !tile.view<?x64x64xf32, [4096, 64, 1]>, %f: !tile.view<64x64xf32, [64, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1, groups = 2>} {
    %r = tile.alloc : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>>
    %free = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
    %p = tile.prepare %f residuals : !tile.view<64x64xf32, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      tile.prefetch %x[%t] box [1, 64, 64] axes [0, 1, 2] : !tile.view<?x64x64xf32, [4096, 64, 1]>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.if_aligned %y, %x bytes 16 axis 2 {
          tile.refill %slot[%b] with %x[%t] axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
          tile.store %s[%b] to %y[%t] along [1] box [1, 64, 64] bytes 16 axes [0, 1, 2] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        } else {
          tile.exchange %s to %slot[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
      }
      tile.if_aligned %y, %x bytes 16 axis 2 {
        tile.refilled %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } else {
        tile.barrier
        tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>, !tile.view<?x64x64xf32, [4096, 64, 1]>
        tile.release %slot : !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.barrier
        %next = tile.acquire %r : !tile.ring<1 of <1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>> -> !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
        tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.buffer<1x64x64xf32, #tile.layout<[4096, 64, 1], swizzle = [7, 4, 8, 3]>>
      } : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>
    }
    gpu.return
  }
}
func.func @refilled_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %b2: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x64x64xf32, [4096, 64, 1]>
  %y = tile.view %b1 sizes(%n) : !llvm.ptr -> !tile.view<?x64x64xf32, [4096, 64, 1]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<64x64xf32, [64, 1]>
  tile.launch @kron_gpu::@refilled tiles(%n) args(%x, %y, %f, %m : !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<?x64x64xf32, [4096, 64, 1]>, !tile.view<64x64xf32, [64, 1]>, i32)
  return
}

// -----

// Verify that f16 along the innermost dimension is loaded as matrices, and multiplied as it
// is; that sums go to a buffer of f32 four neighbours at a time, and are TF32 operands there; and
// that rows become bytes: 256 threads agree on the largest magnitude through shared memory.
// CHECK-LABEL: llvm.func @quantized(
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK:         m64n64k16.f32.f16.f16{{.*}},d,0,1,1,0;
// CHECK:         llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         m64n64k8.f32.tf32.tf32
// CHECK-COUNT-16: arith.maxui
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK:         nvvm.barrier0
// CHECK:         prmt.b32 a, $1, $2, 0x0040
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @quantized(%x: !tile.view<?x64x64xf16, [4096, 64, 1]>, %f: !tile.view<64x64xf16, [64, 1]>, %q: !tile.view<?x4096xi8, [4096, 1]>, %c: !tile.view<?xf32, [1]>, %n: i32, %a: f32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 256, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<2 of <1x64x64xf16>>
    %w = tile.alloc : !tile.buffer<1x64x64xf32>
    %free = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
    %p = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf16, wgmma.m64k16 quads>
    %o = tile.prepare %f : !tile.view<64x64xf16, [64, 1]> -> !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs>
    tile.barrier
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<2 of <1x64x64xf16>> -> !tile.buffer<1x64x64xf16>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1, 2] rounded : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.buffer<1x64x64xf16>
      tile.for_fibres %b of [1, 64, 64] along 2 {
        %s = tile.contract_fibres %slot[%b], %p : !tile.buffer<1x64x64xf16>, !tile.operand<64x64xf16, wgmma.m64k16 quads> -> !tile.fragment<1x64x64xf32, wgmma.m64k16>
        tile.exchange %s to %w[%b] along [2] : !tile.fragment<1x64x64xf32, wgmma.m64k16>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.for_fibres %b of [1, 64, 64] along 1 {
        %s = tile.contract_fibres %w[%b], %o : !tile.buffer<1x64x64xf32>, !tile.operand<64x64xf32, wgmma.m64k8.tf32 pairs> -> !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>
        tile.exchange %s to %w[%b] along [1] : !tile.fragment<1x64x64xf32, wgmma.m64k8.tf32>, !tile.buffer<1x64x64xf32>
      }
      tile.barrier
      tile.quantize %w to %q[%t] scales %c alpha %a : !tile.buffer<1x64x64xf32>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>
      tile.release %slot : !tile.buffer<1x64x64xf16>
    }
    gpu.return
  }
}
func.func @quantized_host(%b0: !llvm.ptr, %b2: !llvm.ptr, %b3: !llvm.ptr, %b4: !llvm.ptr, %n: i64, %m: i32, %a: f32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x64x64xf16, [4096, 64, 1]>
  %f = tile.view %b2 : !llvm.ptr -> !tile.view<64x64xf16, [64, 1]>
  %q = tile.view %b3 sizes(%n) : !llvm.ptr -> !tile.view<?x4096xi8, [4096, 1]>
  %c = tile.view %b4 sizes(%n) : !llvm.ptr -> !tile.view<?xf32, [1]>
  tile.launch @kron_gpu::@quantized tiles(%n) args(%x, %f, %q, %c, %m, %a : !tile.view<?x64x64xf16, [4096, 64, 1]>, !tile.view<64x64xf16, [64, 1]>, !tile.view<?x4096xi8, [4096, 1]>, !tile.view<?xf32, [1]>, i32, f32)
  return
}

// -----

// Verify that of a tile that is stored element by element, whose rows are no powers of two, neighbouring lanes store
// neighbours along the innermost dimension, as they copy them.
// CHECK-LABEL: llvm.func @ragged(
// CHECK:         %[[COPIED:.*]] = arith.remui %{{.*}}, %c32
// CHECK:         arith.addi %{{.*}}, %[[COPIED]]
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache =  ca
// CHECK:         nvvm.barrier0
// CHECK:         %[[WARP:.*]] = arith.divui %{{.*}}, %c32
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK:         %[[ROW:.*]] = arith.remui %[[WARP]], %c3
// CHECK:         %[[BEFORE:.*]] = arith.muli %[[ROW]], %c20
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         %[[ROWS:.*]] = arith.muli %[[ROW]], %c20
// CHECK:         %[[IN:.*]] = arith.addi %{{.*}}, %[[ROWS]]
// CHECK:         %[[PLACE:.*]] = arith.addi %[[IN]], %[[LANE]]
// CHECK:         %[[BYTES:.*]] = arith.muli %[[PLACE]], %c4
// CHECK:         %[[TO:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]] : (!llvm.ptr<1>, i32)
// CHECK:         st.global.cs.f32 [$0], $1;{{.*}} %[[TO]]
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @ragged(%x: !tile.view<?x3x20xf32, [60, 20, 1]>, %y: !tile.view<?x3x20xf32, [60, 20, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x3x20xf32>>
    tile.for %t to %n : i32 {
      tile.barrier
      %free = tile.acquire %r : !tile.ring<1 of <1x3x20xf32>> -> !tile.buffer<1x3x20xf32>
      tile.copy %x[%t + 0] to %free bytes 4 fill axes [0, 1, 2] rounded : !tile.view<?x3x20xf32, [60, 20, 1]>, !tile.buffer<1x3x20xf32>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x3x20xf32>> -> !tile.buffer<1x3x20xf32>
      tile.barrier
      tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x3x20xf32>, !tile.view<?x3x20xf32, [60, 20, 1]>
      tile.release %slot : !tile.buffer<1x3x20xf32>
    }
    gpu.return
  }
}
func.func @ragged_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x3x20xf32, [60, 20, 1]>
  %y = tile.view %b1 sizes(%n) : !llvm.ptr -> !tile.view<?x3x20xf32, [60, 20, 1]>
  tile.launch @kron_gpu::@ragged tiles(%n) args(%x, %y, %m : !tile.view<?x3x20xf32, [60, 20, 1]>, !tile.view<?x3x20xf32, [60, 20, 1]>, i32)
  return
}

// -----

// Verify that each warp copies rows of its own where there are enough: lanes take every 32nd element, whose places are
// known on top of the row's, the last of them if there is one; nobody divides by the length of a row. Of the results a
// thread stores a column, and divides once.
// CHECK-LABEL: llvm.func @rows(
// CHECK:         nvvm.barrier0
// CHECK:         arith.divui %{{.*}}, %c32
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK-NOT:     {{divui|remui}}
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache =  ca
// CHECK:         llvm.getelementptr %{{.*}}[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         %[[LAST:.*]] = arith.addi %[[LANE]], %c64
// CHECK:         arith.cmpi slt, %[[LAST]], %c81
// CHECK:         llvm.getelementptr %{{.*}}[256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         nvvm.barrier0
// CHECK:         arith.remui %{{.*}}, %c81
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.divui %{{.*}}, %c81
// CHECK-NOT:     {{divui|remui}}
// CHECK:         st.global.cs.f32
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @rows(%x: !tile.view<?x8x81xf32, [648, 81, 1]>, %y: !tile.view<?x8x81xf32, [648, 81, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x8x81xf32>>
    tile.for %t to %n : i32 {
      tile.barrier
      %free = tile.acquire %r : !tile.ring<1 of <1x8x81xf32>> -> !tile.buffer<1x8x81xf32>
      tile.copy %x[%t + 0] to %free bytes 4 fill axes [0, 1, 2] rounded : !tile.view<?x8x81xf32, [648, 81, 1]>, !tile.buffer<1x8x81xf32>
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x8x81xf32>> -> !tile.buffer<1x8x81xf32>
      tile.barrier
      tile.store %slot to %y[%t] bytes 4 axes [0, 1, 2] : !tile.buffer<1x8x81xf32>, !tile.view<?x8x81xf32, [648, 81, 1]>
      tile.release %slot : !tile.buffer<1x8x81xf32>
    }
    gpu.return
  }
}
func.func @rows_host(%b0: !llvm.ptr, %b1: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %b0 sizes(%n) : !llvm.ptr -> !tile.view<?x8x81xf32, [648, 81, 1]>
  %y = tile.view %b1 sizes(%n) : !llvm.ptr -> !tile.view<?x8x81xf32, [648, 81, 1]>
  tile.launch @kron_gpu::@rows tiles(%n) args(%x, %y, %m : !tile.view<?x8x81xf32, [648, 81, 1]>, !tile.view<?x8x81xf32, [648, 81, 1]>, i32)
  return
}
