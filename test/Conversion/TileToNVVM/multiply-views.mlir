// RUN: kron-opt %s --convert-tile-to-nvvm --split-input-file | FileCheck %s

// Verify that a quarter of the lanes of a warp have a fibre each, with another one two
// positions across the outermost axis; that behind the ends of axes are their last
// positions; that two steps of k are loaded before any of them is multiplied, of every
// fourth position from the lane's own on; that of the last three of eleven a lane adds what
// exists; that lanes add up what they have; and that the first quarter stores what is in
// the view, where tiles cut the seven results in fours.
// CHECK-LABEL: llvm.func @lanes(
// CHECK:           %[[THREAD:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK:           %[[ISFIRST:.*]] = arith.cmpi slt, %{{.*}}, %c8_i32{{.*}} : i32
// CHECK:           scf.for %[[FIRST:.*]] = %c0_i32{{.*}} to %c32_i32{{.*}} step %c16_i32
// CHECK:             %[[ITEM:.*]] = arith.addi %[[FIRST]], %[[THREAD]] : i32
// CHECK:             %[[EXISTS:.*]] = arith.cmpi slt, %[[ITEM]], %c24_i32
// CHECK:             %[[STORES:.*]] = arith.andi %[[EXISTS]], %[[ISFIRST]] : i1
// CHECK:             arith.addi %{{.*}}, %c2_i32{{.*}} : i32
// CHECK:             %[[K:.*]] = arith.divui %{{.*}}, %c8_i32{{.*}} : i32
// CHECK:             arith.minsi %{{.*}}, %{{.*}} : i64
// CHECK:             arith.minsi %{{.*}}, %c6_i64{{.*}} : i64
// CHECK-COUNT-4:     llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f16
// CHECK:             llvm.getelementptr %{{.*}}[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f16
// CHECK-COUNT-4:     llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f16
// CHECK-NOT:         llvm.load
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK:             %[[HAS:.*]] = arith.cmpi slt, %[[K]], %c3_i32
// CHECK-COUNT-4:     llvm.load {{.*}} invariant {{.*}} !llvm.ptr<1> -> f16
// CHECK:             %[[SUM:.*]] = llvm.intr.fma
// CHECK-NEXT:        arith.select %[[HAS]], %[[SUM]]
// CHECK-COUNT-8:     nvvm.shfl.sync bfly
// CHECK-NOT:         nvvm.shfl.sync
// CHECK:             arith.andi %[[STORES]], %{{.*}} : i1
// CHECK:             arith.cmpi slt, %{{.*}} : i64
// CHECK:             scf.if
// CHECK:               llvm.store {{.*}} : f16, !llvm.ptr<1>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @lanes(%x: !tile.view<?x7x6x11xf16, [66, 0, 1, 6]>, %v: !tile.view<?x7x6x11xf16, [0, 66, 1, 6]>, %y: !tile.view<?x7x6xf16, [42, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 together 2 parts 2 across 0 lanes 4 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 4, 6] unrolled 2 : !tile.view<?x7x6x11xf16, [66, 0, 1, 6]>, !tile.view<?x7x6x11xf16, [0, 66, 1, 6]> -> !tile.fragment<2x2xf32>
        tile.store %s[%u] to %y[%t] along [1] box [4, 4, 6] bytes 2 : !tile.fragment<2x2xf32>, !tile.view<?x7x6xf16, [42, 6, 1]>
      }
    }
    gpu.return
  }
}

func.func @lanes_host(%px: !llvm.ptr, %pv: !llvm.ptr, %py: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x7x6x11xf16, [66, 0, 1, 6]>
  %v = tile.view %pv sizes(%m) : !llvm.ptr -> !tile.view<?x7x6x11xf16, [0, 66, 1, 6]>
  %y = tile.view %py sizes(%m) : !llvm.ptr -> !tile.view<?x7x6xf16, [42, 6, 1]>
  tile.launch @kron_gpu::@lanes tiles(%n) args(%x, %v, %y, %n : !tile.view<?x7x6x11xf16, [66, 0, 1, 6]>, !tile.view<?x7x6x11xf16, [0, 66, 1, 6]>, !tile.view<?x7x6xf16, [42, 6, 1]>, i64)
  return
}

// -----

