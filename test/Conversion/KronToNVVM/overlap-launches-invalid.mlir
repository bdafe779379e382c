// RUN: kron-opt --kron-overlap-launches --verify-diagnostics %s

llvm.func @kronRtCudaLaunch(!llvm.ptr, !llvm.ptr, i64, i32, i32, i64, !llvm.ptr, i32)

gpu.module @kron_gpu {
}

func.func @host(%p: !llvm.ptr, %grid: i64, %block: i32, %bytes: i64, %cluster: i32) {
  // expected-error @+1 {{expects a constant size of clusters}}
  llvm.call @kronRtCudaLaunch(%p, %p, %grid, %block, %cluster, %bytes, %p, %block) : (!llvm.ptr, !llvm.ptr, i64, i32, i32, i64, !llvm.ptr, i32) -> ()
  return
}
