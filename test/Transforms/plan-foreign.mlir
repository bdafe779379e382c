// Verify that a plan for the other target is dropped with a remark, and one for this target kept.

// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" --kron-plan="target=cuda" \
// RUN:   --remarks-filter='kron-plan' 2>&1 | FileCheck %s --check-prefix=CUDA
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --remarks-filter='kron-plan' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU

// CUDA: remark: [Missed] Plan | Category:kron-plan | Remark="the plan is for another target than cuda: it is not used"
// CUDA-NOT: [Missed]
// CUDA-LABEL: func.func @cpu
// CUDA: plan = #kron.{{gpu_plan<|dispatch<\[<}}kernel = {{[a-z]+}}
// CUDA-LABEL: func.func @gpu
// CUDA: plan = #kron.gpu_plan<kernel = simt, threads = 64, launches =

// CPU: remark: [Missed] Plan | Category:kron-plan | Remark="the plan is for another target than cpu: it is not used"
// CPU-NOT: [Missed]
// CPU-LABEL: func.func @cpu
// CPU: plan = #kron.cpu_plan<vector_bits = {{[0-9]+}}, tile = 3
// CPU-LABEL: func.func @gpu
// CPU: plan = #kron.cpu_plan<vector_bits
func.func @cpu(%x: memref<64x16xf32>, %f: memref<4x4xf32>, %y: memref<64x16xf32>) {
  kron.mkm ins(%x : memref<64x16xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<64x16xf32>)
    {plan = #kron.cpu_plan<tile = 3>}
  return
}

func.func @gpu(%x: memref<64x16xf32>, %f: memref<4x4xf32>, %y: memref<64x16xf32>) {
  kron.mkm ins(%x : memref<64x16xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<64x16xf32>)
    {plan = #kron.gpu_plan<kernel = simt, threads = 64>}
  return
}
