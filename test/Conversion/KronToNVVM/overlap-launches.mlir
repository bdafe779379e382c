// RUN: kron-opt --kron-overlap-launches %s | FileCheck %s
// RUN: kron-opt --kron-overlap-launches --kron-overlap-launches %s | FileCheck %s
// RUN: kron-opt --kron-overlap-launches=chip=rtx5090 %s | FileCheck %s
// RUN: kron-opt --kron-overlap-launches=chip=a100-80 %s | FileCheck %s --check-prefix=OLD
// RUN: not kron-opt --kron-overlap-launches=chip=sm_9 %s 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: option chip: {{.*}}sm_9

llvm.func @kronRtCudaLaunch(!llvm.ptr, !llvm.ptr, i64, i32, i32, i64, !llvm.ptr, i32)

gpu.module @kron_gpu {
  // CHECK-LABEL: llvm.func @plain
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: nvvm.read.ptx.sreg.tid.x
  // OLD-LABEL: llvm.func @plain
  // OLD-NEXT: nvvm.read.ptx.sreg.tid.x
  // OLD-NEXT: llvm.return
  llvm.func @plain() attributes {gpu.kernel, nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    llvm.return
  }

  // CTAs share the tiles out: the next kernel comes when this one ends.
  // CHECK-LABEL: llvm.func @persistent
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NOT: launch_dependents
  // CHECK: nvvm.read.ptx.sreg.nctaid.x
  llvm.func @persistent() attributes {gpu.kernel, nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.nctaid.x : i32
    llvm.return
  }

  // No kernel.
  // CHECK-LABEL: llvm.func @function
  // CHECK-NEXT: llvm.return
  llvm.func @function() {
    llvm.return
  }
}

// CHECK-LABEL: func.func @host
// CHECK: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK: call @kronRtCudaLaunch(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[NONE]],
// CHECK: %[[PAIRS:.*]] = arith.constant -2 : i32
// CHECK: call @kronRtCudaLaunch(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[PAIRS]],
// OLD-LABEL: func.func @host
// OLD: %[[ONE:.*]] = arith.constant 1 : i32
// OLD: call @kronRtCudaLaunch(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[ONE]],
func.func @host(%p: !llvm.ptr, %grid: i64, %block: i32, %bytes: i64) {
  %one = arith.constant 1 : i32
  llvm.call @kronRtCudaLaunch(%p, %p, %grid, %block, %one, %bytes, %p, %block) : (!llvm.ptr, !llvm.ptr, i64, i32, i32, i64, !llvm.ptr, i32) -> ()
  %two = arith.constant 2 : i32
  llvm.call @kronRtCudaLaunch(%p, %p, %grid, %block, %two, %bytes, %p, %block) : (!llvm.ptr, !llvm.ptr, i64, i32, i32, i64, !llvm.ptr, i32) -> ()
  return
}
