// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda" \
// RUN:   --remarks-filter='kron-fuse' -o /dev/null 2>&1 | FileCheck %s
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=sm_80" \
// RUN:   --remarks-filter='kron-fuse' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80

// Verify that the remark tells which axes go together, and what they take of the
// chip: 128 KiB is too much for an SM of sm_80.
// CHECK: remark: [Analysis] Regions | Category:kron-fuse | Microseconds={{[0-9]+}}, Regions=1, Remark="1 fused region: axes 3, 2, 1 (tile footprint of 131072 bytes, segments of 128)"
// SM80: Regions=2, Remark="2 fused regions: axes 3, 2 (tile footprint of 4096 bytes, segments of 128); axes 1 (tile footprint of 4096 bytes, segments of 128)"
func.func @row(%x: memref<1024x32768xf32>, %f: memref<32x32xf32>, %y: memref<1024x32768xf32>) {
  kron.mkm ins(%x : memref<1024x32768xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<1024x32768xf32>)
  return
}

// Verify that a cluster of two CTAs takes rows of up to 256 KiB, where there are
// clusters.
// CHECK: Regions=1, Remark="1 fused region: axes 4, 3, 2, 1 (tile footprint of 262144 bytes, by two CTAs)"
// SM80: Regions=2, Remark="2 fused regions: {{.*}}"
func.func @shared(%x: memref<1024x65536xf32>, %f: memref<16x16xf32>, %y: memref<1024x65536xf32>) {
  kron.mkm ins(%x : memref<1024x65536xf32>) factors(%f, %f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x65536xf32>)
  return
}

// Verify that what a factor costs is counted as when it is applied, which is first if it shrinks the
// array the most, and with the columns for which a tile has room if K and N differ along its axes:
// axis 5, which grows, is not in the first fused region. Axis 3, whose factor registers do not hold, is alone.
// CHECK: Regions=5, Remark="5 fused regions: axes 3 ({{.*}}); axes 6, 7 ({{.*}}); axes 1 ({{.*}}); axes 2 ({{.*}}); axes 4, 5 ({{.*}})"
func.func @shrinking(%x: memref<265199616x1xf64>, %f0: memref<9x16xf64>, %f1: memref<131x72xf64>, %f2: memref<19x218xf64>,
                     %f3: memref<2x2xf64>, %f4: memref<5x2xf64>, %f5: memref<9x33xf64>, %f6: memref<7x8xf64>,
                     %y: memref<14112630x1xf64>) {
  kron.kmm ins(%x : memref<265199616x1xf64>)
    factors(%f0, %f1, %f2, %f3, %f4, %f5, %f6 : memref<9x16xf64>, memref<131x72xf64>, memref<19x218xf64>, memref<2x2xf64>,
            memref<5x2xf64>, memref<9x33xf64>, memref<7x8xf64>)
    outs(%y : memref<14112630x1xf64>)
  return
}