// Verify that values of 64 bits go to other lanes in halves, and that without lanes and
// several fibres a thread that has none loads nothing; and that whole parts are stored in
// one branch.
// CHECK-LABEL: llvm.func @halves(
// CHECK:         scf.for
// CHECK-NOT:       scf.if
// CHECK:           llvm.intr.fma
// CHECK:           llvm.bitcast %{{.*}} : f64 to vector<2xi32>
// CHECK-COUNT-2:   nvvm.shfl.sync bfly {{.*}} i32
// CHECK:           llvm.bitcast %{{.*}} : vector<2xi32> to f64
// CHECK-LABEL: llvm.func @alone(
// CHECK:           %[[EXISTS:.*]] = arith.cmpi slt
// CHECK:           scf.if %[[EXISTS]]
// CHECK-COUNT-3:     llvm.load
// CHECK-COUNT-2:     llvm.intr.fma
// CHECK:             scf.if
// CHECK-COUNT-2:       llvm.inline_asm {{.*}} "st.global.cs.f64 [$0], $1;"
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @halves(%x: !tile.view<?x8x6x2xf64, [12, 0, 1, 6]>, %v: !tile.view<?x8x6x2xf64, [0, 12, 1, 6]>, %y: !tile.view<?x8x6xf64, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 parts 4 lanes 2 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 4, 6] : !tile.view<?x8x6x2xf64, [12, 0, 1, 6]>, !tile.view<?x8x6x2xf64, [0, 12, 1, 6]> -> !tile.fragment<1x1xf64>
        tile.store %s[%u] to %y[%t] along [1] box [4, 4, 6] bytes 8 : !tile.fragment<1x1xf64>, !tile.view<?x8x6xf64, [48, 6, 1]>
      }
    }
    gpu.return
  }
  gpu.func @alone(%x: !tile.view<?x8x6x1xf64, [6, 0, 1, 6]>, %v: !tile.view<?x8x6x1xf64, [0, 6, 1, 6]>, %y: !tile.view<?x8x6xf64, [48, 6, 1]>, %n: i64) kernel
      attributes {tile.kernel = #tile.kernel<threads = 64, ctas_per_sm = 2>} {
    tile.for %t to %n {
      tile.for_boxes %u of 24 parts 2 {
        %s = tile.multiply_views %x[%u], %v tile %t along 1 box [4, 4, 6] : !tile.view<?x8x6x1xf64, [6, 0, 1, 6]>, !tile.view<?x8x6x1xf64, [0, 6, 1, 6]> -> !tile.fragment<1x2xf64>
        tile.store %s[%u] to %y[%t] along [1] box [4, 4, 6] bytes 8 : !tile.fragment<1x2xf64>, !tile.view<?x8x6xf64, [48, 6, 1]>
      }
    }
    gpu.return
  }
}

func.func @halves_host(%px: !llvm.ptr, %pv: !llvm.ptr, %py: !llvm.ptr, %m: i64, %n: i64) {
  %x = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x8x6x2xf64, [12, 0, 1, 6]>
  %v = tile.view %pv sizes(%m) : !llvm.ptr -> !tile.view<?x8x6x2xf64, [0, 12, 1, 6]>
  %y = tile.view %py sizes(%m) : !llvm.ptr -> !tile.view<?x8x6xf64, [48, 6, 1]>
  tile.launch @kron_gpu::@halves tiles(%n) args(%x, %v, %y, %n : !tile.view<?x8x6x2xf64, [12, 0, 1, 6]>, !tile.view<?x8x6x2xf64, [0, 12, 1, 6]>, !tile.view<?x8x6xf64, [48, 6, 1]>, i64)
  %x1 = tile.view %px sizes(%m) : !llvm.ptr -> !tile.view<?x8x6x1xf64, [6, 0, 1, 6]>
  %v1 = tile.view %pv sizes(%m) : !llvm.ptr -> !tile.view<?x8x6x1xf64, [0, 6, 1, 6]>
  tile.launch @kron_gpu::@alone tiles(%n) args(%x1, %v1, %y, %n : !tile.view<?x8x6x1xf64, [6, 0, 1, 6]>, !tile.view<?x8x6x1xf64, [0, 6, 1, 6]>, !tile.view<?x8x6xf64, [48, 6, 1]>, i64)
  return
}
