// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that fibres along an axis with others inside are loaded and replaced four
// neighbours at a time: 8 positions, 16 bytes each, and that both have one address.
// CHECK-LABEL: llvm.func @neighbours(
// CHECK:         %[[BASE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK:         llvm.load %[[BASE]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:         %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         llvm.load %[[SECOND]]
// CHECK-COUNT-6: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @neighbours(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<4x8x8xf32>

    tile.for_boxes %u of 8 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<4x8x8xf32> -> !tile.fragment<1x8x4xf32>
      tile.exchange %v to %s[%u] along [1] : !tile.fragment<1x8x4xf32>, !tile.buffer<4x8x8xf32>
    }
    gpu.return
  }
}

func.func @neighbours_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@neighbours tiles(%n) args(%x, %y, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, i64)
  return
}

// -----

// Verify that planes of 9 elements, which are aligned to nothing, move one by one, and
// that a plane of 8 x 8 with a pitch of 68 moves by 16 bytes.
// CHECK-LABEL: llvm.func @planes(
// CHECK-COUNT-9:  llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT:      llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-COUNT-16: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @planes(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %a = tile.alloc : !tile.buffer<32x3x3xf32>
    %b = tile.alloc : !tile.buffer<32x8x8xf32, #tile.layout<[68, 8, 1]>>
    tile.for_boxes %u of 32 {
      %v = tile.load %a[%u] along [1, 2] : !tile.buffer<32x3x3xf32> -> !tile.fragment<1x3x3xf32>
      %w = tile.load %b[%u] along [1, 2] : !tile.buffer<32x8x8xf32, #tile.layout<[68, 8, 1]>> -> !tile.fragment<1x8x8xf32>
    }
    gpu.return
  }
}

func.func @planes_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@planes tiles(%n) args(%x, %y, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, i64)
  return
}

// -----

// Verify that bits of an index are exchanged where the layout says so.
// CHECK-LABEL: llvm.func @swizzled(
// CHECK:         %[[BIT:.*]] = arith.andi %[[INDEX:.*]], %{{.*}} : i32
// CHECK:         %[[DOWN:.*]] = arith.divui %[[BIT]], %{{.*}} : i32
// CHECK:         arith.xori %[[INDEX]], %[[DOWN]] : i32
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @swizzled(%x: !tile.view<?x8x8xf32>, %y: !tile.view<?x8x8xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<32x8x8xf32, #tile.layout<[64, 8, 1], swizzle = [6, 3]>>
    tile.for_boxes %u of 32 {
      %v = tile.load %s[%u] along [1, 2] : !tile.buffer<32x8x8xf32, #tile.layout<[64, 8, 1], swizzle = [6, 3]>> -> !tile.fragment<1x8x8xf32>
    }
    gpu.return
  }
}

func.func @swizzled_host(%px: !llvm.ptr, %py: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  %y = tile.view %py sizes(%n) : !llvm.ptr -> !tile.view<?x8x8xf32>
  tile.launch @kron_gpu::@swizzled tiles(%n) args(%x, %y, %n : !tile.view<?x8x8xf32>, !tile.view<?x8x8xf32>, i64)
  return
}
