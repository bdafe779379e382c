// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan="column-bytes=256 row-tile-bytes=8192" \
// RUN:   | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse --kron-plan \
// RUN:   | FileCheck %s --check-prefix=SHORT

// Verify that tiles of columns are as long as the processor likes its contiguous segments.
// CHECK-LABEL: func @columns
// CHECK: tile = 64, {{.*}}slice = 1
// SHORT-LABEL: func @columns
// SHORT: tile = 32, {{.*}}slice = 1
func.func @columns(%x: memref<4096x1024xf32>, %f: memref<8x8xf32>, %y: memref<4096x1024xf32>) {
  kron.kmm ins(%x : memref<4096x1024xf32>) factors(%f, %f, %f, %f : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>)
           outs(%y : memref<4096x1024xf32>)
  return
}

// Verify that so are tiles of rows that lie as columns.
// CHECK-LABEL: func @transposed_rows
// CHECK: tile = 32, {{.*}}slice = 1
// SHORT-LABEL: func @transposed_rows
// SHORT: tile = 16, {{.*}}slice = 
func.func @transposed_rows(%x: memref<4096x1024xf64>, %f: memref<16x16xf64>, %y: memref<1024x4096xf64>) {
  kron.mkm ins(T(%x) : memref<4096x1024xf64>) factors(%f, %f, %f : memref<16x16xf64>, memref<16x16xf64>, memref<16x16xf64>)
           outs(%y : memref<1024x4096xf64>)
  return
}

// Verify that they are not where the second-level cache does not hold such a tile, where
// its last one would be a part of one, or where that is not known.
// CHECK-LABEL: func @large
// CHECK: tile = 32
func.func @large(%x: memref<32768x1024xf32>, %g: memref<31x32xf32>, %f: memref<32x32xf32>, %y: memref<31744x1024xf32>) {
  kron.kmm ins(%x : memref<32768x1024xf32>) factors(%g, %f, %f : memref<31x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
           outs(%y : memref<31744x1024xf32>)
  return
}
// CHECK-LABEL: func @partial
// CHECK: tile = 32
func.func @partial(%x: memref<4096x96xf32>, %f: memref<64x64xf32>, %y: memref<4096x96xf32>) {
  kron.kmm ins(%x : memref<4096x96xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
           outs(%y : memref<4096x96xf32>)
  return
}
// CHECK-LABEL: func @unknown
// CHECK: tile = 32
func.func @unknown(%x: memref<4096x?xf32>, %f: memref<64x64xf32>, %y: memref<4096x?xf32>) {
  kron.kmm ins(%x : memref<4096x?xf32>) factors(%f, %f : memref<64x64xf32>, memref<64x64xf32>)
           outs(%y : memref<4096x?xf32>)
  return
}

// Verify that tiles of small rows have as many bytes as the processor likes, here of whole
// rows and, where rows end within a cache line, of a number near that that is whole lines.
// CHECK-LABEL: func @rows
// CHECK: tile = 8
// SHORT-LABEL: func @rows
// SHORT: tile = 4
func.func @rows(%x: memref<1024x16x16xf32>, %f: memref<16x16xf32>, %y: memref<1024x16x16xf32>) {
  kron.batched ins(%x : memref<1024x16x16xf32>) factors(%f, %f : memref<16x16xf32>, memref<16x16xf32>)
               outs(%y : memref<1024x16x16xf32>)
  return
}
// CHECK-LABEL: func @odd_rows
// CHECK: tile = 16
// SHORT-LABEL: func @odd_rows
// SHORT: tile = 16
func.func @odd_rows(%x: memref<1024x5x5x5xf32>, %f: memref<5x5xf32>, %y: memref<1024x5x5x5xf32>) {
  kron.batched ins(%x : memref<1024x5x5x5xf32>) factors(%f, %f, %f : memref<5x5xf32>, memref<5x5xf32>, memref<5x5xf32>)
               outs(%y : memref<1024x5x5x5xf32>)
  return
}

// CHECK-LABEL: func @even_rows
// CHECK: tile = 2
// SHORT-LABEL: func @even_rows
// SHORT: tile = 2
func.func @even_rows(%x: memref<1000x10x10x10xf32>, %f: memref<10x10xf32>, %y: memref<1000x10x10x10xf32>) {
  kron.batched ins(%x : memref<1000x10x10x10xf32>) factors(%f, %f, %f : memref<10x10xf32>, memref<10x10xf32>, memref<10x10xf32>)
               outs(%y : memref<1000x10x10x10xf32>)
  return
}

// Verify that tiles of what works in place from registers are segments, too.
// CHECK-LABEL: func @in_place
// CHECK: tile = 64,
// SHORT-LABEL: func @in_place
// SHORT: tile = 256,
func.func @in_place(%f: memref<16x16xf32>, %y: memref<16x1048576xf32>) {
  kron.kmm ins(%y : memref<16x1048576xf32>) factors(%f : memref<16x16xf32>)
           outs(%y : memref<16x1048576xf32>)
  return
}

// Verify that few q of 20 columns, whose rows start anywhere in vectors, take one vector after
// the other and nothing is prefetched; not where there are more q.
// CHECK-LABEL: func @odd_columns
// CHECK: tile = 16, {{.*}}prefetch = -1,
// SHORT-LABEL: func @odd_columns
// SHORT: tile = 20,
func.func @odd_columns(%x: memref<16384x20xf32>, %w: memref<1x8x16x1024xf32>, %y: memref<8192x20xf32>) {
  kron.ksmm ins(%x : memref<16384x20xf32>) weights(%w : memref<1x8x16x1024xf32>) outs(%y : memref<8192x20xf32>)
            {layout = #kron.layout<batch_last>}
  return
}
// CHECK-LABEL: func @odd_columns_often
// CHECK: tile = 20,
func.func @odd_columns_often(%x: memref<16384x20xf32>, %w: memref<1x16x16x1024xf32>, %y: memref<16384x20xf32>) {
  kron.ksmm ins(%x : memref<16384x20xf32>) weights(%w : memref<1x16x16x1024xf32>) outs(%y : memref<16384x20xf32>)
            {layout = #kron.layout<batch_last>}
  return
}

// Verify that columns of bf16 that do not fill vectors are converted 64 at a time.
// CHECK-LABEL: func @odd_bf16
// CHECK: tile = 64
func.func @odd_bf16(%x: memref<4096x196xbf16>, %w: memref<512x56x8x1xbf16>, %y: memref<28672x196xbf16>) {
  kron.ksmm ins(%x : memref<4096x196xbf16>) weights(%w : memref<512x56x8x1xbf16>) outs(%y : memref<28672x196xbf16>)
            {layout = #kron.layout<batch_last>}
  return
}
