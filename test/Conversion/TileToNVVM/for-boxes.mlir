// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that loops of more turns than are written out are rolled, that what is behind
// them is taken as often as all threads have boxes, and that threads behind the last box
// have none.
// CHECK-LABEL: llvm.func @rolled(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[END:.*]] step %[[STEP:.*]] : i32
// CHECK-COUNT-2:   llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt
// CHECK:         scf.if %[[EXISTS]] {
// CHECK-NEXT:      arith.
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         }
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @rolled(%x: !tile.view<?x1xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<300x1xf32>
    tile.for_boxes %u of 300 together 2 {
      %v = tile.load %s[%u] along [1] : !tile.buffer<300x1xf32> -> !tile.fragment<2x1xf32>
    }
    gpu.return
  }
}

func.func @rolled_host(%px: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x1xf32>
  tile.launch @kron_gpu::@rolled tiles(%n) args(%x, %n : !tile.view<?x1xf32>, i64)
  return
}

// -----

// Verify that with room behind the tile all threads take boxes, in excess.
// CHECK-LABEL: llvm.func @excess(
// CHECK-NOT:     scf.if
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT:     scf.if
// CHECK:         llvm.return
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @excess(%x: !tile.view<?x1xf32>, %tiles: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
    %s = tile.alloc : !tile.buffer<64x1xf32>
    tile.for_boxes %u of 40 excess {
      %v = tile.load %s[%u] along [1] : !tile.buffer<64x1xf32> -> !tile.fragment<1x1xf32>
    }
    gpu.return
  }
}

func.func @excess_host(%px: !llvm.ptr, %n: i64, %s: i64) {
  %x = tile.view %px sizes(%n) : !llvm.ptr -> !tile.view<?x1xf32>
  tile.launch @kron_gpu::@excess tiles(%n) args(%x, %n : !tile.view<?x1xf32>, i64)
  return
}
