// RUN: kron-opt %s --pass-pipeline="builtin.module(func.func(shard-partition))" -split-input-file -verify-diagnostics

// Every operand and result is annotated, as --sharding-propagation leaves them.

shard.grid @grid(shape = 2)
func.func @beta(%x: tensor<4x32xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %xs = shard.shard %x to %columns annotate_for_users : tensor<4x32xf32>
  %fs = shard.shard %f to %rows annotate_for_users : tensor<8x8xf32>
  %gs = shard.shard %g to %whole annotate_for_users : tensor<4x4xf32>
  %is = shard.shard %init to %whole annotate_for_users : tensor<4x32xf32>
  // expected-error @+1 {{'kron.mkm' op expects beta to be 0, and no epilogue, where a contracted dimension is sharded}}
  %y = kron.mkm ins(%xs : tensor<4x32xf32>) factors(%fs, %gs : tensor<8x8xf32>, tensor<4x4xf32>) outs(%is : tensor<4x32xf32>) beta(2.0 : f32) -> tensor<4x32xf32>
  %ys = shard.shard %y to %whole : tensor<4x32xf32>
  return %ys : tensor<4x32xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @epilogue(%x: tensor<10x16xf32>, %k: tensor<1x4x8x2xf32>, %init: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %third = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %xs = shard.shard %x to %columns annotate_for_users : tensor<10x16xf32>
  %ks = shard.shard %k to %third annotate_for_users : tensor<1x4x8x2xf32>
  %is = shard.shard %init to %whole annotate_for_users : tensor<10x8xf32>
  // expected-error @+1 {{'kron.ksmm' op expects beta to be 0, and no epilogue, where a contracted dimension is sharded}}
  %y = kron.ksmm ins(%xs : tensor<10x16xf32>) weights(%ks : tensor<1x4x8x2xf32>) outs(%is : tensor<10x8xf32>) {activation = #kron.activation<relu>} -> tensor<10x8xf32>
  %ys = shard.shard %y to %whole : tensor<10x8xf32>
  return %ys : tensor<10x8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @disagree(%x: tensor<4x32xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %xs = shard.shard %x to %columns annotate_for_users : tensor<4x32xf32>
  %fs = shard.shard %f to %whole annotate_for_users : tensor<8x8xf32>
  %gs = shard.shard %g to %whole annotate_for_users : tensor<4x4xf32>
  %is = shard.shard %init to %whole annotate_for_users : tensor<4x32xf32>
  // expected-error @+1 {{'kron.mkm' op expects shardings of its operands and results that agree; --sharding-propagation completes them}}
  %y = kron.mkm ins(%xs : tensor<4x32xf32>) factors(%fs, %gs : tensor<8x8xf32>, tensor<4x4xf32>) outs(%is : tensor<4x32xf32>) -> tensor<4x32xf32>
  %ys = shard.shard %y to %whole : tensor<4x32xf32>
  return %ys : tensor<4x32xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @parts_of_blocks(%x: tensor<4x24xf32>, %f: tensor<6x6xf32>, %g: tensor<4x4xf32>, %init: tensor<4x24xf32>) -> tensor<4x24xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %xs = shard.shard %x to %whole annotate_for_users : tensor<4x24xf32>
  %fs = shard.shard %f to %columns annotate_for_users : tensor<6x6xf32>
  %gs = shard.shard %g to %whole annotate_for_users : tensor<4x4xf32>
  %is = shard.shard %init to %columns annotate_for_users : tensor<4x24xf32>
  // expected-error @+1 {{'kron.mkm' op expects a number of shards that divides the size of the factor that a sharded dimension goes with}}
  %y = kron.mkm ins(%xs : tensor<4x24xf32>) factors(%fs, %gs : tensor<6x6xf32>, tensor<4x4xf32>) outs(%is : tensor<4x24xf32>) -> tensor<4x24xf32>
  %ys = shard.shard %y to %columns : tensor<4x24xf32>
  return %ys : tensor<4x24xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @without_sharding(%x: tensor<4x32xf32>, %f: tensor<8x8xf32>, %g: tensor<4x4xf32>, %init: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %xs = shard.shard %x to %rows annotate_for_users : tensor<4x32xf32>
  %fs = shard.shard %f to %whole annotate_for_users : tensor<8x8xf32>
  %gs = shard.shard %g to %whole annotate_for_users : tensor<4x4xf32>
  %is = shard.shard %init to %rows annotate_for_users : tensor<4x32xf32>
  // expected-error @+1 {{'kron.mkm' op expects a result with a sharding; --sharding-propagation completes them}}
  %y = kron.mkm ins(%xs : tensor<4x32xf32>) factors(%fs, %gs : tensor<8x8xf32>, tensor<4x4xf32>) outs(%is : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
