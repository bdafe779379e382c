//===- DmmaSteps.cpp - f64 octets by matrix instructions: one step --------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An instruction takes a unit: 16 fibres of 8 elements. Lane (g, t) = (lane /
// 4, lane % 4) reads two times 16 bytes and writes its results over them:
//
//   innermost axis: positions 2t and 2t + 1 of fibres g and g + 8
//   other axes: positions t and t + 4 of the neighbouring fibres 2g and 2g + 1
//
// The factor's rows are put in the order that operand A has the positions in,
// its columns such that results are positions as well.
//
//===----------------------------------------------------------------------===//

#include "DmmaEmitter.h"

using namespace mlir;
using namespace mlir::kron;

/// Instructions of a warp that do not wait for each other.
static constexpr int64_t kUnitsAtOnce = 4;
static constexpr int64_t kUnitFibres = 16;

/// The index of fibre `fibre` at position 0 of the axis at `bit`.
Int DmmaEmitter::expand(Int fibre, unsigned bit, unsigned axisBits) {
  int64_t low = int64_t(1) << bit;
  Int outer = kernel.mul(kernel.floorDiv(fibre, low), low << axisBits);
  return bit == 0 ? outer : kernel.add(outer, kernel.bitAnd(fibre, low - 1));
}

/// The factor as operand B: rows are the positions that the lane's values of
/// operand A stand for, columns such that results go where they came from.
DmmaEmitter::Factor DmmaEmitter::loadFactor(const DmmaStep &step) {
  StageFactor factor =
      kernel.enter(getFusedFactor(host, fused, step.product).array);
  Int rows[2], column = laneGroup;
  if (step.bit == 0) {
    rows[0] = kernel.mul(laneSlot, 2);
    rows[1] = kernel.add(rows[0], 1);
  } else {
    // Columns 2t and 2t + 1 of operand B are results t and t + 4.
    column = kernel.add(kernel.floorDiv(laneGroup, 2),
                        kernel.mul(kernel.bitAnd(laneGroup, 1), 4));
    rows[0] = laneSlot;
    rows[1] = kernel.add(laneSlot, 4);
    if (isSplit(step)) {
      // The positions that this CTA holds, then those of the other one.
      Int own = kernel.mul(rank, 4);
      rows[0] = kernel.add(laneSlot, own);
      rows[1] = kernel.add(laneSlot, kernel.sub(4, own));
    }
  }
  Factor result(2);
  for (unsigned index : {0, 1}) {
    Int offset = kernel.add(kernel.mul(rows[index], factor.strideK),
                            kernel.mul(column, factor.resultStride));
    result[index] = kernel.load(
        element, kernel.offsetElements(factor.base, element, offset));
  }
  return result;
}

bool DmmaEmitter::isSplit(const DmmaStep &step) const {
  return plan.cluster == 2 && &step == &plan.steps.back();
}

/// Index of the lane's first element in the warp's first unit, and what is
/// added for the second element and per unit.
DmmaEmitter::Walk DmmaEmitter::getWalk(const DmmaStep &step) {
  Walk walk;
  unsigned axisBits = isSplit(step) ? 2 : 3;
  int64_t fibres = plan.getElements() >> axisBits;
  if (isSplit(step))
    fibres /= plan.cluster;
  walk.units = fibres / plan.warps / kUnitFibres;
  Int fibre = kernel.mul(warp, fibres / plan.warps);
  if (isSplit(step))
    fibre = kernel.add(fibre, kernel.mul(rank, fibres));
  if (step.bit == 0) {
    // Neighbours are two positions of the axis, the second fibre 8 further.
    fibre = kernel.add(fibre, laneGroup);
    walk.index =
        kernel.add(expand(fibre, 0, axisBits), kernel.mul(laneSlot, 2));
    walk.second = 64;
  } else {
    fibre = kernel.add(fibre, kernel.mul(laneGroup, 2));
    walk.index = expand(fibre, step.bit, axisBits);
    if (!isSplit(step)) {
      walk.index =
          kernel.add(walk.index, kernel.mul(laneSlot, int64_t(1) << step.bit));
      walk.second = int64_t(4) << step.bit;
    }
  }
  for (int64_t unit = 0; unit < walk.units; ++unit)
    walk.known.push_back(
        expand(unit * kUnitFibres, step.bit, axisBits).getConstant());
  return walk;
}

/// Operand A of a unit from what the lane has loaded, and its results as they
/// are stored: two neighbours at each of two places.
DmmaEmitter::Pairs DmmaEmitter::multiply(const DmmaStep &step,
                                         const Pairs &data,
                                         const Factor &factor) {
  bool inner = step.bit == 0;
  // (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
  SmallVector<Value> a{data[0][0], data[inner][!inner], data[!inner][inner],
                       data[1][1]};
  Value zero = kernel.constant(element, 0.0);
  SmallVector<Value> c = kernel.mmaF64(a, factor, SmallVector<Value>(4, zero));
  if (inner)
    return {{{c[0], c[1]}, {c[2], c[3]}}};
  return {{{c[0], c[2]}, {c[1], c[3]}}};
}

static std::array<Value, 2> getPair(KernelBuilder &kernel, Value vector) {
  return {kernel.extract(vector, 0), kernel.extract(vector, 1)};
}

