// RUN: kron-opt %s --pass-pipeline="builtin.module(func.func(sharding-propagation,shard-partition),canonicalize,cse)" \
// RUN:   -split-input-file | FileCheck %s

// Verify that rows are shared out without communication, whichever way X is stored.
// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<32x4xf32>, %[[F:.*]]: tensor<8x8xf32>, %[[G:.*]]: tensor<4x4xf32>, %[[INIT:.*]]: tensor<4x32xf32>) -> tensor<4x32xf32>
// CHECK-NEXT:    %[[Y:.*]] = kron.mkm ins(T(%[[X]]) : tensor<32x4xf32>) factors(%[[F]], %[[G]] : tensor<8x8xf32>, tensor<4x4xf32>) outs(%[[INIT]] : tensor<4x32xf32>) beta(2.000000e+00 : f32) -> tensor<4x32xf32>
// CHECK-NEXT:    return %[[Y]]
shard.grid @grid(shape = 2)
func.func @rows(%x: tensor<32x8xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<32x8xf32>
  %y = kron.mkm ins(T(%part) : tensor<32x8xf32>) factors(%f, %g : tensor<8x8xf32>, tensor<4x4xf32>) outs(%init : tensor<8x32xf32>) beta(2.0 : f32) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// -----

// Verify that columns of X go with rows of the first factor, and that partial
// results are added.
// CHECK-LABEL: func @contracted(
// CHECK-SAME:    %[[X:.*]]: tensor<4x16xf32>, %[[F:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<4x4xf32>, %[[INIT:.*]]: tensor<4x32xf32>)
// CHECK-NEXT:    %[[PART:.*]] = kron.mkm ins(%[[X]] : tensor<4x16xf32>) factors(%[[F]], %[[G]] : tensor<4x8xf32>, tensor<4x4xf32>) outs(%[[INIT]] : tensor<4x32xf32>) alpha(3.000000e+00 : f32) -> tensor<4x32xf32>
// CHECK-NEXT:    %[[Y:.*]] = shard.all_reduce %[[PART]] on @grid grid_axes = [0] : tensor<4x32xf32> -> tensor<4x32xf32>
// CHECK-NEXT:    return %[[Y]]
shard.grid @grid(shape = 2)
func.func @contracted(%x: tensor<4x32xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<4x32xf32>
  %y = kron.mkm ins(%part : tensor<4x32xf32>) factors(%f, %g : tensor<8x8xf32>, tensor<4x4xf32>) outs(%init : tensor<4x32xf32>) alpha(3.0 : f32) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Verify that rows of the result of kron.kmm go with rows of the first factor,
// also of one that is used transposed, and a batch with what it does not stretch.
// CHECK-LABEL: func @results(
// CHECK-SAME:    %[[X:.*]]: tensor<3x32x5xf32>, %[[F:.*]]: tensor<3x8x2xf32>, %[[G:.*]]: tensor<1x4x4xf32>, %[[INIT:.*]]: tensor<3x8x5xf32>) -> tensor<3x8x5xf32>
// CHECK-NEXT:    %[[Y:.*]] = kron.kmm ins(%[[X]] : tensor<3x32x5xf32>) factors(T(%[[F]]), %[[G]] : tensor<3x8x2xf32>, tensor<1x4x4xf32>) outs(%[[INIT]] : tensor<3x8x5xf32>) -> tensor<3x8x5xf32>
// CHECK-NEXT:    return %[[Y]]
shard.grid @grid(shape = 2x4)
func.func @results(%x: tensor<6x32x5xf32>, %f: tensor<6x8x8xf32>, %g: tensor<1x4x4xf32>, %init: tensor<6x32x5xf32>) -> tensor<6x32x5xf32> {
  %y = kron.kmm ins(%x : tensor<6x32x5xf32>) factors(T(%f), %g : tensor<6x8x8xf32>, tensor<1x4x4xf32>) outs(%init : tensor<6x32x5xf32>) -> tensor<6x32x5xf32>
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %part = shard.shard %y to %s : tensor<6x32x5xf32>
  return %part : tensor<6x32x5xf32>
}

// -----

// Verify that columns are gathered where the ranks' blocks are no whole blocks of
// the first factor, or its size is not known.
// CHECK-LABEL: func @gathered(
// CHECK-SAME:    %[[X:.*]]: tensor<4x12xf32>, %[[F:.*]]: tensor<3x3xf32>
// CHECK-NEXT:    %[[WHOLE:.*]] = shard.all_gather %[[X]] on @grid grid_axes = [0] gather_axis = 1 : tensor<4x12xf32> -> tensor<4x24xf32>
// CHECK-NEXT:    kron.mkm ins(%[[WHOLE]] : tensor<4x24xf32>) factors(%[[F]], %{{.*}} : tensor<3x3xf32>
// CHECK-NEXT:    return
// CHECK-LABEL: func @gathered_dynamic(
// CHECK:         shard.all_gather
// CHECK-NEXT:    kron.mkm ins(%{{.*}} : tensor<4x24xf32>) factors(%{{.*}}, %{{.*}} : tensor<?x3xf32>
shard.grid @grid(shape = 2)
func.func @gathered(%x: tensor<4x24xf32>, %f: tensor<3x3xf32>, %g: tensor<8x8xf32>, %init: tensor<4x24xf32>) -> tensor<4x24xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<4x24xf32>
  %y = kron.mkm ins(%part : tensor<4x24xf32>) factors(%f, %g : tensor<3x3xf32>, tensor<8x8xf32>) outs(%init : tensor<4x24xf32>) -> tensor<4x24xf32>
  return %y : tensor<4x24xf32>
}
func.func @gathered_dynamic(%x: tensor<4x24xf32>, %f: tensor<?x3xf32>, %g: tensor<8x8xf32>, %init: tensor<4x24xf32>) -> tensor<4x24xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<4x24xf32>
  %y = kron.mkm ins(%part : tensor<4x24xf32>) factors(%f, %g : tensor<?x3xf32>, tensor<8x8xf32>) outs(%init : tensor<4x24xf32>) -> tensor<4x24xf32>
  return %y : tensor<4x24xf32>
}

