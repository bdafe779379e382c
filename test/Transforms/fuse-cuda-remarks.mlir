// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" \
// RUN:   --remarks-filter='kron-fuse' -o /dev/null 2>&1 | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=sm_80" \
// RUN:   --remarks-filter='kron-fuse' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80

// Verify that the remark tells which axes go together, and what they take of the
// chip: 128 KiB is too much for a processor of sm_80.
// CHECK: remark: [Analysis] Trips | Category:kron-fuse | Microseconds={{[0-9]+}}, Remark="1 trip: axes 3, 2, 1 (slab of 131072 bytes, runs of 128)", Trips=1
// SM80: Remark="2 trips: axes 3, 2 (slab of 4096 bytes, runs of 128); axes 1 (slab of 4096 bytes, runs of 128)", Trips=2
func.func @row(%x: memref<1024x32768xf32>, %f: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<1024x32768xf32>)
  return
}

// Verify that a cluster of two CTAs takes rows of up to 256 KiB, where there are
// clusters.
// CHECK: Remark="1 trip: axes 4, 3, 2, 1 (slab of 262144 bytes, by two CTAs)", Trips=1
// SM80: Remark="2 trips: {{.*}}", Trips=2
func.func @shared(%x: memref<1024x65536xf32>, %f: memref<16x16xf32>, %y: memref<1024x65536xf32>) {
  kron.mkm ins(%x : memref<1024x65536xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x65536xf32>)
  return
}
