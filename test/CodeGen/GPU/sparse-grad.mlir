// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_90a cublas=false" --kron-tile=chip=sm_90a --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=HOST
// RUN: kron-opt %s --kron-plan="target=cuda chip=sm_80 cublas=false" --kron-tile=chip=sm_80 --convert-tile-to-nvvm --canonicalize --cse | FileCheck %s --check-prefix=SM80

// Verify f32 with 16 inner positions, batch first: pieces of the batch come through a
// ring of asynchronous copies, three TF32 products each, sums of the pieces to the
// workspace, four of a thread at a time; and a second kernel adds up the 33 of a weight by
// two threads, 9 at a time, in order.
// HOST-LABEL: func.func @first(
// HOST: llvm.call @kronRtCudaWorkspace
// HOST: llvm.call @kronRtCudaLaunch({{.*}}, %c1_i32, %c{{[0-9]+}}_i64,
// HOST: llvm.call @kronRtCudaLaunch({{.*}}, %c1_i32, %c{{[0-9]+}}_i64,
// SM80-LABEL: llvm.func @first_0(
// CHECK-LABEL: llvm.func @first_0(
// CHECK: cp.async.cg.shared.global.L2::128B
// CHECK: nvvm.cp.async.wait.group
// CHECK: nvvm.barrier0
// CHECK-COUNT-3: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: nvvm.vote.sync any
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @first_sum_0(
// CHECK: scf.for
// CHECK-COUNT-9: llvm.load {{.*}} -> f32
// CHECK-COUNT-9: arith.addf
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.store {{.*}}!llvm.ptr<1>
func.func @first(%x: memref<25088x1024xf32>, %g: memref<25088x1024xf32>, %d: memref<1x64x64x16xf32>) {
  kron.ksmm_grad ins(%x : memref<25088x1024xf32>) grad(%g : memref<25088x1024xf32>)
    outs(%d : memref<1x64x64x16xf32>)
  return
}

// Verify that precision tf32 takes one product.
// CHECK-LABEL: llvm.func @tf32_0(
// CHECK-NOT: arith.subf
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @tf32(%x: memref<?x256xf32>, %g: memref<?x256xf32>, %d: memref<1x64x64x4xf32>) {
  kron.ksmm_grad ins(%x : memref<?x256xf32>) grad(%g : memref<?x256xf32>)
    outs(%d : memref<1x64x64x4xf32>) {precision = #kron.precision<tf32>}
  return
}

// Verify that the residuals of f32 are of bf16 with the batch last, and that a batch that may
// be too short for that is summed up by plain multiply-adds if it is.
// CHECK-LABEL: llvm.func @rests_0(
// CHECK: cvt.rn.bf16x2.f32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK: nvvm.vote.sync any
// CHECK: arith.cmpi slt, %{{.*}}, %c32_i64
// CHECK: arith.ori
func.func @rests(%x: memref<1024x?xf32>, %g: memref<640x?xf32>, %d: memref<1x40x64x16xf32>) {
  kron.ksmm_grad ins(%x : memref<1024x?xf32>) grad(%g : memref<640x?xf32>)
    outs(%d : memref<1x40x64x16xf32>) {layout = #kron.layout<batch_last>}
  return
}

// Verify that 31 rows are too few for that.
// CHECK-LABEL: llvm.func @few_0(
// CHECK-NOT: bf16
// CHECK-COUNT-3: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-LABEL: llvm.func @halves_first_0(
func.func @few(%x: memref<1024x31xf32>, %g: memref<1024x31xf32>, %d: memref<1x64x64x16xf32>) {
  kron.ksmm_grad ins(%x : memref<1024x31xf32>) grad(%g : memref<1024x31xf32>)
    outs(%d : memref<1x64x64x16xf32>) {layout = #kron.layout<batch_last>}
  return
}

// Verify that f16 values at different positions of the batch become pairs (batch first), or
// are pairs already (batch last), whose words ptxas must not move again and again.
// CHECK: prmt.b32
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-LABEL: llvm.func @halves_last_0(
// CHECK-NOT: prmt.b32
// CHECK: arith.xori
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @halves_first(%x: memref<?x256xf16>, %g: memref<?x256xf16>, %d: memref<1x64x64x4xf16>) {
  kron.ksmm_grad ins(%x : memref<?x256xf16>) grad(%g : memref<?x256xf16>) outs(%d : memref<1x64x64x4xf16>)
  return
}
func.func @halves_last(%x: memref<256x?xf16>, %g: memref<256x?xf16>, %d: memref<1x64x64x4xf16>) {
  kron.ksmm_grad ins(%x : memref<256x?xf16>) grad(%g : memref<256x?xf16>) outs(%d : memref<1x64x64x4xf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// Verify that warpgroups take f16 with the batch last where the chip has them: both
// operands are lines of shared memory, 64 positions each, whose copies are made visible to
// the matrix unit; those of a later step are started while it multiplies.
// CHECK-LABEL: llvm.func @warpgroups_0(
// CHECK: nvvm.cp.async.wait.group
// CHECK: fence.proxy.async
// CHECK: nvvm.barrier0
// CHECK: nvvm.shfl.sync idx
// CHECK: llvm.ptrtoint
// CHECK: wgmma.fence.sync.aligned
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-SAME: ,a,b,1,1,1,0,0;
// CHECK-SAME: add.s64 a, $128, 2;
// CHECK-SAME: wgmma.commit_group.sync.aligned
// CHECK: cp.async.cg.shared.global.L2::128B
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: mma.sync
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// SM80-LABEL: llvm.func @warpgroups_0(
// SM80-NOT: wgmma
// SM80: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @warpgroups(%x: memref<1024x25088xbf16>, %g: memref<1024x25088xbf16>, %d: memref<1x256x256x4xbf16>) {
  kron.ksmm_grad ins(%x : memref<1024x25088xbf16>) grad(%g : memref<1024x25088xbf16>) outs(%d : memref<1x256x256x4xbf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// Verify that warpgroups are not for blocks of 64 rows of which less than three quarters
// exist.
// CHECK-LABEL: llvm.func @partial_0(
// CHECK-NOT: wgmma
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @partial(%x: memref<256x25088xf16>, %g: memref<520x25088xf16>, %d: memref<1x130x64x4xf16>) {
  kron.ksmm_grad ins(%x : memref<256x25088xf16>) grad(%g : memref<520x25088xf16>) outs(%d : memref<1x130x64x4xf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// Verify that warpgroups multiply f32 otherwise: rows of G from registers, rows of X from
// packed operands in shared memory, TF32 first and then the residuals in bf16, of which those of the next
// step are written while the matrix unit multiplies. Copies are waited for one step earlier.
// CHECK-LABEL: llvm.func @images_0(
// CHECK: nvvm.barrier0
// CHECK: cvt.rn.bf16x2.f32
// CHECK-COUNT-8: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: fence.proxy.async
// CHECK: nvvm.barrier0
// CHECK: wgmma.fence.sync.aligned
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n[[N:[0-9]+]]k16.f32.bf16.bf16
// CHECK-SAME: ,d,0,1,1,0;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n[[N]]k16.f32.bf16.bf16
// CHECK-SAME: ,d,1,1,1,0;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n[[N]]k8.f32.tf32.tf32
// CHECK-SAME: wgmma.commit_group.sync.aligned
// CHECK-SAME: wgmma.wait_group.sync.aligned 1;
// CHECK: cp.async.cg.shared.global.L2::128B
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: fence.proxy.async
// CHECK-NOT: mma.sync
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// SM80-LABEL: llvm.func @images_0(
// SM80-NOT: wgmma
// SM80: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @images(%x: memref<25088x384xf32>, %g: memref<25088x1536xf32>, %d: memref<1x768x192x2xf32>) {
  kron.ksmm_grad ins(%x : memref<25088x384xf32>) grad(%g : memref<25088x1536xf32>) outs(%d : memref<1x768x192x2xf32>)
  return
}

// Verify that sums lie in the order of the weights, those that exist, where most of a tile's
// do not.
// CHECK-LABEL: llvm.func @small_0(
// CHECK-NOT: vector<4xf32>, !llvm.ptr<1>
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @small_sum_0(
func.func @small(%x: memref<3000x45xf16>, %g: memref<3000x45xf16>, %d: memref<5x9x9x1xf16>) {
  kron.ksmm_grad ins(%x : memref<3000x45xf16>) grad(%g : memref<3000x45xf16>) outs(%d : memref<5x9x9x1xf16>)
  return
}

// Verify f64: m16n8k8 where the chip has it, else m8n8k4.
// CHECK-LABEL: llvm.func @doubles_0(
// CHECK: mma.sync.aligned.m16n8k8.row.col.f64
// SM80-LABEL: llvm.func @doubles_0(
// SM80: mma.sync.aligned.m8n8k4.row.col.f64
func.func @doubles(%x: memref<?x36xf64>, %g: memref<?x36xf64>, %d: memref<3x6x6x2xf64>) {
  kron.ksmm_grad ins(%x : memref<?x36xf64>) grad(%g : memref<?x36xf64>) outs(%d : memref<3x6x6x2xf64>)
  return
}

// Verify that weights that all products t share are added up in the second kernel,
// even of one piece: 128 threads for the 128 sums of each weight, then pairs of them.
// HOST-LABEL: func.func @shared(
// HOST: llvm.call @kronRtCudaWorkspace
// HOST-COUNT-2: llvm.call @kronRtCudaLaunch
// CHECK-LABEL: llvm.func @shared_0(
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @shared_sum_0(
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> f32
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK-COUNT-8: nvvm.barrier0
// CHECK: llvm.store {{.*}}!llvm.ptr<1>
func.func @shared(%x: memref<16x2048xf32>, %g: memref<16x2048xf32>, %d: memref<1x16x16x1xf32>) {
  kron.ksmm_grad ins(%x : memref<16x2048xf32>) grad(%g : memref<16x2048xf32>)
    outs(%d : memref<1x16x16x1xf32>) {product_pattern = array<i64: 1, 16, 16, 128>}
  return
}

// Verify that plain multiply-adds store zeros where their tile has no weights (eight rows of
// 16), since the kernel that adds up the pieces loads whole lines.
// CHECK-LABEL: llvm.func @outside_0(
// CHECK: nvvm.vote.sync any
// CHECK: arith.cmpi slt, %{{.*}}, %c8_i32
// CHECK-NEXT: scf.if
// CHECK: llvm.intr.fma
// CHECK: } else {
// CHECK: llvm.store %cst, %{{.*}} : f32, !llvm.ptr<1>
// CHECK-LABEL: llvm.func @outside_sum_0(
func.func @outside(%x: memref<?x128xf32>, %g: memref<?x128xf32>, %d: memref<1x8x8x16xf32>) {
  kron.ksmm_grad ins(%x : memref<?x128xf32>) grad(%g : memref<?x128xf32>)
    outs(%d : memref<1x8x8x16xf32>)
  return
}

// Verify that a short batch is one piece, which its kernel scales and stores itself.
// HOST-LABEL: func.func @short(
// HOST-NOT: kronRtCudaWorkspace
// HOST-COUNT-1: llvm.call @kronRtCudaLaunch
// HOST-NOT: llvm.call @kronRtCudaLaunch
// HOST: gpu.module
// CHECK-LABEL: llvm.func @short_0(
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: llvm.intr.fma
// CHECK-NOT: @short_sum_0
func.func @short(%x: memref<16x40xf32>, %g: memref<16x30xf32>, %d: memref<2x3x4x5xf32>) {
  kron.ksmm_grad ins(%x : memref<16x40xf32>) grad(%g : memref<16x30xf32>)
    outs(%d : memref<2x3x4x5xf32>) alpha(2.0 : f32) beta(3.0 : f32)
  return
}
