// RUN: kron-opt %s -split-input-file --kron-plan="target=cuda chip=sm_90a cublas=false" \
// RUN:   --kron-tile=chip=sm_90a --convert-tile-to-nvvm | FileCheck %s

// Verify that f32 becomes two bf16 products per step of 16 and a TF32 one per
// step of 8, that sums are checked for infinities, and that the kernel copies and
// stores 16 bytes at a time where arrays are aligned, else single elements.

// CHECK-LABEL: func.func @full
// CHECK-NOT:     scf.if
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       gpu.module @kron_gpu
// CHECK:       llvm.func @full_0
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:           nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         } else {
// CHECK:           nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         fence.proxy.async
// CHECK:         %[[STORES:.*]] = arith.cmpi eq
// CHECK:         nvvm.cp.async.wait.group
// CHECK-COUNT-1: wgmma.fence.sync.aligned;{{.*}}m64n64k16.f32.bf16.bf16{{.*}},d,0,1,1,0;{{.*}}m64n64k16.f32.bf16.bf16{{.*}},d,1,1,1,0;{{.*}}m64n64k8.f32.tf32.tf32{{.*}},d,1,1,1;{{.*}}wgmma.wait_group.sync.aligned 0;
// CHECK:         nvvm.vote.sync any
// CHECK:         nvvm.bar.warp.sync
// CHECK:         wgmma.fence.sync.aligned;{{.*}}m64n64k8.f32.tf32.tf32
// CHECK:         scf.if %[[STORES]] {
// CHECK:           st.global.cs.v2.f32
// CHECK:         scf.if %[[STORES]] {
// CHECK-NEXT:    } else {
// CHECK:           st.global.cs.f32
func.func @full(%x: memref<?x64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>, %y: memref<?x64x64xf32>) {
  kron.fused ins(%x, %b, %c : memref<?x64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<?x64x64xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<?x64x64xf32>, %fb: tensor<64x64xf32>, %fc: tensor<64x64xf32>, %out: tensor<?x64x64xf32>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x64x64xf32>
    %e = tensor.empty(%m) : tensor<?x64x64xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf32>) factor(%fc [p, q] : tensor<64x64xf32>)
         outs(%e : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf32>) factor(%fb [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    kron.yield %2 : tensor<?x64x64xf32>
  }
  return
}

// -----

// Verify that precision tf32 takes one product per step and no check for
// infinities.

// CHECK-LABEL: llvm.func @tf32_0
// CHECK-NOT:     nvvm.vote
// CHECK:         wgmma.fence.sync.aligned;
// CHECK-SAME:      ,d,0,1,1;
// CHECK-SAME:      ,d,1,1,1;
// CHECK-SAME:      ,d,1,1,1;
// CHECK-SAME:      ,d,1,1,1;
// CHECK-NOT:       ,d,1,1,1;
// CHECK-SAME:      wgmma.commit_group
func.func @tf32(%x: memref<8x32x4096xf32>, %f: memref<32x32xf32>, %y: memref<8x32x4096xf32>) {
  kron.fused ins(%x, %f : memref<8x32x4096xf32>, memref<32x32xf32>) outs(%y : memref<8x32x4096xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<8x32x4096xf32>, %tf: tensor<32x32xf32>, %out: tensor<8x32x4096xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<8x32x4096xf32>) factor(%tf [p, q] : tensor<32x32xf32>)
         outs(%out : tensor<8x32x4096xf32>) {precision = #kron.precision<tf32>} -> tensor<8x32x4096xf32>
    kron.yield %1 : tensor<8x32x4096xf32>
  }
  return
}

// -----

// Verify that f16 is multiplied as it is along the first axis, and that what
// stays on chip is f32 and multiplied as TF32.

// CHECK-LABEL: llvm.func @half_0
// CHECK:         ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK:         m64n64k16.f32.f16.f16{{.*}},d,0,1,1,0;
// CHECK:         m64n64k8.f32.tf32.tf32
// CHECK:         llvm.fptrunc {{.*}} : f32 to f16
func.func @half(%x: memref<?x64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf16>, %y: memref<?x64x64xf16>) {
  kron.fused ins(%x, %b, %c : memref<?x64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) outs(%y : memref<?x64x64xf16>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<?x64x64xf16>, %fb: tensor<64x64xf16>, %fc: tensor<64x64xf16>, %out: tensor<?x64x64xf16>):
    %c0 = arith.constant 0 : index
    %m = tensor.dim %tx, %c0 : tensor<?x64x64xf16>
    %e = tensor.empty(%m) : tensor<?x64x64xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<?x64x64xf16>) factor(%fc [p, q] : tensor<64x64xf16>)
         outs(%e : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<?x64x64xf32>) factor(%fb [p, q] : tensor<64x64xf16>)
         outs(%out : tensor<?x64x64xf16>) -> tensor<?x64x64xf16>
    kron.yield %2 : tensor<?x64x64xf16>
  }
  return
}

