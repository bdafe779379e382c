// Verify that a plan for the other target is dropped with a remark, and one for this target kept.

// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" --kron-plan="target=cuda" \
// RUN:   --remarks-filter='kron-plan' 2>&1 | FileCheck %s --check-prefix=CUDA
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan --remarks-filter='kron-plan' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU

// CUDA: remark: [Missed] Plan | Category:kron-plan | Remark="the plan is for another target than cuda: it is not used"
// CUDA: remark: [Missed] Plan | Category:kron-plan | Remark="the plan is for another target than cuda: it is not used"
// CUDA-NOT: [Missed]
// CUDA-LABEL: func.func @cpu
// CUDA: plan = #kron.{{gpu_plan<|dispatch<\[<}}kernel = {{[a-z]+}}
// CUDA-LABEL: func.func @gpu
// CUDA: plan = #kron.gpu_plan<kernel = simt, threads = 64, launches =
// CUDA-LABEL: func.func @cpu_regions
// CUDA: plan = #kron.{{gpu_plan|dispatch}}
// CUDA-LABEL: func.func @gpu_regions
// CUDA: plan = #kron.gpu_plan<kernel = simt, threads = 32, launches =
// CUDA: plan = #kron.gpu_plan<kernel = simt, threads = 64, launches =

// CPU-COUNT-2: remark: [Missed] Plan | Category:kron-plan | Remark="the plan is for another target than cpu: it is not used"
// CPU-NOT: [Missed]
// CPU-LABEL: func.func @cpu
// CPU: plan = #kron.cpu_plan<vector_bits = {{[0-9]+}}, tile = 3
// CPU-LABEL: func.func @gpu
// CPU: plan = #kron.cpu_plan<vector_bits
// CPU-LABEL: func.func @cpu_regions
// CPU: plan = #kron.cpu_plan<vector_bits = {{[0-9]+}}, tile = 3
// CPU: plan = #kron.cpu_plan<vector_bits = {{[0-9]+}}, tile = 7
// CPU-LABEL: func.func @gpu_regions
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

func.func @cpu_regions(%x: memref<64x16xf32>, %f: memref<4x4xf32>, %y: memref<64x16xf32>) {
  kron.mkm ins(%x : memref<64x16xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<64x16xf32>)
    {plan = #kron.region_plans<regions = [1, 1], plans = [#kron.cpu_plan<tile = 3>, #kron.cpu_plan<tile = 7>]>}
  return
}

func.func @gpu_regions(%x: memref<64x16xf32>, %f: memref<4x4xf32>, %y: memref<64x16xf32>) {
  kron.mkm ins(%x : memref<64x16xf32>) factors(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<64x16xf32>)
    {plan = #kron.region_plans<regions = [1, 1], plans = [#kron.gpu_plan<kernel = simt, threads = 32>, #kron.gpu_plan<kernel = simt, threads = 64>]>}
  return
}
