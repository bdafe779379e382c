// RUN: kron-opt %s --kron-pool-arrays --split-input-file | FileCheck %s

// Verify that memory comes from the runtime and goes back to it.
// CHECK-DAG:   llvm.func @kronRtAllocate(i64) -> !llvm.ptr
// CHECK-DAG:   llvm.func @kronRtFree(!llvm.ptr)
// CHECK-NOT:   @malloc
// CHECK-NOT:   @free
// CHECK-LABEL: llvm.func @array(
// CHECK:         %[[P:.*]] = llvm.call @kronRtAllocate(%{{.*}})
// CHECK:         llvm.call @kronRtFree(%[[P]])
// CHECK:         %[[FREE:.*]] = llvm.mlir.addressof @kronRtFree
// CHECK:         llvm.call %[[FREE]](%[[P]])
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @array(%n: i64) {
  %p = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
  llvm.call @free(%p) : (!llvm.ptr) -> ()
  %free = llvm.mlir.addressof @free : !llvm.ptr
  llvm.call %free(%p) : !llvm.ptr, (!llvm.ptr) -> ()
  llvm.return
}

// -----

// Verify that functions of these names with a body are left alone.
// CHECK-LABEL: llvm.func @free(
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func @own(
// CHECK:         llvm.call @free(
llvm.func @free(%p: !llvm.ptr) {
  llvm.return
}
llvm.func @own(%p: !llvm.ptr) {
  llvm.call @free(%p) : (!llvm.ptr) -> ()
  llvm.return
}
