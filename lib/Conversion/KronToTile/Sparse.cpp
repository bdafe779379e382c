//===- Sparse.cpp - A factor that varies along axes, as tiles -------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Of a factor that varies along axes, each position of these is a product of
// rows x K times K x N. A tile is some rows, lanes and results of it, which the
// warps of a CTA share:
//
//   views -> rings        pieces of some positions K of data and factor, by
//                         asynchronous copies some pieces ahead
//   rings -> registers    products by mma.sync, of chunks of 16 bytes; sums of
//                         all pieces stay in registers
//   registers -> view     results, scaled and through an epilogue
//
// What lies along a chunk is what lies side by side in memory: K, lanes, or
// rows. Views have rows first, then what the factor does not vary along, then
// groups, lanes, and K or the results.
//
//===----------------------------------------------------------------------===//

#include "ChunkTiles.h"
#include "Families.h"
#include "kron/CodeGen/GPU/FusedEmitter.h"

using namespace mlir;
using namespace mlir::kron;

namespace {

class SparseTiles {
public:
  SparseTiles(OpBuilder &hostBuilder, FusedOp fused, const SparsePlan &plan,
              const GPUMachine &machine)
      : kernel(hostBuilder, fused), fused(fused),
        product(fused.getModeProducts().front()), plan(plan),
        tiles(kernel, fused, product, plan, machine), b(kernel.builder),
        loc(kernel.loc), operands(getFusedOperands(kernel.host, fused)) {}

  void build(gpu::GPUModuleOp gpuModule);

private:
  void enterOperands();
  Value allocateSums(Type sum);

  TileKernel kernel;
  FusedOp fused;
  ModeProductOp product;
  const SparsePlan &plan;
  ChunkTiles tiles;
  OpBuilder &b;
  Location loc;
  FusedOperands operands;
  BoxArguments arguments;
};

} // namespace

void SparseTiles::enterOperands() {
  Emitter &host = kernel.host;
  ArrayRef<Int> sizes = operands.sizes;
  arguments.input = tiles.enterArray(operands.input, sizes, plan.sizeK,
                                     getElementType(product.getInput()));
  tiles.enterFactor();
  arguments.init =
      tiles.enterArray(operands.init, sizes, plan.sizeN, plan.element);
  tiles.enterTargets(operands, sizes, arguments);
  Int blocks = 1;
  if (plan.rowAxis >= 0)
    blocks = host.ceilDiv(sizes[plan.rowAxis], plan.getRows());
  for (unsigned axis : plan.freeAxes)
    blocks = host.mul(blocks, sizes[axis]);
  arguments.tiles = host.mul(blocks, plan.getTilesPerRows());
  kernel.enterTileCount(32, arguments);
}

/// Where warps that share K leave their sums, results are staged, and chunks
/// are made of whole copies; null: no plan of these is.
Value SparseTiles::allocateSums(Type sum) {
  int64_t bytes =
      plan.getExchangeBytes() + plan.getStoredBytes() + plan.getOrderedBytes();
  if (bytes == 0)
    return nullptr;
  return tile::AllocOp::create(
      b, loc,
      tile::BufferType::get(b.getContext(),
                            bytes / (sum.getIntOrFloatBitWidth() / 8), sum,
                            nullptr),
      Value());
}

void SparseTiles::build(gpu::GPUModuleOp gpuModule) {
  enterOperands();
  kernel.begin(
      gpuModule, getKernelBaseName(fused),
      tile::KernelAttr::get(b.getContext(), plan.getThreads(), plan.ctasPerSM));
  Value ring = tiles.allocateRing(/*isFactor=*/false);
  Value factorRing = tiles.allocateRing(/*isFactor=*/true);
  tile::FragmentType type = tiles.getSums();
  Value shared = allocateSums(type.getElementType());
  tile::PiecesAttr pieces = tiles.getPieces();
  Value data = kernel.getArgument(arguments.input), by = tiles.getFactor();
  tile::CopyPiecesOp::create(b, loc, data, ring, by, factorRing, pieces);
  kernel.forTiles(kernel.getArgument(arguments.tileCount), [&](Value tile) {
    Value sums = tile::ContractPiecesOp::create(b, loc, type, data, tile, by,
                                                ring, factorRing, shared,
                                                tiles.getRank() - 1, pieces);
    tiles.store(arguments, sums, /*part=*/nullptr, tile);
  });
  kernel.launch(kernel.host.materialize(arguments.tiles, 64));
}

LogicalResult kron::tileSparse(OpBuilder &builder, gpu::GPUModuleOp gpuModule,
                               FusedOp fused, GPUPlanAttr attr,
                               const GPUMachine &machine) {
  std::variant<SparsePlan, std::string> read = readSparsePlan(fused, attr);
  if (auto *found = std::get_if<SparsePlan>(&read))
    if (auto reason = getSkinnyMReason(fused, attr, *found))
      read = *reason;
  FailureOr<SparsePlan> complete =
      getTilePlan(fused, "a sparse", std::move(read), machine);
  if (failed(complete))
    return failure();
  SparseTiles(builder, fused, *complete, machine).build(gpuModule);
  return success();
}
