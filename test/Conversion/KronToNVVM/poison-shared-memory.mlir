// RUN: kron-opt %s '--pass-pipeline=builtin.module(gpu.module(kron-poison-shared-memory))' | FileCheck %s

gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Verify that every word is written, by all threads together, before anything
  // else happens.
  // CHECK-LABEL: llvm.func @product_0(
  // CHECK:         %[[BYTES:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.dynamic_smem_size"() : () -> i32
  // CHECK-DAG:     %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK-DAG:     %[[THREADS:.*]] = nvvm.read.ptx.sreg.ntid.x : i32
  // CHECK-DAG:     %[[WORD:.*]] = arith.constant 4 : i32
  // CHECK-DAG:     %[[FIRST:.*]] = arith.muli %[[THREAD]], %[[WORD]] : i32
  // CHECK-DAG:     %[[STEP:.*]] = arith.muli %[[THREADS]], %[[WORD]] : i32
  // CHECK-DAG:     %[[BASE:.*]] = llvm.mlir.addressof @kron_smem : !llvm.ptr<3>
  // CHECK-DAG:     %[[NAN:.*]] = arith.constant -1 : i32
  // CHECK:         scf.for %[[OFFSET:.*]] = %[[FIRST]] to %[[BYTES]] step %[[STEP]] : i32 {
  // CHECK:           %[[AT:.*]] = llvm.getelementptr %[[BASE]][%[[OFFSET]]]
  // CHECK:           llvm.store %[[NAN]], %[[AT]] : i32, !llvm.ptr<3>
  // CHECK:         }
  // CHECK-NEXT:    nvvm.barrier0
  // CHECK-NOT:     nvvm.cluster
  // CHECK:         llvm.load
  llvm.func @product_0(%y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.mlir.addressof @kron_smem : !llvm.ptr<3>
    %1 = llvm.load %0 : !llvm.ptr<3> -> f32
    llvm.store %1, %y : f32, !llvm.ptr<1>
    llvm.return
  }

  // Verify that a cluster's CTAs wait for each other: they write to each other's
  // shared memory.
  // CHECK-LABEL: llvm.func @cluster_0(
  // CHECK:         nvvm.barrier0
  // CHECK-NEXT:    nvvm.cluster.arrive
  // CHECK-NEXT:    nvvm.cluster.wait
  llvm.func @cluster_0(%y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.cluster_dim = array<i32: 2>} {
    %0 = llvm.mlir.addressof @kron_smem : !llvm.ptr<3>
    %1 = llvm.load %0 : !llvm.ptr<3> -> f32
    llvm.store %1, %y : f32, !llvm.ptr<1>
    llvm.return
  }

  // Verify that a kernel without shared memory and a function that is no kernel
  // stay as they are.
  // CHECK-LABEL: llvm.func @none_0(
  // CHECK-NEXT:    llvm.return
  llvm.func @none_0() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  // CHECK-LABEL: llvm.func @function(
  // CHECK-NEXT:    llvm.mlir.addressof
  // CHECK-NEXT:    llvm.return
  llvm.func @function() -> !llvm.ptr<3> {
    %0 = llvm.mlir.addressof @kron_smem : !llvm.ptr<3>
    llvm.return %0 : !llvm.ptr<3>
  }
}