/// A step in place.
void DmmaEmitter::emitStep(const DmmaStep &step, const Factor &factor,
                           Int ring) {
  Walk walk = getWalk(step);
  Type pair = VectorType::get({2}, element);
  Int base = getSlotBase(ring, getWarpSlot());
  Int swizzled = kernel.bitAnd(swizzle(walk.index), plan.getSlotElements() - 1);
  int64_t most = std::min(kUnitsAtOnce, walk.units);
  for (int64_t first = 0; first < walk.units; first += most) {
    SmallVector<std::array<Value, 2>> addresses;
    SmallVector<Pairs> data;
    for (int64_t known : ArrayRef(walk.known).slice(first, most)) {
      addresses.push_back({(getShared(base, swizzled, known)),
                           (getShared(base, swizzled, known + walk.second))});
      data.push_back({});
      for (unsigned index : {0, 1})
        data.back()[index] =
            getPair(kernel, kernel.load(pair, addresses.back()[index]));
    }
    for (Pairs &unit : data)
      unit = multiply(step, unit, factor);
    for (auto [unit, places] : llvm::zip(data, addresses))
      for (unsigned index : {0, 1})
        kernel.store(kernel.makeVector(unit[index]), places[index]);
  }
}

/// The 2 neighbours at each of `walk.known` that the lane holds and that the
/// other CTA does.
SmallVector<DmmaEmitter::Pairs> DmmaEmitter::loadSplit(ArrayRef<int64_t> known,
                                                       Int base, Int swizzled) {
  Type pair = VectorType::get({2}, element), i32 = kernel.builder.getI32Type();
  SmallVector<Pairs> data;
  for (int64_t unit : known) {
    Value own = (getShared(base, swizzled, unit));
    Value address =
        LLVM::PtrToIntOp::create(kernel.builder, kernel.loc, i32, own);
    SmallVector<Value> other = kernel.inlinePTX(
        {element, element},
        "{ .reg .b32 a; mapa.shared::cluster.u32 a, $2, $3; "
        "ld.shared::cluster.v2.f64 {$0, $1}, [a]; }",
        "=d,=d,r,r,~{memory}",
        {address, kernel.materialize(kernel.sub(1, rank), 32)});
    data.push_back(
        {getPair(kernel, kernel.load(pair, own)), {other[0], other[1]}});
  }
  return data;
}

/// The last step, to global memory. `loaded` is called once all of the tile has
/// been read by this thread.
void DmmaEmitter::emitLastStep(const Factor &factor, const DmmaPlace &place,
                               Int ring, function_ref<void()> loaded) {
  const DmmaStep &step = plan.steps.back();
  Walk walk = getWalk(step);
  bool split = isSplit(step);
  Type pair = VectorType::get({2}, element);
  Int index = walk.index;
  Int base = getSlotBase(ring, split ? laneSlot : getWarpSlot());
  if (split)
    index = kernel.add(index, kernel.mul(laneSlot, int64_t(1) << step.bit));
  Int swizzled = kernel.bitAnd(swizzle(index), plan.getSlotElements() - 1);
  Results results;
  results.index = index;
  results.second = split ? 0 : walk.second;
  results.secondStride =
      split ? kernel.mul(output.strides[step.axis], 4) : Int(0);
  if (split && beta.value)
    results.secondAddendStride = kernel.mul(addend.strides[step.axis], 4);
  int64_t most = std::min(kUnitsAtOnce, walk.units);
  for (int64_t first = 0; first < walk.units; first += most) {
    ArrayRef<int64_t> known = ArrayRef(walk.known).slice(first, most);
    SmallVector<Pairs> data;
    if (split) {
      data = loadSplit(known, base, swizzled);
    } else {
      for (int64_t unit : known) {
        data.push_back({});
        for (unsigned part : {0, 1})
          data.back()[part] = getPair(
              kernel,
              kernel.load(pair, (getShared(base, swizzled,
                                           unit + part * walk.second))));
      }
    }
    if (first + most == walk.units)
      loaded();
    for (Pairs &unit : data)
      unit = multiply(step, unit, factor);
    for (auto [unit, start] : llvm::zip(data, known))
      storeResults(unit, start, results, place);
  }
}

void DmmaEmitter::storeResults(const Pairs &unit, int64_t known,
                               const Results &results, const DmmaPlace &place) {
  Type pair = VectorType::get({2}, element);
  for (unsigned part : {0, 1}) {
    int64_t more = known + (part ? results.second : 0);
    auto getAddress = [&](Value start, const StageArray &array, Int second) {
      Value address = kernel.offsetElements(start, element,
                                            getOffset(results.index, array));
      address = kernel.offsetElements(address, element, getOffset(more, array));
      return part ? kernel.offsetElements(address, element, second) : address;
    };
    kernel.ifThen(isInside(results.index, more, place), [&] {
      SmallVector<Value> scaled;
      Value others;
      auto getOther = [&](unsigned number) {
        if (!others)
          others = kernel.load(pair, getAddress(place.addend, addend,
                                                results.secondAddendStride));
        return Scalar{kernel.extract(others, number), nullptr};
      };
      auto scaleBoth = [&](const KernelScale &withBeta) {
        SmallVector<Value> numbers;
        for (unsigned number : {0, 1})
          numbers.push_back(ops.scaledSum(alpha, withBeta,
                                          {unit[part][number], nullptr},
                                          [&] { return getOther(number); })
                                .re);
        return numbers;
      };
      if (beta.value && beta.isDynamic) {
        KernelScale known = beta;
        known.isDynamic = false;
        scaled = kernel.ifElse(
            ops.isZero(*beta.value), {element, element},
            [&] { return scaleBoth({}); }, [&] { return scaleBoth(known); });
      } else {
        scaled = scaleBoth(beta);
      }
      kernel.store(kernel.makeVector(scaled),
                   getAddress(place.output, output, results.secondStride),
                   CacheHint::Streaming);
    });
  }
}
