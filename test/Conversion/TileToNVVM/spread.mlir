// RUN: kron-opt %s --convert-tile-to-nvvm | FileCheck %s

// Verify that a slot that holds 16 rows of 17 elements without gaps is filled by 16 bytes of a thread, of which
// those that do not exist are zeros, or element by element where the array does not start at a multiple of
// these; and that each element of a row goes from there to its place in the tile, 20 elements to a row.
// CHECK-LABEL: llvm.func @spread(
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}}
// CHECK:         } else {
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         nvvm.barrier
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         arith.muli %{{.*}}, %c20{{.*}} : i32
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK:         llvm.store %{{.*}} : f32, !llvm.ptr<3>
gpu.module @kron_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @spread(%x: !tile.view<?x17xf32, [17, 1]>, %y: !tile.view<?x17xf32, [17, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <1x276xf32>>
    %tile = tile.alloc : !tile.buffer<16x17xf32, #tile.layout<[20, 1]>>
    %free = tile.acquire %r : !tile.ring<1 of <1x276xf32>> -> !tile.buffer<1x276xf32>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf32, [17, 1]>, !tile.buffer<1x276xf32>
    tile.for %t to %n : i32 {
      %slot = tile.wait %r pending 0 : !tile.ring<1 of <1x276xf32>> -> !tile.buffer<1x276xf32>
      tile.barrier
      tile.spread %slot of %x[%t] to %tile axes [0, 1] : !tile.buffer<1x276xf32>, !tile.view<?x17xf32, [17, 1]>, !tile.buffer<16x17xf32, #tile.layout<[20, 1]>>
      tile.release %slot : !tile.buffer<1x276xf32>
      tile.barrier
      tile.store %tile to %y[%t] bytes 4 axes [0, 1] : !tile.buffer<16x17xf32, #tile.layout<[20, 1]>>, !tile.view<?x17xf32, [17, 1]>
      tile.barrier
      %next = tile.acquire %r : !tile.ring<1 of <1x276xf32>> -> !tile.buffer<1x276xf32>
      tile.copy %x[%t + 1] to %next bytes 16 fill axes [0, 1] box [16, 17] : !tile.view<?x17xf32, [17, 1]>, !tile.buffer<1x276xf32>
    }
    gpu.return
  }
}
func.func @spread_host(%p: !llvm.ptr, %q: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?x17xf32, [17, 1]>
  %y = tile.view %q sizes(%n) : !llvm.ptr -> !tile.view<?x17xf32, [17, 1]>
  tile.launch @kron_gpu::@spread tiles(%n) args(%x, %y, %m : !tile.view<?x17xf32, [17, 1]>, !tile.view<?x17xf32, [17, 1]>, i32)
  return
}

// Verify that 16 bytes of a thread are copied only if what is in front of a row, up to a multiple of these, is of the
// array: rows follow each other without a gap, or start at multiples of 4 values.
// CHECK-LABEL: llvm.func @open(
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         %[[GAP:.*]] = arith.xori %[[STRIDE:.*]], %c65
// CHECK:         %[[BYTES:.*]] = arith.muli %[[STRIDE]], %c4
// CHECK:         %[[SHIFT:.*]] = arith.andi %[[BYTES]], %c15
// CHECK:         %[[DENSE:.*]] = arith.cmpi eq, %[[GAP]], %c0
// CHECK:         %[[EVEN:.*]] = arith.cmpi eq, %[[SHIFT]], %c0
// CHECK:         %[[OWN:.*]] = arith.ori %[[DENSE]], %[[EVEN]] : i1
// CHECK:         %[[BOTH:.*]] = arith.andi %[[ALIGNED]], %[[OWN]] : i1
// CHECK:         scf.if %[[BOTH]] {
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}}
// CHECK:         } else {
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> f32
gpu.module @open_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @open(%x: !tile.view<?x65xf32, [?, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <16x68xf32>>
    %free = tile.acquire %r : !tile.ring<1 of <16x68xf32>> -> !tile.buffer<16x68xf32>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 65] : !tile.view<?x65xf32, [?, 1]>, !tile.buffer<16x68xf32>
    gpu.return
  }
}
func.func @open_host(%p: !llvm.ptr, %n: i64, %stride: i64, %m: i32) {
  %x = tile.view %p sizes(%n) strides(%stride) : !llvm.ptr -> !tile.view<?x65xf32, [?, 1]>
  tile.launch @open_gpu::@open tiles(%n) args(%x, %m : !tile.view<?x65xf32, [?, 1]>, i32)
  return
}

// Verify that nothing is tested but the address where rows are known to start at multiples of 16 bytes.
// CHECK-LABEL: llvm.func @padded(
// CHECK:         arith.cmpi eq
// CHECK-NOT:     arith.andi {{.*}} : i1
// CHECK:         scf.if
gpu.module @padded_gpu {
  llvm.mlir.global external @kron_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  gpu.func @padded(%x: !tile.view<?x65xf32, [68, 1]>, %n: i32) kernel
      attributes {tile.kernel = #tile.kernel<threads = 128, ctas_per_sm = 1>} {
    %r = tile.alloc : !tile.ring<1 of <16x68xf32>>
    %free = tile.acquire %r : !tile.ring<1 of <16x68xf32>> -> !tile.buffer<16x68xf32>
    tile.copy %x[0] to %free bytes 16 fill axes [0, 1] box [16, 65] : !tile.view<?x65xf32, [68, 1]>, !tile.buffer<16x68xf32>
    gpu.return
  }
}
func.func @padded_host(%p: !llvm.ptr, %n: i64, %m: i32) {
  %x = tile.view %p sizes(%n) : !llvm.ptr -> !tile.view<?x65xf32, [68, 1]>
  tile.launch @padded_gpu::@padded tiles(%n) args(%x, %m : !tile.view<?x65xf32, [68, 1]>, i32)
  return
}
