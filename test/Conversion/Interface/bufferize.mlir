// RUN: kron-opt %s --kron-bufferize --canonicalize | FileCheck %s

// Verify that the region of a kron.fused stays on tensors and that its operands
// become memrefs, without a copy.
// CHECK-LABEL: func.func @pass(
// CHECK-NOT: memref.alloc
// CHECK: kron.fused ins(%{{.*}}, %{{.*}} : memref<9x8x4xf32>, memref<8x8xf32>) outs(%{{.*}} : memref<9x8x4xf32>) attributes {input_permutation = array<i64: 0, 1, 2>} {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<9x8x4xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<9x8x4xf32>):
// CHECK-NEXT: kron.mode_product {{.*}} -> tensor<9x8x4xf32>
// CHECK-NEXT: kron.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @pass(%x: memref<9x8x4xf32>, %a: memref<8x8xf32>, %y: memref<9x8x4xf32>) {
  %tx = bufferization.to_tensor %x restrict : memref<9x8x4xf32> to tensor<9x8x4xf32>
  %ta = bufferization.to_tensor %a restrict : memref<8x8xf32> to tensor<8x8xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<9x8x4xf32> to tensor<9x8x4xf32>
  %r = kron.fused ins(%tx, %ta : tensor<9x8x4xf32>, tensor<8x8xf32>)
                 outs(%ty : tensor<9x8x4xf32>)
                 attributes {input_permutation = array<i64: 0, 1, 2>} {
  ^bb0(%in: tensor<9x8x4xf32>, %f: tensor<8x8xf32>, %out: tensor<9x8x4xf32>):
    %1 = kron.mode_product axis(1) ins(%in : tensor<9x8x4xf32>)
           factor(%f [p, q] : tensor<8x8xf32>)
           outs(%out : tensor<9x8x4xf32>) -> tensor<9x8x4xf32>
    kron.yield %1 : tensor<9x8x4xf32>
  } -> tensor<9x8x4xf32>
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<9x8x4xf32>, memref<9x8x4xf32>) -> ()
  return
}

// Verify that a destination that is read later, or that must not be written, is
// copied first when its contents matter, and only then.
// CHECK-LABEL: func.func @read_only(
// CHECK-SAME: %[[X:.*]]: memref<9x64xf32>, %[[A:.*]]: memref<8x8xf32>, %[[Z:.*]]: memref<9x64xf32>,
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK-NOT: copy
// CHECK: kron.mkm ins(%[[X]] {{.*}} outs(%[[NEW]] : memref<9x64xf32>)
// CHECK: %[[SUM:.*]] = memref.alloc
// CHECK: linalg.copy ins(%[[Z]] {{.*}} outs(%[[SUM]]
// CHECK: kron.mkm ins(%[[NEW]] {{.*}} outs(%[[SUM]] : memref<9x64xf32>) beta
// CHECK-DAG: memref.dealloc %[[NEW]]
// CHECK-DAG: memref.dealloc %[[SUM]]
func.func @read_only(%x: memref<9x64xf32>, %a: memref<8x8xf32>, %z: memref<9x64xf32>,
                     %y: memref<9x64xf32>) {
  %tx = bufferization.to_tensor %x restrict : memref<9x64xf32> to tensor<9x64xf32>
  %ta = bufferization.to_tensor %a restrict : memref<8x8xf32> to tensor<8x8xf32>
  %tz = bufferization.to_tensor %z restrict : memref<9x64xf32> to tensor<9x64xf32>
  %1 = kron.mkm ins(%tx : tensor<9x64xf32>)
         factors(%ta, %ta : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%tz : tensor<9x64xf32>) -> tensor<9x64xf32>
  %2 = kron.mkm ins(%1 : tensor<9x64xf32>)
         factors(%ta, %ta : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%tz : tensor<9x64xf32>) beta(1.0 : f32) -> tensor<9x64xf32>
  bufferization.materialize_in_destination %2 in restrict writable %y
      : (tensor<9x64xf32>, memref<9x64xf32>) -> ()
  return
}

// Verify that an addend in the destination's own memory needs no copy.
// CHECK-LABEL: func.func @addend_is_destination(
// CHECK-SAME: %[[X:.*]]: memref<9x64xf32>, %[[A:.*]]: memref<8x8xf32>, %[[Y:.*]]: memref<9x64xf32>)
// CHECK-NEXT: kron.mkm {{.*}} outs(%[[Y]] : memref<9x64xf32>) beta(2.000000e+00 : f32){{$}}
// CHECK-NEXT: return
func.func @addend_is_destination(%x: memref<9x64xf32>, %a: memref<8x8xf32>,
                                 %y: memref<9x64xf32>) {
  %tx = bufferization.to_tensor %x restrict : memref<9x64xf32> to tensor<9x64xf32>
  %ta = bufferization.to_tensor %a restrict : memref<8x8xf32> to tensor<8x8xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<9x64xf32> to tensor<9x64xf32>
  %1 = kron.mkm ins(%tx : tensor<9x64xf32>)
         factors(%ta, %ta : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%ty : tensor<9x64xf32>) beta(2.0 : f32) addend(%ty : tensor<9x64xf32>)
         -> tensor<9x64xf32>
  bufferization.materialize_in_destination %1 in restrict writable %y
      : (tensor<9x64xf32>, memref<9x64xf32>) -> ()
  return
}

