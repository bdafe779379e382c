//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DIALECT_TILE_IR_TILEDIALECT_TD
#define KRON_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "GPU kernels as tiles that move between memories";
  let description = [{
    A kernel of this dialect is a `gpu.func` whose operations each stand for
    what all threads of a CTA do to one tile: copy it to shared memory, load it
    into registers, multiply it by a factor, store it. `--kron-tile` makes such
    kernels of a `kron.fused` and its complete plan, and
    `--convert-tile-to-nvvm` gives each operation its instructions. Every choice
    (rows of a tile, layouts, how many values a thread holds) is an attribute or
    a type; none is left to the lowering.

    A tile lies in one of three places, which are types: a box of an array in
    global memory is a `!tile.view`, shared memory is a `!tile.buffer`, one of
    several in a `!tile.ring`, and what threads hold in registers is a
    `!tile.fragment`. A factor as an instruction takes it is a `!tile.operand`.

    A kernel has the attribute `tile.kernel`, with its threads, and its body is
    checked for races: each buffer that a thread reads was waited for and has
    passed a barrier since others wrote it, each slot of a ring is free when it
    is filled again, and no element has two writers.

    Example, arrays of 8 x 8 x 8 f32 of which a CTA takes four at a time. Each
    thread holds a plane of 8 x 8 elements for the two innermost factors, and
    fibres of four neighbouring positions for the third one:

    ```mlir
    gpu.func @batched(%x: !tile.view<?x8x8x8xf32>, %y: !tile.view<?x8x8x8xf32>,
                      %f: !tile.view<8x8xf32>, %tiles: i64) kernel
        attributes {tile.kernel = #tile.kernel<threads = 32, ctas_per_sm = 8>} {
      %ring = tile.alloc : !tile.ring<2 of <4x8x8x8xf32, #tile.layout<[544, 68, 8, 1]>>>
      %first = tile.acquire %ring : ...
      tile.copy %x[0] to %first rows 4 bytes 16 : ...
      %p = tile.prepare %f : !tile.view<8x8xf32> -> !tile.operand<8x8xf32>
      tile.for %t to %tiles {
        %free = tile.acquire %ring : ...
        tile.copy %x[%t + 1] to %free rows 4 bytes 16 : ...
        %slot = tile.wait %ring pending 1 : ...
        tile.barrier
        tile.for_boxes %u of 32 {
          %plane = tile.load %slot[%u] along [2, 3] : ... -> !tile.fragment<1x8x8xf32>
          %a = tile.contract %plane, %p along 2 atom <fma> block [4, 8] : ...
          %b = tile.contract %a, %p along 1 atom <fma> block [4, 8] : ...
          tile.exchange %b to %slot[%u] along [2, 3] : ...
        }
        tile.barrier
        tile.for_boxes %u of 64 {
          %fibres = tile.load %slot[%u] along [1] : ... -> !tile.fragment<1x8x4xf32>
          %c = tile.contract %fibres, %p along 1 atom <fma> block [4, 4] : ...
          tile.store %c[%u] to %y[%t] along [1] rows 4 bytes 16 : ...
        }
        tile.release %slot
        tile.barrier
      }
      gpu.return
    }
    ```
  }];
  let cppNamespace = "::mlir::kron::tile";
  // The activation of a store.
  let dependentDialects = ["::mlir::kron::KronDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
}

#endif // KRON_DIALECT_TILE_IR_TILEDIALECT_TD