// -----

// Verify that odd sizes are padded in the factor only: one kernel of scalar
// accesses, and 37 x 31 in 40 x 32. What lies beside the 29 columns, and beyond
// the last row, is what earlier kernels left: whether sums are computed again is
// decided without it.

// CHECK-LABEL: func.func @odd
// CHECK-NOT:     scf.if
// CHECK:         llvm.call @kronRtCudaLaunch
// CHECK:       llvm.func @odd_0
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK:         arith.constant 37 : i32
// CHECK:         m64n32k8.f32.tf32.tf32
// CHECK:         %[[FIRST:.*]] = arith.cmpf uno
// CHECK:         %[[FIRST_TILE:.*]] = arith.cmpi slt
// CHECK:         %[[FIRST_COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %c29
// CHECK:         %[[FIRST_EXISTS:.*]] = arith.andi %[[FIRST_TILE]], %[[FIRST_COLUMN]]
// CHECK:         %[[FIRST_BAD:.*]] = arith.andi %[[FIRST]], %[[FIRST_EXISTS]]
// CHECK:         %[[SECOND:.*]] = arith.cmpf uno
// CHECK:         %[[SECOND_TILE:.*]] = arith.cmpi slt
// CHECK:         %[[SECOND_COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %c29
// CHECK:         %[[SECOND_EXISTS:.*]] = arith.andi %[[SECOND_TILE]], %[[SECOND_COLUMN]]
// CHECK:         %[[SECOND_BAD:.*]] = arith.andi %[[SECOND]], %[[SECOND_EXISTS]]
// CHECK:         %[[BAD:.*]] = arith.ori %[[FIRST_BAD]], %[[SECOND_BAD]]
// CHECK:         nvvm.vote.sync any %{{.*}}, %[[BAD]]
func.func @odd(%x: memref<?x37x29xf32>, %f: memref<37x31xf32>, %y: memref<?x31x29xf32>) {
  kron.fused ins(%x, %f : memref<?x37x29xf32>, memref<37x31xf32>) outs(%y : memref<?x31x29xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 32>} {
  ^bb0(%tx: tensor<?x37x29xf32>, %tf: tensor<37x31xf32>, %out: tensor<?x31x29xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<?x37x29xf32>) factor(%tf [p, q] : tensor<37x31xf32>)
         outs(%out : tensor<?x31x29xf32>) -> tensor<?x31x29xf32>
    kron.yield %1 : tensor<?x31x29xf32>
  }
  return
}

// -----

// Verify that the warps of the last block that have no rows of their own (992
// rows are 15 and a half blocks) do not read rows that another warp replaces, in
// the step that works in place; no barrier of some threads only.

