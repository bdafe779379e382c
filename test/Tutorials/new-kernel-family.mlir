// RUN: kron-tutorials-opt %s --test-max-plus | FileCheck %s
// RUN: kron-tutorials-opt %s --test-max-plus --convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: not kron-tutorials-opt %s --test-max-plus="chip=sm_00" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not kron-tutorials-opt %S/Inputs/large-factor.mlir --test-max-plus 2>&1 | FileCheck %s --check-prefix=LARGE

// Verify that the family of docs/tutorials/new-kernel-family.md is what the page prints: a
// tile of 64 rows, four results of a thread in each of three parts.
// CHECK-LABEL: func.func @paths(
// CHECK:         tile.launch @kron_gpu::@max_plus
// CHECK:         gpu.func @max_plus(%[[X:.*]]: !tile.view<?x12xf32, [12, 1]>, %[[F:.*]]: !tile.view<12x10xf32, [10, 1]>, %[[Y:.*]]: !tile.view<?x10xf32, [10, 1]>, %[[TILES:.*]]: i64)
// CHECK-NEXT:      %[[BUFFER:.*]] = tile.alloc : !tile.buffer<64x12xf32>
// CHECK-NEXT:      %[[FACTOR:.*]] = tile.prepare %[[F]] : {{.*}} -> <12x12xf32>
// CHECK-NEXT:      tile.for %[[TILE:.*]] to %[[TILES]] {
// CHECK-NEXT:        tile.copy %[[X]][%[[TILE]] + 0] to %[[BUFFER]] bytes 4
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:        tile.for_boxes %[[BOXES:.*]] of 64 parts 3 {
// CHECK-NEXT:          %[[SUMS:.*]] = tile.multiply %[[BUFFER]][%[[BOXES]]], %[[FACTOR]] along 1 semiring <max_plus>
// CHECK-NEXT:          tile.store %[[SUMS]][%[[BOXES]]] to %[[Y]][%[[TILE]]] along [1] box [64, 10] bytes 4
// CHECK-NEXT:        }
// CHECK-NEXT:        tile.barrier
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return

// NVVM-LABEL: llvm.func @max_plus(
// NVVM:         nvvm.barrier0
// NVVM-COUNT-32: arith.maxnumf
// NVVM:         nvvm.barrier0

// CHIP: sm_00

// LARGE: error: 'func.func' op has a factor that does not fit in the {{[0-9]+}} bytes of shared memory of a CTA
func.func @paths(%x: memref<?x12xf32>, %f: memref<12x10xf32>, %y: memref<?x10xf32>) attributes {max_plus} {
  return
}