// -----

// Verify that a factor that cannot be shared out is gathered.
// CHECK-LABEL: func @second_factor(
// CHECK-SAME:    %{{.*}}: tensor<4x32xf32>, %{{.*}}: tensor<8x8xf32>, %[[G:.*]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[WHOLE:.*]] = shard.all_gather %[[G]] on @grid grid_axes = [0] gather_axis = 0 : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT:    kron.mkm ins(%{{.*}} : tensor<4x32xf32>) factors(%{{.*}}, %[[WHOLE]] : tensor<8x8xf32>, tensor<4x4xf32>)
shard.grid @grid(shape = 2)
func.func @second_factor(%x: tensor<4x32xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %g to %s annotate_for_users : tensor<4x4xf32>
  %y = kron.mkm ins(%x : tensor<4x32xf32>) factors(%f, %part : tensor<8x8xf32>, tensor<4x4xf32>) outs(%init : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Verify that every axis of kron.batched can be shared out, and the batch.
// CHECK-LABEL: func @batched(
// CHECK-SAME:    %[[X:.*]]: tensor<5x4x6xf64>, %[[A:.*]]: tensor<8x4xf64>, %[[B:.*]]: tensor<6x6xf64>, %[[INIT:.*]]: tensor<5x8x6xf64>)
// CHECK-NEXT:    %[[PART:.*]] = kron.batched ins(%[[X]] : tensor<5x4x6xf64>) factors(%[[A]], %[[B]] : tensor<8x4xf64>, tensor<6x6xf64>) outs(%[[INIT]] : tensor<5x8x6xf64>) -> tensor<5x8x6xf64>
// CHECK-NEXT:    shard.all_reduce %[[PART]] on @grid grid_axes = [1] : tensor<5x8x6xf64> -> tensor<5x8x6xf64>
shard.grid @grid(shape = 2x2)
func.func @batched(%x: tensor<10x8x6xf64>, %a: tensor<8x8xf64>, %b: tensor<6x6xf64>, %init: tensor<10x8x6xf64>) -> tensor<10x8x6xf64> {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<10x8x6xf64>
  %y = kron.batched ins(%part : tensor<10x8x6xf64>) factors(%a, %b : tensor<8x8xf64>, tensor<6x6xf64>) outs(%init : tensor<10x8x6xf64>) -> tensor<10x8x6xf64>
  return %y : tensor<10x8x6xf64>
}

// -----

// Verify that one exchange is between the factors of a mode that a rank has whole
// and that of the sharded one.
// CHECK-LABEL: func @one_exchange(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4x8xf32>, %[[F1:.*]]: tensor<8x8xf32>, %[[F2:.*]]: tensor<8x8xf32>
// CHECK:         %[[INNER:.*]] = kron.mode_product axis(2) ins(%[[X]] : tensor<?x4x8xf32>) factor(%[[F2]] [p, q] : tensor<8x8xf32>)
// CHECK:         %[[MOVED:.*]] = shard.all_to_all %[[INNER]] on @grid grid_axes = [0] split_axis = 2 concat_axis = 1 : tensor<?x4x8xf32> -> tensor<?x8x4xf32>
// CHECK:         kron.mode_product axis(1) ins(%[[MOVED]] : tensor<?x8x4xf32>) factor(%[[F1]] [p, q] : tensor<8x8xf32>) outs(%{{.*}} : tensor<?x8x4xf32>) -> tensor<?x8x4xf32>
// CHECK-NEXT:    return
shard.grid @grid(shape = 2)
func.func @one_exchange(%x: tensor<?x8x8xf32>, %f1: tensor<8x8xf32>, %f2: tensor<8x8xf32>, %t: tensor<?x8x8xf32>, %init: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %s1 = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %s2 = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %part = shard.shard %x to %s1 annotate_for_users : tensor<?x8x8xf32>
  %inner = kron.mode_product axis(2) ins(%part : tensor<?x8x8xf32>) factor(%f2 [p, q] : tensor<8x8xf32>) outs(%t : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %before = shard.shard %inner to %s1 : tensor<?x8x8xf32>
  %after = shard.shard %before to %s2 annotate_for_users : tensor<?x8x8xf32>
  %y = kron.mode_product axis(1) ins(%after : tensor<?x8x8xf32>) factor(%f1 [p, q] : tensor<8x8xf32>) outs(%init : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  return %y : tensor<?x8x8xf32>
}

// -----

// Verify that a factor that depends on an axis is shared out with it, unless it is
// stretched.
// CHECK-LABEL: func @varying_factor(
// CHECK-SAME:    %{{.*}}: tensor<5x8x6xf32>, %{{.*}}: tensor<5x8x8xf32>, %{{.*}}: tensor<5x8x6xf32>)
// CHECK-LABEL: func @stretched_factor(
// CHECK-SAME:    %{{.*}}: tensor<5x8x6xf32>, %{{.*}}: tensor<1x8x8xf32>, %{{.*}}: tensor<5x8x6xf32>)
shard.grid @grid(shape = 2)
func.func @varying_factor(%x: tensor<10x8x6xf32>, %f: tensor<10x8x8xf32>, %init: tensor<10x8x6xf32>) -> tensor<10x8x6xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<10x8x6xf32>
  %y = kron.mode_product axis(1) ins(%part : tensor<10x8x6xf32>) factor(%f [0, p, q] : tensor<10x8x8xf32>) outs(%init : tensor<10x8x6xf32>) -> tensor<10x8x6xf32>
  return %y : tensor<10x8x6xf32>
}
func.func @stretched_factor(%x: tensor<10x8x6xf32>, %f: tensor<1x8x8xf32>, %init: tensor<10x8x6xf32>) -> tensor<10x8x6xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<10x8x6xf32>
  %y = kron.mode_product axis(1) ins(%part : tensor<10x8x6xf32>) factor(%f [0, p, q] : tensor<1x8x8xf32>) outs(%init : tensor<10x8x6xf32>) -> tensor<10x8x6xf32>
  return %y : tensor<10x8x6xf32>
}

// -----

// Verify that blocks of a Kronecker-sparse factor are shared out with everything
// that has features, and the batch beside them.
// CHECK-LABEL: func @blocks(
// CHECK-SAME:    %[[X:.*]]: tensor<5x16xf32>, %[[K:.*]]: tensor<2x4x4x2xf32>, %[[BIAS:.*]]: tensor<16xf32>, %[[INIT:.*]]: tensor<5x16xf32>) -> tensor<5x16xf32>
// CHECK-NEXT:    kron.ksmm ins(%[[X]] : tensor<5x16xf32>) weights(%[[K]] : tensor<2x4x4x2xf32>) outs(%[[INIT]] : tensor<5x16xf32>) bias(%[[BIAS]] : tensor<16xf32>)
// CHECK-NEXT:    return
shard.grid @grid(shape = 2x2)
func.func @blocks(%x: tensor<10x32xf32>, %k: tensor<4x4x4x2xf32>, %bias: tensor<32xf32>, %init: tensor<10x32xf32>) -> tensor<10x32xf32> {
  %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<10x32xf32>
  %y = kron.ksmm ins(%part : tensor<10x32xf32>) weights(%k : tensor<4x4x4x2xf32>) outs(%init : tensor<10x32xf32>) bias(%bias : tensor<32xf32>) {activation = #kron.activation<relu>} -> tensor<10x32xf32>
  return %y : tensor<10x32xf32>
}

// -----

// Verify that with one block features of X are contracted in parts, with the
// dimension of the weights that their transposition says.
// CHECK-LABEL: func @one_block(
// CHECK-SAME:    %[[X:.*]]: tensor<10x8xf32>, %[[K:.*]]: tensor<1x4x4x2xf32>, %[[INIT:.*]]: tensor<10x8xf32>)
// CHECK-NEXT:    %[[PART:.*]] = kron.ksmm ins(%[[X]] : tensor<10x8xf32>) weights(T(%[[K]]) : tensor<1x4x4x2xf32>) outs(%[[INIT]] : tensor<10x8xf32>) -> tensor<10x8xf32>
// CHECK-NEXT:    shard.all_reduce %[[PART]] on @grid grid_axes = [0]
shard.grid @grid(shape = 2)
func.func @one_block(%x: tensor<10x16xf32>, %k: tensor<1x8x4x2xf32>, %init: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %s annotate_for_users : tensor<10x16xf32>
  %y = kron.ksmm ins(%part : tensor<10x16xf32>) weights(T(%k) : tensor<1x8x4x2xf32>) outs(%init : tensor<10x8xf32>) -> tensor<10x8xf32>
  return %y : tensor<10x8xf32>
}

// -----

// Verify that operations on memrefs stay as they are.
// CHECK-LABEL: func @memrefs(
// CHECK-NEXT:    kron.mkm ins(%{{.*}} : memref<4x32xf32>)
shard.grid @grid(shape = 2)
func.func @memrefs(%x: memref<4x32xf32>, %f: memref<8x8xf32>, %g: memref<4x4xf32>, %y: memref<4x32xf32>) {
  kron.mkm ins(%x : memref<4x32xf32>) factors(%f, %g : memref<8x8xf32>, memref<4x4xf32>) outs(%y : memref<4x32xf32>)
  return
}