// CHECK-LABEL: llvm.func @repeats_0
// CHECK-NOT:     nvvm.barrier id
// CHECK:         m64n32k16.f32.f16.f16
// CHECK-NOT:     nvvm.barrier id
// CHECK:         %{{.*}} = arith.cmpi slt, %{{.*}}, %c992{{.*}} : i32
// CHECK:         %{{.*}}:16 = scf.if %{{.*}} -> (f32, {{.*}}) {
// CHECK:           llvm.load
// CHECK:         } else {
// CHECK-NOT:       llvm.load
// CHECK:           scf.yield
// CHECK:         }
// CHECK:         m64n32k8.f32.tf32.tf32
// CHECK:         nvvm.bar.warp.sync
// CHECK-NOT:     nvvm.barrier id
// CHECK:         llvm.store
func.func @repeats(%x: memref<200x31x31xf16>, %b: memref<31x31xf16>, %c: memref<31x31xf16>, %y: memref<200x31x31xf16>) {
  kron.fused ins(%x, %b, %c : memref<200x31x31xf16>, memref<31x31xf16>, memref<31x31xf16>) outs(%y : memref<200x31x31xf16>) attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 31>} {
  ^bb0(%tx: tensor<200x31x31xf16>, %fb: tensor<31x31xf16>, %fc: tensor<31x31xf16>, %out: tensor<200x31x31xf16>):
    %e = tensor.empty() : tensor<200x31x31xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<200x31x31xf16>) factor(%fc [p, q] : tensor<31x31xf16>)
         outs(%e : tensor<200x31x31xf32>) -> tensor<200x31x31xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<200x31x31xf32>) factor(%fb [p, q] : tensor<31x31xf16>)
         outs(%out : tensor<200x31x31xf16>) -> tensor<200x31x31xf16>
    kron.yield %2 : tensor<200x31x31xf16>
  }
  return
}

// -----

// Verify that the last factor's rows make room for those of the next tile where
// two tiles do not fit: loads come between the products and the stores.

// CHECK-LABEL: llvm.func @refill_0
// CHECK:         m64n64k8.f32.tf32.tf32
// CHECK:         m64n64k8.f32.tf32.tf32
// CHECK:         nvvm.vote.sync any
// CHECK-NOT:     st.global
// CHECK:         nvvm.bar.warp.sync
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         st.global.cs.v2.f32
// CHECK:         nvvm.cp.async.commit.group
func.func @refill(%x: memref<64x64x4096xf32>, %a: memref<64x64xf32>, %b: memref<64x64xf32>, %y: memref<64x64x4096xf32>) {
  kron.fused ins(%x, %a, %b : memref<64x64x4096xf32>, memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<64x64x4096xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<64x64x4096xf32>, %fa: tensor<64x64xf32>, %fb: tensor<64x64xf32>, %out: tensor<64x64x4096xf32>):
    %e = tensor.empty() : tensor<64x64x4096xf32>
    %1 = kron.mode_product axis(1) ins(%tx : tensor<64x64x4096xf32>) factor(%fb [p, q] : tensor<64x64xf32>)
         outs(%e : tensor<64x64x4096xf32>) -> tensor<64x64x4096xf32>
    %2 = kron.mode_product axis(0) ins(%1 : tensor<64x64x4096xf32>) factor(%fa [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<64x64x4096xf32>) -> tensor<64x64x4096xf32>
    kron.yield %2 : tensor<64x64x4096xf32>
  }
  return
}

// -----

// Verify that neighbouring lanes read neighbours of a transposed input, which
// lie along the rows: lane l takes row l % 8 of a tile.

// CHECK-LABEL: llvm.func @transposed_0
// CHECK:         %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK:         arith.remui %[[THREAD]], %c8{{.*}} : i32
// CHECK:         nvvm.cp.async.shared.global {{.*}} 4, cache = ca
func.func @transposed(%x: memref<64x64x4096xf32>, %a: memref<64x64xf32>, %b: memref<64x64xf32>, %y: memref<4096x64x64xf32>) {
  kron.fused ins(%x, %a, %b : memref<64x64x4096xf32>, memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<4096x64x64xf32>) attributes {input_permutation = array<i64: 2, 0, 1>} {
  ^bb0(%tx: tensor<4096x64x64xf32>, %fa: tensor<64x64xf32>, %fb: tensor<64x64xf32>, %out: tensor<4096x64x64xf32>):
    %e = tensor.empty() : tensor<4096x64x64xf32>
    %1 = kron.mode_product axis(2) ins(%tx : tensor<4096x64x64xf32>) factor(%fb [p, q] : tensor<64x64xf32>)
         outs(%e : tensor<4096x64x64xf32>) -> tensor<4096x64x64xf32>
    %2 = kron.mode_product axis(1) ins(%1 : tensor<4096x64x64xf32>) factor(%fa [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<4096x64x64xf32>) -> tensor<4096x64x64xf32>
    kron.yield %2 : tensor<4096x64x64xf32>
  }
  return
}

// -----

// Verify that single positions do not count where axes are walked as one: 64 x 1
// columns have the strides of the 64.

// CHECK-LABEL: llvm.func @single_0
// CHECK:         nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK:         m64n64k8.f32.tf32.tf32
// CHECK:         st.global.cs.v2.f32
func.func @single(%x: memref<64x64x1xf32>, %a: memref<64x64xf32>, %y: memref<64x64x1xf32>) {
  kron.fused ins(%x, %a : memref<64x64x1xf32>, memref<64x64xf32>) outs(%y : memref<64x64x1xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<64x64x1xf32>, %fa: tensor<64x64xf32>, %out: tensor<64x64x1xf32>):
    %1 = kron.mode_product axis(0) ins(%tx : tensor<64x64x1xf32>) factor(%fa [p, q] : tensor<64x64xf32>)
         outs(%out : tensor<64x64x1xf32>) -> tensor<64x64x1xf32>
    kron.yield %1 : tensor<64x64x1xf32>
  }
  return
}

