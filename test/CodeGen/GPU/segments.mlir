// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_90a" --kron-tile="chip=sm_90a" \
// RUN:   --convert-tile-to-nvvm | FileCheck %s

// Verify that a tile of 16 rows of 17 elements is copied by 16 bytes, from the multiple of these in front of it
// on and no further than it goes; element by element where the array is not aligned, which is tested once; that
// two neighbours are put in order by one store, a zero behind the last one of a row; and that sums leave as pairs, and alone in front of these and behind them.
// CHECK-LABEL: llvm.func @segments_0(
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:           arith.andi %{{.*}}, %c15{{.*}} : i32
// CHECK-COUNT-1:   nvvm.cp.async.shared.global {{.*}} 16, cache = cg, %{{.*}}
// CHECK-NOT:       llvm.load
// CHECK:         } else {
// CHECK-COUNT-8:   llvm.load %{{.*}} : !llvm.ptr<1> -> f16
// CHECK-COUNT-8:   llvm.store %{{.*}} : f16, !llvm.ptr<3>
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           nvvm.barrier
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f16
// CHECK:           arith.cmpi slt, %{{.*}}, %c16_i32
// CHECK:           scf.if %{{.*}} -> (f16) {
// CHECK:             llvm.load %{{.*}} : !llvm.ptr<3> -> f16
// CHECK:           } else {
// CHECK:           llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<3>
// CHECK:           nvvm.barrier
// CHECK:           mma.sync
// CHECK:           nvvm.barrier
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:           llvm.fptrunc
// CHECK:           st.global.cs.b32
// CHECK:           llvm.store %{{.*}} : f16, !llvm.ptr<1>
func.func @segments(%x: memref<1000x17xf16>, %f: memref<17x17xf16>, %y: memref<1000x17xf16>) {
  kron.mkm ins(%x : memref<1000x17xf16>) factors(%f : memref<17x17xf16>)
    outs(%y : memref<1000x17xf16>) {plan = #kron.gpu_plan<kernel = mma, tile = 16, stages = 1, whole_copies = 1, shared_store = 1>}
  return
}
