// RUN: kron-opt %s --kron-decompose --kron-plan="target=cuda chip=sm_80" \
// RUN:   --kron-tile="chip=sm_80" --convert-tile-to-nvvm --canonicalize --split-input-file | FileCheck %s

// Verify that arrays whose strides are known need only their address tested, that the
// two innermost factors are applied to planes of 64 elements in registers (1024
// multiply-adds, each first one a multiplication) and the third to four fibres at
// once, and that factors are read as whole chunks.
// CHECK-LABEL: func @cubes
// CHECK:         %[[PACKED:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK:         scf.if %[[PACKED]] {
// CHECK:           llvm.call @kronRtCudaLaunch
// CHECK:         } else {
// CHECK:           llvm.call @kronRtCudaLaunch
// CHECK:       gpu.module @kron_gpu
// CHECK:         llvm.func @cubes_0(
// CHECK-SAME:      nvvm.kernel, nvvm.maxntid = array<i32: 32>, nvvm.minctasm = 8 : i32
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg
// CHECK:           nvvm.cp.async.wait.group 1
// CHECK:           nvvm.barrier
// CHECK-COUNT-16:  llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           llvm.load volatile %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           st.global.cs.v4.f32
// CHECK:         llvm.func @cubes_1(
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca
func.func @cubes(%x: memref<?x8x8x8xf32>, %f: memref<8x8xf32>, %y: memref<?x8x8x8xf32>) {
  kron.batched ins(%x : memref<?x8x8x8xf32>) factors(%f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x8x8x8xf32>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

// Verify that arrays of 5x5x5 come in whole chunks, the last of a tile in part, and
// that the plan's tile, threads, CTAs and pipeline stages are taken.
// CHECK-LABEL: func @odd
// CHECK:         llvm.func @odd_0(
// CHECK-SAME:      nvvm.maxntid = array<i32: 96>, nvvm.minctasm = 3 : i32
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}}
// CHECK:           nvvm.cp.async.wait.group 2
func.func @odd(%x: memref<?x5x5x5xf32>, %f: memref<5x5xf32>, %y: memref<?x5x5x5xf32>) {
  kron.batched ins(%x : memref<?x5x5x5xf32>) factors(%f, %f, %f : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>)
    outs(%y : memref<?x5x5x5xf32>)
    {plan = #kron.gpu_plan<kernel = batched, tile = 16, threads = 96, ctas_per_sm = 3, stages = 3>}
  return
}

// -----

// Verify that arrays with gaps get the kernel for any strides alone.
// CHECK-LABEL: func @gaps
// CHECK-NOT:     scf.if
// CHECK:         llvm.func @gaps_0(
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache =  ca
// CHECK-NOT:     gaps_1
func.func @gaps(%x: memref<?x4x4xf64, strided<[40, 10, 2]>>, %f: memref<4x4xf64>, %y: memref<?x4x4xf64, strided<[40, 10, 2]>>) {
  kron.batched ins(%x : memref<?x4x4xf64, strided<[40, 10, 2]>>) factors(%f, %f : memref<4x4xf64>, memref<4x4xf64>)
    outs(%y : memref<?x4x4xf64, strided<[40, 10, 2]>>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}

// -----

// Verify that planes of 81 elements do not go to registers: 7 fibres of every factor
// share its loads, 3 chunks of each of its 9 rows, all threads have as many of them
// (none is left out behind a condition), and the last factor's results go from
// registers to memory, side by side.
// CHECK-LABEL: func @fibres
// CHECK:         llvm.func @fibres_0(
// CHECK-SAME:      nvvm.maxntid = array<i32: 96>
// CHECK:           nvvm.cp.async.wait.group
// CHECK-NEXT:      nvvm.barrier
// CHECK-NOT:       scf.if
// CHECK-COUNT-27:  llvm.load volatile %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT:       scf.if
// CHECK:           nvvm.barrier
// CHECK-NOT:       scf.if
// CHECK-COUNT-27:  llvm.load volatile %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT:       scf.if
// CHECK:           nvvm.barrier
// CHECK-COUNT-27:  llvm.load volatile %{{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:           st.global.cs.f32
// CHECK:         llvm.func @fibres_1(
func.func @fibres(%x: memref<?x9x9x9xf32>, %f: memref<9x9xf32>, %y: memref<?x9x9x9xf32>) {
  kron.batched ins(%x : memref<?x9x9x9xf32>) factors(%f, %f, %f : memref<9x9xf32>, memref<9x9xf32>, memref<9x9xf32>)
    outs(%y : memref<?x9x9x9xf32>) {plan = #kron.gpu_plan<kernel = batched>}
  return
}
