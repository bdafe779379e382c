// Verify that --chip takes the name of an SKU, which is of one architecture with others, and that
// errors name what was expected.

// RUN: kronc %s --target nvidia --chip=h100-pcie -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// PTX: .target sm_90a

// RUN: kronc %s --target nvidia --gpu-arch sm_100f -o %t.ptx
// RUN: FileCheck %s --check-prefix=FAMILY < %t.ptx
// FAMILY: .target sm_100f

// RUN: not kronc %s --target nvidia --chip=h300 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expects a GPU architecture of sm_80 or newer, e.g. sm_90a, or one of a100-80, {{.*}}h200{{.*}}, but got 'h300'

// Every version of PTX that LLVM wants for one of them:
// RUN: kronc %s --target nvidia --chip=sm_80 -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_80 < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_88 -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_88 < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_90 -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_90 < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_101 -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_101 < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_103a -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_103a < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_110 -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_110 < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_110f -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_110f < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_120a -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_120a < %t.ptx
// RUN: kronc %s --target nvidia --chip=sm_121f -o %t.ptx && FileCheck %s --check-prefix=ALL -DCHIP=sm_121f < %t.ptx
// ALL: .target [[CHIP]]{{$}}

// RUN: not kronc %s --target nvidia --chip=sm_95 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: expects one of the GPU architectures sm_80, {{.*}}, sm_121, but got 'sm_95'

// RUN: not kronc %s --target nvidia --chip=sm_90f -o %t.ptx 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expects 'f' behind architectures from sm_100 on, but got 'sm_90f'

// RUN: not kronc %s --target nvidia --chip=h200:speed=3 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: expects keys of GPU 'h200:speed=3' to be sms, clock, l2, copy, launch, ffma, {{.*}} or calibrated, but got 'speed'

// RUN: not kronc %s --target nvidia --chip=h200,h100-sxm -o %t.o 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: error: expects GPUs of different architectures, but got h200 and h100-sxm, which are both sm_90a

func.func @mkm(%x: tensor<64x16xf32>, %f: tensor<4x4xf32>, %y: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = kron.mkm ins(%x : tensor<64x16xf32>) factors(%f, %f : tensor<4x4xf32>, tensor<4x4xf32>)
         outs(%y : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