// -----

// Verify that four CTAs share the columns of a factor of 256 x 256: each takes 64
// of them, its tile in eight pieces.

// CHECK-LABEL: func.func @shared
// CHECK:         arith.constant 64 : i64
// CHECK-LABEL: llvm.func @shared_0
// CHECK:         %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         %[[SHARE:.*]] = arith.remui %[[CTA]], %c4{{.*}} : i32
// CHECK:         arith.muli %[[SHARE]], %c64{{.*}} : i32
// CHECK-COUNT-8: m64n64k8.f32.tf32.tf32
func.func @shared(%x: memref<1024x256xf32>, %f: memref<256x256xf32>, %y: memref<1024x256xf32>) {
  kron.fused ins(%x, %f : memref<1024x256xf32>, memref<256x256xf32>) outs(%y : memref<1024x256xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64>} {
  ^bb0(%tx: tensor<1024x256xf32>, %tf: tensor<256x256xf32>, %out: tensor<1024x256xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<1024x256xf32>) factor(%tf [p, q] : tensor<256x256xf32>)
         outs(%out : tensor<1024x256xf32>) -> tensor<1024x256xf32>
    kron.yield %1 : tensor<1024x256xf32>
  }
  return
}

// -----

// Verify that an axis of one position inside of the contracted one hides nothing: rows are
// copied 16 bytes at a time.

// CHECK-LABEL: llvm.func @inside_one_0
// CHECK:         nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK:         m64n64k8.f32.tf32.tf32
func.func @inside_one(%x: memref<1024x1x64x1xf32>, %f: memref<64x64xf32>, %y: memref<1024x1x64x1xf32>) {
  kron.fused ins(%x, %f : memref<1024x1x64x1xf32>, memref<64x64xf32>) outs(%y : memref<1024x1x64x1xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<1024x1x64x1xf32>, %tf: tensor<64x64xf32>, %out: tensor<1024x1x64x1xf32>):
    %1 = kron.mode_product axis(2) ins(%tx : tensor<1024x1x64x1xf32>) factor(%tf [q, p] : tensor<64x64xf32>)
         outs(%out : tensor<1024x1x64x1xf32>) -> tensor<1024x1x64x1xf32>
    kron.yield %1 : tensor<1024x1x64x1xf32>
  }
  return
}

// -----

// Verify that the four lanes of a row of 45 results, which starts at any multiple of 4 bytes, shift them: three
// shuffles for four results of each of two rows, and one more time for what the last lane leaves; that four
// which exist are stored by 16 bytes, and those at the ends of the row one by one.

