// RUN: kron-opt %s --kron-decompose --cse --kron-fuse --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %s
// RUN: kron-opt %s --kron-lower-interface --kron-decompose --cse --kron-fuse --kron-bufferize --canonicalize --kron-plan \
// RUN:   | FileCheck %s --check-prefix=SCHEDULE
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse=matrix-tiles --remarks-filter='.*' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AMX
// RUN: kron-opt %s --kron-decompose --cse --kron-fuse=target=cuda --remarks-filter='.*' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CUDA

// Verify that a butterfly whose intermediates fit no cache is one fused region, unless
// matrix tiles are there for it.
// CHECK: Regions=1, Remark="3 factors on regrouped axes in 1 fused region"
// AMX: Regions=3, Remark="3 factors on regrouped axes in 3 fused regions; factor 2: matrix tiles take bf16 as it lies in memory; factor 3: matrix tiles take bf16 as it lies in memory"
// CUDA: Regions=2, Remark="3 factors on regrouped axes in 2 fused regions; factor 2: one fused region takes {{[0-9]+}} us, a fused region per factor {{[0-9]+}} us"
func.func @butterfly(%x: tensor<4096x512xbf16>, %a: tensor<64x8x8x1xbf16>, %b: tensor<8x8x8x8xbf16>, %c: tensor<1x8x8x64xbf16>,
                     %y: tensor<4096x512xbf16>) -> tensor<4096x512xbf16> {
  %1 = kron.ksmm ins(%x : tensor<4096x512xbf16>) weights(%a : tensor<64x8x8x1xbf16>)
         outs(%y : tensor<4096x512xbf16>) -> tensor<4096x512xbf16>
  %2 = kron.ksmm ins(%1 : tensor<4096x512xbf16>) weights(%b : tensor<8x8x8x8xbf16>)
         outs(%y : tensor<4096x512xbf16>) -> tensor<4096x512xbf16>
  %3 = kron.ksmm ins(%2 : tensor<4096x512xbf16>) weights(%c : tensor<1x8x8x64xbf16>)
         outs(%y : tensor<4096x512xbf16>) -> tensor<4096x512xbf16>
  return %3 : tensor<4096x512xbf16>
}