// Verify that a result of more dimensions than its destination is stored through
// a view of the destination: merging the dimensions would copy it, for they need
// not be contiguous.
// CHECK-LABEL: func.func @reshaped_result(
// CHECK-SAME: %[[X:.*]]: memref<2x3x?xf32>, %[[A:.*]]: memref<3x3xf32>, %[[Y:.*]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK-NOT: alloc
// CHECK: %[[CAST:.*]] = memref.cast %[[Y]] : memref<?x?xf32, strided<[?, 1]>> to memref<6x?xf32, strided<[?, 1]>>
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[CAST]] {{\[\[}}0, 1], [2]]
// CHECK: kron.fused {{.*}} outs(%[[VIEW]] :
// CHECK-NOT: copy
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @reshaped_result(%x: memref<2x3x?xf32>, %a: memref<3x3xf32>,
                           %y: memref<?x?xf32, strided<[?, 1]>>) {
  %c1 = arith.constant 1 : index
  %tx = bufferization.to_tensor %x restrict : memref<2x3x?xf32> to tensor<2x3x?xf32>
  %ta = bufferization.to_tensor %a restrict : memref<3x3xf32> to tensor<3x3xf32>
  %ty = bufferization.to_tensor %y restrict writable
      : memref<?x?xf32, strided<[?, 1]>> to tensor<?x?xf32>
  %static = tensor.cast %ty : tensor<?x?xf32> to tensor<6x?xf32>
  %m = tensor.dim %ty, %c1 : tensor<?x?xf32>
  %view = tensor.expand_shape %static [[0, 1], [2]] output_shape [2, 3, %m]
      : tensor<6x?xf32> into tensor<2x3x?xf32>
  %r = kron.fused ins(%tx, %ta : tensor<2x3x?xf32>, tensor<3x3xf32>)
                 outs(%view : tensor<2x3x?xf32>) {
  ^bb0(%in: tensor<2x3x?xf32>, %f: tensor<3x3xf32>, %out: tensor<2x3x?xf32>):
    %1 = kron.mode_product axis(1) ins(%in : tensor<2x3x?xf32>)
           factor(%f [p, q] : tensor<3x3xf32>)
           outs(%out : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
    kron.yield %1 : tensor<2x3x?xf32>
  } -> tensor<2x3x?xf32>
  %merged = tensor.collapse_shape %r [[0, 1], [2]] : tensor<2x3x?xf32> into tensor<6x?xf32>
  %open = tensor.cast %merged : tensor<6x?xf32> to tensor<?x?xf32>
  bufferization.materialize_in_destination %open in restrict writable %y
      : (tensor<?x?xf32>, memref<?x?xf32, strided<[?, 1]>>) -> ()
  return
}

// Verify that what is allocated is freed, also where it is carried by a loop.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: memref.alloc
// CHECK: kron.mkm
// CHECK: memref.dealloc
// CHECK: scf.yield
// CHECK: memref.dealloc
// CHECK: return
func.func @loop(%x: memref<9x64xf32>, %a: memref<8x8xf32>, %y: memref<9x64xf32>,
                %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tx = bufferization.to_tensor %x restrict : memref<9x64xf32> to tensor<9x64xf32>
  %ta = bufferization.to_tensor %a restrict : memref<8x8xf32> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %tx) -> tensor<9x64xf32> {
    %e = tensor.empty() : tensor<9x64xf32>
    %1 = kron.mkm ins(%v : tensor<9x64xf32>)
           factors(%ta, %ta : tensor<8x8xf32>, tensor<8x8xf32>)
           outs(%e : tensor<9x64xf32>) -> tensor<9x64xf32>
    scf.yield %1 : tensor<9x64xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y
      : (tensor<9x64xf32>, memref<9x64xf32>) -> ()
  return
}



// Verify that several fused regions on memrefs stay as they are.
// CHECK-LABEL: func @passes_on_memrefs
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32>, %[[F:.*]]: memref<8x8xf32>
// CHECK-COUNT-3: kron.fused ins(%[[X]], %[[F]]
// CHECK-NOT:     kron.fused
func.func @passes_on_memrefs(%x: memref<4x8xf32>, %f: memref<8x8xf32>, %y: memref<4x8xf32>) {
  kron.fused ins(%x, %f : memref<4x8xf32>, memref<8x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%t: tensor<4x8xf32>, %a: tensor<8x8xf32>, %o: tensor<4x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    kron.yield %1 : tensor<4x8xf32>
  }
  kron.fused ins(%x, %f : memref<4x8xf32>, memref<8x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%t: tensor<4x8xf32>, %a: tensor<8x8xf32>, %o: tensor<4x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    kron.yield %1 : tensor<4x8xf32>
  }
  kron.fused ins(%x, %f : memref<4x8xf32>, memref<8x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%t: tensor<4x8xf32>, %a: tensor<8x8xf32>, %o: tensor<4x8xf32>):
    %1 = kron.mode_product axis(1) ins(%t : tensor<4x8xf32>) factor(%a [p, q] : tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    kron.yield %1 : tensor<4x8xf32>
  }
  return
}

// Verify that a reshape which makes two unknown sizes of one becomes a view with
// strides of its own.
// CHECK-LABEL: func.func @open_split(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x4xf32
// CHECK-SAME:    %[[B:[^:]*]]: index, %[[M:[^:]*]]: index
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[S:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[OUTER:.*]] = arith.muli %[[S]]#0, %[[M]]
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [%[[B]], %[[M]], 4], strides: [%[[OUTER]], %[[S]]#0, %[[S]]#1]
// CHECK-NOT:     memref.expand_shape
func.func @open_split(%x: tensor<?x4xf32>, %b: index, %m: index, %init: tensor<?x4x?xf32>) -> tensor<?x4x?xf32> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%b, %m, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<?x?x4xf32>) outs(%init : tensor<?x4x?xf32>) permutation = [0, 2, 1]
  return %1 : tensor<?x4x?xf32>
}