// CHECK-LABEL: llvm.func @odd_0
// CHECK:          m64n48k8.f32.tf32.tf32
// CHECK:          llvm.ptrtoint
// CHECK-COUNT-3:  nvvm.shfl.sync idx
// CHECK:          scf.if
// CHECK:            st.global.cs.v4.f32
// CHECK:          } else {
// CHECK-COUNT-4:    st.global.cs.f32
// CHECK-COUNT-21: nvvm.shfl.sync idx
// CHECK-NOT:      nvvm.shfl.sync idx
func.func @odd(%x: memref<1024x64xf32>, %f: memref<64x45xf32>, %y: memref<1024x45xf32>) {
  kron.fused ins(%x, %f : memref<1024x64xf32>, memref<64x45xf32>) outs(%y : memref<1024x45xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma, k_piece = 32>} {
  ^bb0(%tx: tensor<1024x64xf32>, %tf: tensor<64x45xf32>, %out: tensor<1024x45xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<1024x64xf32>) factor(%tf [p, q] : tensor<64x45xf32>)
         outs(%out : tensor<1024x45xf32>) -> tensor<1024x45xf32>
    kron.yield %1 : tensor<1024x45xf32>
  }
  return
}

// -----

// Verify that CTAs share a factor of 400 rows, whose neighbours are along K, such that 48 of its columns fit
// beside the pieces, and that each of 384 threads loads 16 positions of two of its columns at a time, by 16 bytes
// where it is aligned, and stores 16 bytes of each copy at a time.

// CHECK-LABEL: llvm.func @turns_0
// CHECK:         %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         arith.remui %[[CTA]], %c5{{.*}} : i32
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c1200{{.*}} step %c768
// CHECK:           scf.if %[[ALIGNED]]
// CHECK-COUNT-8:     llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:         llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:           } else {
// CHECK-COUNT-32:    llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK:           scf.if
// CHECK-COUNT-4:     llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-4:     llvm.store {{.*}} : vector<8xbf16>, !llvm.ptr<3>
// CHECK-COUNT-8: m64n48k8.f32.tf32.tf32
func.func @turns(%x: memref<4096x400xf32>, %f: memref<200x400xf32>, %y: memref<4096x200xf32>) {
  kron.fused ins(%x, %f : memref<4096x400xf32>, memref<200x400xf32>) outs(%y : memref<4096x200xf32>) attributes {plan = #kron.gpu_plan<kernel = wgmma, tile = 64>} {
  ^bb0(%tx: tensor<4096x400xf32>, %tf: tensor<200x400xf32>, %out: tensor<4096x200xf32>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4096x400xf32>) factor(%tf [q, p] : tensor<200x400xf32>)
         outs(%out : tensor<4096x200xf32>) -> tensor<4096x200xf32>
    kron.yield %1 : tensor<4096x200xf32>
  }
  return
}

// -----

// Verify that CTAs share a factor of 16 bits with 320 rows and columns, 160 of these each, beside whole tiles, that
// those which are left over copy nothing, and that results of rows that start anywhere are shifted.

// CHECK-LABEL: llvm.func @share_0
// CHECK:         %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         %[[FIRST:.*]] = arith.divui %[[CTA]], %c2{{.*}} : i32
// CHECK:         %[[CTAS:.*]] = arith.divui %{{.*}}, %c2{{.*}} : i32
// CHECK:         %[[HAS:.*]] = arith.cmpi slt, %[[FIRST]], %[[CTAS]]
// CHECK:         %[[TILE:.*]] = arith.select %[[HAS]], %{{.*}}, %[[COUNT:.*]] : i32
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, %[[TILE]], %c128
// CHECK:         scf.if %[[EXISTS]]
// CHECK:           nvvm.cp.async.shared.global
// CHECK:         llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<3>
// CHECK:         m64n160k16.f32.f16.f16
// CHECK:         nvvm.shfl.sync idx
func.func @share(%x: memref<4096x320xf16>, %f: memref<320x315xf16>, %y: memref<4096x315xf16>) {
  kron.fused ins(%x, %f : memref<4096x320xf16>, memref<320x315xf16>) outs(%y : memref<4096x315xf16>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<4096x320xf16>, %tf: tensor<320x315xf16>, %out: tensor<4096x315xf16>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<4096x320xf16>) factor(%tf [p, q] : tensor<320x315xf16>)
         outs(%out : tensor<4096x315xf16>) -> tensor<4096x315xf16>
    kron.yield %1 : tensor<4096x315xf16>
  }
  return
}
