// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --remarks-filter=kron-gpu -o /dev/null 2>&1 | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_80 cublas=false" --remarks-filter=kron-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80

// Verify that a gradient's kernel says which instruction and which tile it takes, how many
// pieces of the batch, and how long that is expected to last.
// CHECK: sparse-grad-remark.mlir:[[# @LINE + 3]]:3: remark: [Analysis] Gradient | Category:kron-gpu | Columns=128, Instruction=wgmma, Microseconds={{[0-9]+}}, Pieces=8, Products=1, Remark="gradient by wgmma, estimated {{[0-9]+}} us; #kron.gpu_plan<kernel = gradient, {{.*}}>", Rows=128
// SM80: Gradient | Category:kron-gpu | Columns={{[0-9]+}}, Instruction=mma,
func.func @halves(%x: memref<1024x25088xf16>, %g: memref<1024x25088xf16>, %d: memref<1x256x256x4xf16>) {
  kron.ksmm_grad ins(%x : memref<1024x25088xf16>) grad(%g : memref<1024x25088xf16>) outs(%d : memref<1x256x256x4xf16>)
    {layout = #kron.layout<batch_last>}
  return
}
