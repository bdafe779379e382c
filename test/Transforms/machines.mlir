// Verify for every SKU of lib/Machine a decision that differs from the H200's: the kinds of kernels and
// how many of them apply the factors follow from what its SMs hold and how fast they are.

// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=h200" \
// RUN:   --kron-plan="target=cuda chip=h200" | FileCheck %s --check-prefix=H200
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=h100-sxm" \
// RUN:   --kron-plan="target=cuda chip=h100-sxm" | FileCheck %s --check-prefix=H100
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=h100-nvl" \
// RUN:   --kron-plan="target=cuda chip=h100-nvl" | FileCheck %s --check-prefix=H100
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=gh200" \
// RUN:   --kron-plan="target=cuda chip=gh200" | FileCheck %s --check-prefix=H100
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=h100-pcie" \
// RUN:   --kron-plan="target=cuda chip=h100-pcie" | FileCheck %s --check-prefix=PCIE
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=a100-80" \
// RUN:   --kron-plan="target=cuda chip=a100-80" | FileCheck %s --check-prefix=LARGE
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=a100-40" \
// RUN:   --kron-plan="target=cuda chip=a100-40" | FileCheck %s --check-prefix=LARGE
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=b200" \
// RUN:   --kron-plan="target=cuda chip=b200" | FileCheck %s --check-prefix=LARGE
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=b300" \
// RUN:   --kron-plan="target=cuda chip=b300" | FileCheck %s --check-prefix=LARGE
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=a10" \
// RUN:   --kron-plan="target=cuda chip=a10" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=l40s" \
// RUN:   --kron-plan="target=cuda chip=l40s" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=l4" \
// RUN:   --kron-plan="target=cuda chip=l4" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=rtx4090" \
// RUN:   --kron-plan="target=cuda chip=rtx4090" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=rtxpro6000" \
// RUN:   --kron-plan="target=cuda chip=rtxpro6000" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=rtx5090" \
// RUN:   --kron-plan="target=cuda chip=rtx5090" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=dgx-spark" \
// RUN:   --kron-plan="target=cuda chip=dgx-spark" | FileCheck %s --check-prefix=DESKTOP
// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=h200:tf32mma=60:tf32wgmma=60:calibrated" \
// RUN:   --kron-plan="target=cuda chip=h200:tf32mma=60:tf32wgmma=60:calibrated" | FileCheck %s --check-prefix=CALIBRATED

// An SM of the desktop line and a PCIe card's clock leave tensor cores nothing to gain for 16 x 16.
// H200-LABEL: func.func @small
// H200: kernel = mma
// H100-LABEL: func.func @small
// H100: kernel = mma
// PCIE-LABEL: func.func @small
// PCIE: kernel = batched
// DESKTOP-LABEL: func.func @small
// DESKTOP: kernel = batched
// Nor does a GPU whose tensor cores were measured to be no faster than multiply-adds.
// CALIBRATED-LABEL: func.func @small
// CALIBRATED: kernel = batched
func.func @small(%x: memref<1024x4096xf32>, %f: memref<16x16xf32>, %y: memref<1024x4096xf32>) {
  kron.mkm ins(%x : memref<1024x4096xf32>) factors(%f, %f, %f : memref<16x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
    outs(%y : memref<1024x4096xf32>)
  return
}

// Where memory is slower than the H200's, reading rows costs more than what tensor cores save.
// H200-LABEL: func.func @long
// H200: kernel = mma
// H200: kernel = mma
// H100-LABEL: func.func @long
// H100: kernel = batched
// H100: kernel = mma
// PCIE-LABEL: func.func @long
// PCIE: kernel = batched
// PCIE: kernel = mma
func.func @long(%x: memref<64x65536xf64>, %f: memref<16x16xf64>, %y: memref<64x65536xf64>) {
  kron.mkm ins(%x : memref<64x65536xf64>)
    factors(%f, %f, %f, %f : memref<16x16xf64>, memref<16x16xf64>, memref<16x16xf64>, memref<16x16xf64>)
    outs(%y : memref<64x65536xf64>)
  return
}

// Only Hopper has wgmma; elsewhere a row of 128 KiB does not fit, and goes through two kernels.
// H200-LABEL: func.func @large
// H200: kernel = wgmma
// LARGE-LABEL: func.func @large
// LARGE: kernel = mma
// LARGE: kernel = mma
func.func @large(%x: memref<512x32768xf32>, %f: memref<32x32xf32>, %y: memref<512x32768xf32>) {
  kron.mkm ins(%x : memref<512x32768xf32>) factors(%f, %f, %f : memref<32x32xf32>, memref<32x32xf32>, memref<32x32xf32>)
    outs(%y : memref<512x32768xf32>)
  return
}