// Verify that a chain whose intermediate stays in cache is left to fused regions that can be
// shared out over more than rows.
// CHECK: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: what lies between fits the second-level cache"
// CUDA: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: one fused region takes {{[0-9]+}} us, a fused region per factor {{[0-9]+}} us"
func.func @few_rows(%x: tensor<512x512xf32>, %a: tensor<64x8x8x1xf32>, %b: tensor<8x8x8x8xf32>, %y: tensor<512x512xf32>)
    -> tensor<512x512xf32> {
  %1 = kron.ksmm ins(%x : tensor<512x512xf32>) weights(%a : tensor<64x8x8x1xf32>)
         outs(%y : tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = kron.ksmm ins(%1 : tensor<512x512xf32>) weights(%b : tensor<8x8x8x8xf32>)
         outs(%y : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// Verify that both are there where the number of rows is not known.
// CHECK: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
// CHECK: Remark="several fused regions where there are at most 512 rows, else one", Rows=512
func.func @unknown_rows(%x: tensor<?x512xf32>, %a: tensor<64x8x8x1xf32>, %b: tensor<8x8x8x8xf32>, %y: tensor<?x512xf32>)
    -> tensor<?x512xf32> {
  %1 = kron.ksmm ins(%x : tensor<?x512xf32>) weights(%a : tensor<64x8x8x1xf32>)
         outs(%y : tensor<?x512xf32>) -> tensor<?x512xf32>
  %2 = kron.ksmm ins(%1 : tensor<?x512xf32>) weights(%b : tensor<8x8x8x8xf32>)
         outs(%y : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %2 : tensor<?x512xf32>
}

// Verify that rows too long for the cache are left alone.
// CHECK: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: fewer than 16 rows fit the second-level cache"
// CUDA: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: a block of rows does not fit in shared memory"
func.func @long_rows(%x: tensor<1024x65536xf32>, %a: tensor<8192x8x8x1xf32>, %b: tensor<1024x8x8x8xf32>, %y: tensor<1024x65536xf32>)
    -> tensor<1024x65536xf32> {
  %1 = kron.ksmm ins(%x : tensor<1024x65536xf32>) weights(%a : tensor<8192x8x8x1xf32>)
         outs(%y : tensor<1024x65536xf32>) -> tensor<1024x65536xf32>
  %2 = kron.ksmm ins(%1 : tensor<1024x65536xf32>) weights(%b : tensor<1024x8x8x8xf32>)
         outs(%y : tensor<1024x65536xf32>) -> tensor<1024x65536xf32>
  return %2 : tensor<1024x65536xf32>
}

// Verify that large factors, whose products take longer than memory, are fused regions of
// their own, and that the others of the chain are not.
// CHECK: Regions=2, Remark="3 factors on regrouped axes in 2 fused regions; factor 3: multiply-adds take longer than memory"
func.func @large_factor(%x: tensor<4096x512xf32>, %a: tensor<64x8x8x1xf32>, %b: tensor<8x8x8x8xf32>, %c: tensor<1x2048x512x1xf32>,
                        %e: tensor<4096x512xf32>, %y: tensor<4096x2048xf32>) -> tensor<4096x2048xf32> {
  %1 = kron.ksmm ins(%x : tensor<4096x512xf32>) weights(%a : tensor<64x8x8x1xf32>)
         outs(%e : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %2 = kron.ksmm ins(%1 : tensor<4096x512xf32>) weights(%b : tensor<8x8x8x8xf32>)
         outs(%e : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %3 = kron.ksmm ins(%2 : tensor<4096x512xf32>) weights(%c : tensor<1x2048x512x1xf32>)
         outs(%y : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  return %3 : tensor<4096x2048xf32>
}

// Verify that a Monarch layer of 1024 features is one fused region with the batch first, and
// with the batch last is not.
// CHECK: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
// SCHEDULE-LABEL: func.func @monarch(
// SCHEDULE:         kron.fused {{.*}} attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 32,{{.*}}>}
func.func @monarch(%x: tensor<4096x1024xf32>, %a: tensor<32x32x32x1xf32>, %b: tensor<1x32x32x32xf32>, %y: tensor<4096x1024xf32>)
    -> tensor<4096x1024xf32> {
  %1 = kron.ksmm ins(%x : tensor<4096x1024xf32>) weights(%a : tensor<32x32x32x1xf32>)
         outs(%y : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %2 = kron.ksmm ins(%1 : tensor<4096x1024xf32>) weights(%b : tensor<1x32x32x32xf32>)
         outs(%y : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}

// CHECK: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: multiply-adds take longer than memory"
func.func @monarch_last(%x: tensor<1024x4096xf32>, %a: tensor<32x32x32x1xf32>, %b: tensor<1x32x32x32xf32>, %y: tensor<1024x4096xf32>)
    -> tensor<1024x4096xf32> {
  %1 = kron.ksmm ins(%x : tensor<1024x4096xf32>) weights(%a : tensor<32x32x32x1xf32>)
         outs(%y : tensor<1024x4096xf32>) {layout = #kron.layout<batch_last>} -> tensor<1024x4096xf32>
  %2 = kron.ksmm ins(%1 : tensor<1024x4096xf32>) weights(%b : tensor<1x32x32x32xf32>)
         outs(%y : tensor<1024x4096xf32>) {layout = #kron.layout<batch_last>} -> tensor<1024x4096xf32>
  return %2 : tensor<1024x4096xf32>
}

// Verify that small factors are one fused region in both layouts, on two lines of columns
// without prefetching the next ones.
// CHECK: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
// SCHEDULE-LABEL: func.func @small_factors(
// SCHEDULE:         kron.fused {{.*}} attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 32,{{.*}}>}
func.func @small_factors(%x: tensor<4096x1024xf32>, %a: tensor<256x4x4x1xf32>, %b: tensor<64x4x4x4xf32>, %y: tensor<4096x1024xf32>)
    -> tensor<4096x1024xf32> {
  %1 = kron.ksmm ins(%x : tensor<4096x1024xf32>) weights(%a : tensor<256x4x4x1xf32>)
         outs(%y : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %2 = kron.ksmm ins(%1 : tensor<4096x1024xf32>) weights(%b : tensor<64x4x4x4xf32>)
         outs(%y : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}

// CHECK: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
// SCHEDULE-LABEL: func.func @small_factors_last(
// SCHEDULE:         kron.fused {{.*}} attributes {plan = #kron.cpu_plan<vector_bits = 512, tile = 32,{{.*}} prefetch = -1,{{.*}}>}
func.func @small_factors_last(%x: tensor<1024x4096xf32>, %a: tensor<256x4x4x1xf32>, %b: tensor<64x4x4x4xf32>, %y: tensor<1024x4096xf32>)
    -> tensor<1024x4096xf32> {
  %1 = kron.ksmm ins(%x : tensor<1024x4096xf32>) weights(%a : tensor<256x4x4x1xf32>)
         outs(%y : tensor<1024x4096xf32>) {layout = #kron.layout<batch_last>} -> tensor<1024x4096xf32>
  %2 = kron.ksmm ins(%1 : tensor<1024x4096xf32>) weights(%b : tensor<64x4x4x4xf32>)
         outs(%y : tensor<1024x4096xf32>) {layout = #kron.layout<batch_last>} -> tensor<1024x4096xf32>
  return %2 : tensor<1024x4096xf32>
}

// Verify that factors which leave a GPU little to do between rows are one fused region in f16, and
// in f32, for which kernels of one factor multiply by warpgroups, are not.
// CUDA: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
func.func @narrow(%x: tensor<25088x384xf16>, %k: tensor<2x48x192x1xf16>, %l: tensor<1x192x48x2xf16>, %y: tensor<25088x384xf16>)
    -> tensor<25088x384xf16> {
  %e = tensor.empty() : tensor<25088x96xf16>
  %1 = kron.ksmm ins(%x : tensor<25088x384xf16>) weights(%k : tensor<2x48x192x1xf16>) outs(%e : tensor<25088x96xf16>)
         -> tensor<25088x96xf16>
  %2 = kron.ksmm ins(%1 : tensor<25088x96xf16>) weights(%l : tensor<1x192x48x2xf16>) outs(%y : tensor<25088x384xf16>)
         -> tensor<25088x384xf16>
  return %2 : tensor<25088x384xf16>
}

// CUDA: Regions=2, Remark="2 factors on regrouped axes in 2 fused regions; factor 2: one fused region takes {{[0-9]+}} us, a fused region per factor {{[0-9]+}} us"
func.func @narrow_f32(%x: tensor<25088x384xf32>, %k: tensor<2x48x192x1xf32>, %l: tensor<1x192x48x2xf32>, %y: tensor<25088x384xf32>)
    -> tensor<25088x384xf32> {
  %e = tensor.empty() : tensor<25088x96xf32>
  %1 = kron.ksmm ins(%x : tensor<25088x384xf32>) weights(%k : tensor<2x48x192x1xf32>) outs(%e : tensor<25088x96xf32>)
         -> tensor<25088x96xf32>
  %2 = kron.ksmm ins(%1 : tensor<25088x96xf32>) weights(%l : tensor<1x192x48x2xf32>) outs(%y : tensor<25088x384xf32>)
         -> tensor<25088x384xf32>
  return %2 : tensor<25088x384xf32>
}

// Verify that a Monarch layer of f16, whose factors an SM keeps, is one fused region.
// CUDA: Regions=1, Remark="2 factors on regrouped axes in 1 fused region"
func.func @monarch_halves(%x: tensor<25088x1024xf16>, %a: tensor<1x32x32x32xf16>, %b: tensor<32x32x32x1xf16>, %y: tensor<25088x1024xf16>)
    -> tensor<25088x1024xf16> {
  %1 = kron.ksmm ins(%x : tensor<25088x1024xf16>) weights(%a : tensor<1x32x32x32xf16>)
         outs(%y : tensor<25088x1024xf16>) -> tensor<25088x1024xf16>
  %2 = kron.ksmm ins(%1 : tensor<25088x1024xf16>) weights(%b : tensor<32x32x32x1xf16>)
         outs(%y : tensor<25088x1024xf16>) -> tensor<25088x1024xf16>
  return %2 : tensor<25088x1024xf16>
}

// Verify that the second of three factors goes with the one that it saves more with.
// CUDA: Regions=2, Remark="3 factors on regrouped axes in 2 fused regions; factor 2: one fused region with the next factor saves more"
func.func @many_rows(%x: tensor<25088x512xf32>, %a: tensor<64x8x8x1xf32>, %b: tensor<8x8x8x8xf32>, %c: tensor<1x8x8x64xf32>,
                     %y: tensor<25088x512xf32>) -> tensor<25088x512xf32> {
  %1 = kron.ksmm ins(%x : tensor<25088x512xf32>) weights(%a : tensor<64x8x8x1xf32>)
         outs(%y : tensor<25088x512xf32>) -> tensor<25088x512xf32>
  %2 = kron.ksmm ins(%1 : tensor<25088x512xf32>) weights(%b : tensor<8x8x8x8xf32>)
         outs(%y : tensor<25088x512xf32>) -> tensor<25088x512xf32>
  %3 = kron.ksmm ins(%2 : tensor<25088x512xf32>) weights(%c : tensor<1x8x8x64xf32>)
         outs(%y : tensor<25088x512xf32>) -> tensor<25088x512xf32>
  return %3 : tensor<25088x512xf32>
}
