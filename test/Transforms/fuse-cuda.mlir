// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" --canonicalize \
// RUN:   --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda footprint-bytes=2048" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=sm_80" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=OLD

// Verify that a row of 128 KiB goes through all factors in one fused region, and that a
// smaller budget takes more of them.
// CHECK-LABEL: func @one_trip
// CHECK:         kron.fused
// CHECK-COUNT-5: kron.mode_product
// CHECK-NOT:     kron.fused
// SMALL-LABEL: func @one_trip
// SMALL-COUNT-2: kron.fused
// SMALL:         return
func.func @one_trip(%x: tensor<1024x32768xf32>, %f: tensor<8x8xf32>, %init: tensor<1024x32768xf32>) -> tensor<1024x32768xf32> {
  %y = kron.mkm ins(%x : tensor<1024x32768xf32>)
         factors(%f, %f, %f, %f, %f : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%init : tensor<1024x32768xf32>) -> tensor<1024x32768xf32>
  return %y : tensor<1024x32768xf32>
}

// -----

// Verify that a longer row takes two fused regions: the trailing axes, then the leading
// ones, with one array between them. Scaling and the addend go to the last one.
// CHECK-LABEL: func @two_trips
// CHECK-SAME:    %[[X:.*]]: tensor<?x1048576xf32>, %[[F:.*]]: tensor<32x32xf32>, %[[Z:.*]]: tensor<?x1048576xf32>, %[[ALPHA:.*]]: f32
// CHECK:         %[[INIT:.*]] = tensor.expand_shape %[[Z]]
// CHECK:         %[[XV:.*]] = tensor.expand_shape %[[X]]
// CHECK:         %[[T:.*]] = tensor.empty(%{{.*}}) : tensor<?x32x32x32x32xf32>
// CHECK:         %[[FIRST:.*]] = kron.fused ins(%[[XV]], %[[F]]
// CHECK-SAME:      outs(%[[T]] :
// CHECK:           kron.mode_product axis(4)
// CHECK:           kron.mode_product axis(3)
// CHECK-NOT:       alpha
// CHECK:         kron.fused ins(%[[FIRST]], %[[F]]
// CHECK-SAME:      outs(%[[INIT]] :
// CHECK:           kron.mode_product axis(2)
// CHECK:           kron.mode_product axis(1)
// CHECK-SAME:        alpha(%[[ALPHA]] : f32) beta(2.000000e+00 : f32)
func.func @two_trips(%x: tensor<?x1048576xf32>, %f: tensor<32x32xf32>, %z: tensor<?x1048576xf32>, %alpha: f32) -> tensor<?x1048576xf32> {
  %y = kron.mkm ins(%x : tensor<?x1048576xf32>)
         factors(%f, %f, %f, %f : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
         outs(%z : tensor<?x1048576xf32>) alpha(%alpha : f32) beta(2.0 : f32) -> tensor<?x1048576xf32>
  return %y : tensor<?x1048576xf32>
}

// -----

// Verify that memrefs get an array that is released, and that the input is read
// with its permutation in the first fused region only.
// CHECK-LABEL: func @memrefs
// CHECK-SAME:    %[[X:.*]]: memref<?x1048576xf32>, %[[F:.*]]: memref<32x32xf32>, %[[Z:.*]]: memref<?x1048576xf32>, %[[Y:.*]]: memref<1048576x?xf32>
// CHECK-DAG:     %[[YV:.*]] = memref.expand_shape %[[Y]]
// CHECK-DAG:     %[[XV:.*]] = memref.expand_shape %[[X]]
// CHECK:         %[[T:.*]] = memref.alloc(%{{.*}}) {bufferization.manual_deallocation} : memref<32x32x32x32x?xf32>
// CHECK:         kron.fused ins(%[[XV]], %{{.*}}) outs(%[[T]] : {{.*}}) attributes {input_permutation = array<i64: 1, 2, 3, 4, 0>} {
// CHECK:         kron.fused ins(%[[T]], {{.*}}) outs(%[[YV]] : memref<32x32x32x32x?xf32>) {
// CHECK:         memref.dealloc %[[T]]
func.func @memrefs(%x: memref<?x1048576xf32>, %f: memref<32x32xf32>, %z: memref<?x1048576xf32>, %y: memref<1048576x?xf32>) {
  kron.kmm ins(T(%x) : memref<?x1048576xf32>)
    factors(%f, %f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<1048576x?xf32>)
  return
}

// -----

// Verify that the second of three fused regions uses the only array made, since the
// first one writes the destination.
// CHECK-LABEL: func @ping_pong
// CHECK-SAME:    %[[X:.*]]: memref<64x2097152xf32>, %[[F:.*]]: memref<128x128xf32>, %[[Y:.*]]: memref<64x2097152xf32>
// CHECK-DAG:     %[[YV:.*]] = memref.expand_shape %[[Y]]
// CHECK-DAG:     %[[XV:.*]] = memref.expand_shape %[[X]]
// CHECK-NOT:     alloc
// CHECK:         kron.fused ins(%[[XV]], %[[F]] : {{.*}}) outs(%[[YV]] :
// CHECK:         %[[T:.*]] = memref.alloc
// CHECK:         kron.fused ins(%[[YV]], %[[F]] : {{.*}}) outs(%[[T]] :
// CHECK:         kron.fused ins(%[[T]], %[[F]] : {{.*}}) outs(%[[YV]] :
// CHECK-NOT:     memref.alloc
func.func @ping_pong(%x: memref<64x2097152xf32>, %f: memref<128x128xf32>, %y: memref<64x2097152xf32>) {
  kron.mkm ins(%x : memref<64x2097152xf32>) factors(%f, %f, %f : memref<128x128xf32>, memref<128x128xf32>, memref<128x128xf32>)
    outs(%y : memref<64x2097152xf32>)
    {plan = #kron.gpu_plan<regions = [1, 1, 1]>}
  return
}

// -----

// Verify that a destination that is still needed is not written early.
// CHECK-LABEL: func @needed_destination
// CHECK:         %[[T0:.*]] = memref.alloc
// CHECK:         kron.fused {{.*}} outs(%[[T0]] :
// CHECK:         %[[T1:.*]] = memref.alloc
// CHECK:         kron.fused ins(%[[T0]], {{.*}} outs(%[[T1]] :
// CHECK:         kron.fused ins(%[[T1]],
// CHECK-DAG:     memref.dealloc %[[T0]]
// CHECK-DAG:     memref.dealloc %[[T1]]
func.func @needed_destination(%x: memref<64x2097152xf32>, %f: memref<128x128xf32>, %y: memref<64x2097152xf32>) {
  kron.mkm ins(%x : memref<64x2097152xf32>) factors(%f, %f, %f : memref<128x128xf32>, memref<128x128xf32>, memref<128x128xf32>)
    outs(%y : memref<64x2097152xf32>) beta(1.0 : f32)
    {plan = #kron.gpu_plan<regions = [1, 1, 1]>}
  return
}

// -----

// Verify that what shrinks the array goes first and that the array between fused regions
// has the size it has then; the rest of the plan goes to every fused region.
// CHECK-LABEL: func @shrinking
// CHECK:         tensor.empty() : tensor<64x256x64xf32>
// CHECK:         kron.fused {{.*}} attributes {plan = #kron.gpu_plan<kernel = simt>}
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused {{.*}} attributes {plan = #kron.gpu_plan<kernel = simt>}
// CHECK:           kron.mode_product axis(1)
func.func @shrinking(%x: tensor<64x65536xf32>, %f: tensor<256x1024xf32>, %g: tensor<256x64xf32>, %init: tensor<64x65536xf32>) -> tensor<64x65536xf32> {
  %y = kron.mkm ins(%x : tensor<64x65536xf32>) factors(%f, %g : tensor<256x1024xf32>, tensor<256x64xf32>)
         outs(%init : tensor<64x65536xf32>) {plan = #kron.gpu_plan<kernel = simt>} -> tensor<64x65536xf32>
  return %y : tensor<64x65536xf32>
}

// -----

// Verify that f16 is stored as f16 between fused regions and kept as f32 within one.
// CHECK-LABEL: func @half
// CHECK:         tensor.empty() : tensor<8x64x64x64xf16>
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(3) {{.*}} -> tensor<8x64x64x64xf32>
// CHECK:           kron.mode_product axis(2) ins(%{{.*}} : tensor<8x64x64x64xf32>) {{.*}} -> tensor<8x64x64x64xf16>
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(1) {{.*}} -> tensor<8x64x64x64xf16>
func.func @half(%x: tensor<8x262144xf16>, %f: tensor<64x64xf16>, %init: tensor<8x262144xf16>) -> tensor<8x262144xf16> {
  %y = kron.mkm ins(%x : tensor<8x262144xf16>) factors(%f, %f, %f : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>)
         outs(%init : tensor<8x262144xf16>) -> tensor<8x262144xf16>
  return %y : tensor<8x262144xf16>
}

// -----

// Verify that f64 rows of 256 KiB take one fused region, which two CTAs share, and two
// where there are no clusters.
// CHECK-LABEL: func @shared
// CHECK:         kron.fused
// CHECK-COUNT-5: kron.mode_product
// CHECK-NOT:     kron.fused
// OLD-LABEL: func @shared
// OLD-COUNT-2: kron.fused
// SMALL-LABEL: func @shared
// SMALL-COUNT-3: kron.fused
func.func @shared(%x: tensor<1024x32768xf64>, %f: tensor<8x8xf64>, %init: tensor<1024x32768xf64>) -> tensor<1024x32768xf64> {
  %y = kron.mkm ins(%x : tensor<1024x32768xf64>)
         factors(%f, %f, %f, %f, %f : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>)
         outs(%init : tensor<1024x32768xf64>) -> tensor<1024x32768xf64>
  return %y : tensor<1024x32768xf64>
}

// -----

// Verify that factors keep their order where one depends on the axis of another.
// CHECK-LABEL: func @ordered
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(1)
// CHECK:         kron.fused
// CHECK:           kron.mode_product axis(2)
func.func @ordered(%x: memref<4x8x256x64xf32>, %f: memref<8x8xf32>, %g: memref<8x256x256xf32>, %y: memref<4x8x256x64xf32>) {
  kron.fused ins(%x, %f, %g : memref<4x8x256x64xf32>, memref<8x8xf32>, memref<8x256x256xf32>) outs(%y : memref<4x8x256x64xf32>) {
  ^bb0(%t: tensor<4x8x256x64xf32>, %a: tensor<8x8xf32>, %b: tensor<8x256x256xf32>, %o: tensor<4x8x256x64xf32>):
    %e = tensor.empty() : tensor<4x8x256x64xf32>
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x8x256x64xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%e : tensor<4x8x256x64xf32>) -> tensor<4x8x256x64xf32>
    %2 = kron.mode_product axis(2) ins(%1 : tensor<4x8x256x64xf32>) factor(%b [1, p, q] : tensor<8x256x256xf32>) outs(%o : tensor<4x8x256x64xf32>) -> tensor<4x8x256x64xf32>
    kron.yield %2 : tensor<4x8x256x64xf32>
  }
  return
}

// Verify that an axis is the innermost one of what is estimated where there is none beside it.
// CHECK-LABEL: func.func @one_axis(
// CHECK:         kron.fused
func.func @one_axis(%x: tensor<1x12xf16>, %a: tensor<12x8xf16>, %b: tensor<1x2xf16>) -> tensor<8x2xf16> {
  %init = tensor.empty() : tensor<8x2xf16>
  %y = kron.batched ins(T(%x) : tensor<1x12xf16>) factors(C(%a), T(%b) : tensor<12x8xf16>, tensor<1x2xf16>)
                    outs(%init : tensor<8x2xf16>) -> tensor<8x2xf16>
  return %y : tensor<8x2xf16>
}
