// Products of bf16 in the processor's matrix tiles (AMX).
//
// RUN: kron-opt %s --kron-cpu-pipeline="matrix-tiles" --remarks-filter=kron-emit \
// RUN:   -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.mlir \
// RUN:   | opt -passes="function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm))" \
// RUN:   | llc -O2 -mcpu=x86-64-v4 -mattr=+amx-tile,+amx-bf16,+avx512bf16 \
// RUN:   | FileCheck %s --check-prefix=ASM
// RUN: kron-opt %s --kron-cpu-pipeline | FileCheck %s --check-prefix=OFF --implicit-check-not=llvm.x86

// Verify that without the option no function uses tiles.
// OFF: llvm.func @square64_fused

// Verify that the first factor takes rows of X as they lie, one product per 32
// of k, row and column tile; and that the second one adds the low parts of what
// the first one left, with the same tiles of its factor. All of it is between
// the configuration of the tiles and their release.
// REMARK: Step {{.*}}Mapping=amx-rows
// REMARK: Step {{.*}}Mapping=amx-columns
// CHECK-LABEL: llvm.func @square64_fused(
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.x86.tdpbf16ps
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// Verify that no multiply-add of vectors is left.
// ASM-LABEL: square64_fused:
// ASM-NOT: vfmadd
// ASM: ldtilecfg
// ASM: tileloadd
// ASM-COUNT-8: tdpbf16ps
// ASM: tilestored
// ASM: tileloadd
// ASM-COUNT-16: tdpbf16ps
// ASM-NOT: tdpbf16ps
// ASM-NOT: vfmadd
// ASM: tilerelease
// ASM: .Lfunc_end
func.func @square64(%x: tensor<?x4096xbf16>, %f: tensor<64x64xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %e = tensor.empty(%m) : tensor<?x4096xbf16>
  %y = kron.mkm ins(%x : tensor<?x4096xbf16>) factors(%f, %f : tensor<64x64xbf16>, tensor<64x64xbf16>)
                outs(%e : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}

// Verify that a factor that depends on a short innermost axis takes one position
// of it after the other: elements of X are gathered, results shuffled together.
// REMARK: Step {{.*}}Mapping=amx-rows
// CHECK-LABEL: llvm.func @varying_fused(
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK: llvm.shufflevector
func.func @varying(%x: memref<?x128xbf16>, %k: memref<1x64x64x2xbf16>, %y: memref<?x128xbf16>) {
  kron.ksmm ins(%x : memref<?x128xbf16>) weights(%k : memref<1x64x64x2xbf16>) outs(%y : memref<?x128xbf16>)
  return
}

// Verify that an addend that lies as the results do, such as a bias of all rows,
// is taken apart for the positions and added before results are rounded. A
// destination that is the addend gets code of its own.
// REMARK-COUNT-2: Step {{.*}}Mapping=amx-rows
// CHECK-LABEL: llvm.func @varying_addend_fused(
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.shufflevector {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<32xf32>
// CHECK: llvm.shufflevector {{.*}} [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31] : vector<32xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
func.func @varying_addend(%x: memref<?x128xbf16>, %k: memref<1x64x64x2xbf16>,
                          %z: memref<?x128xbf16, strided<[?, 1], offset: ?>>, %y: memref<?x128xbf16>) {
  kron.ksmm ins(%x : memref<?x128xbf16>) weights(%k : memref<1x64x64x2xbf16>) outs(%y : memref<?x128xbf16>)
            beta(1.0 : f32) addend(%z : memref<?x128xbf16, strided<[?, 1], offset: ?>>)
  return
}

// Verify that a factor beyond the first caches is used for several blocks of
// rows at a time: what is packed of X has two blocks of 32 x (1024 + 32) bf16,
// the loop over them is inside of the one over results.
// REMARK: Step {{.*}}Mapping=amx-rows
// CHECK-LABEL: llvm.func @large_fused(
// CHECK: llvm.mlir.constant(135168 : i64)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
func.func @large(%x: memref<1024x1024xbf16>, %k: memref<1x1024x1024x1xbf16>, %y: memref<1024x1024xbf16>) {
  kron.ksmm ins(%x : memref<1024x1024xbf16>) weights(%k : memref<1x1024x1024x1xbf16>) outs(%y : memref<1024x1024xbf16>)
  return
}

// Verify that tiles are not used for what asks for multiply-adds of f32, for
// other types, and for factors that would leave them empty, whose results an
// instruction rounds, too.
// REMARK-NOT: amx
// CHECK-LABEL: llvm.func @ieee_fused(
// CHECK-NOT: llvm.x86
// CHECK-LABEL: llvm.func @f16_fused(
// CHECK-NOT: llvm.x86
// CHECK-LABEL: llvm.func @small_fused(
// CHECK-NOT: llvm.x86.tdpbf16ps
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK-NOT: llvm.x86.tdpbf16ps
func.func @ieee(%x: memref<?x64xbf16>, %f: memref<64x64xbf16>, %y: memref<?x64xbf16>) {
  kron.mkm ins(%x : memref<?x64xbf16>) factors(%f : memref<64x64xbf16>) outs(%y : memref<?x64xbf16>)
           {precision = #kron.precision<ieee>}
  return
}
func.func @f16(%x: memref<?x64xf16>, %f: memref<64x64xf16>, %y: memref<?x64xf16>) {
  kron.mkm ins(%x : memref<?x64xf16>) factors(%f : memref<64x64xf16>) outs(%y : memref<?x64xf16>)
  return
}
func.func @small(%x: memref<?x512xbf16>, %f: memref<8x8xbf16>, %y: memref<?x512xbf16>) {
  kron.mkm ins(%x : memref<?x512xbf16>) factors(%f, %f, %f : memref<8x8xbf16>, memref<8x8xbf16>, memref<8x8xbf16>)
           outs(%y : memref<?x512xbf16>)
  return
}
