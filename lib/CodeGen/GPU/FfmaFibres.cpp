//===- FfmaFibres.cpp - Fibres in registers: one thread ---------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Loading an item's fibres, applying the factors of a group to them, and
// storing them.
//
//===----------------------------------------------------------------------===//

#include "FfmaEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::kron;

/// Results of a block whose results are stored at once.
static constexpr int64_t kStreamedResults = 4;

//===----------------------------------------------------------------------===//
// Fibres
//===----------------------------------------------------------------------===//

/// Calls `body` with the positions on the group's axes of every value of an
/// item, in the order of `FfmaValues`; other axes are 0.
void FfmaEmitter::forValues(const FfmaGroup &group, bool after,
                            function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> positions(plan.extents.size(), 0);
  std::function<void(unsigned)> walk = [&](unsigned left) {
    if (left == 0)
      return body(positions);
    const FfmaAxis &axis = group.axes[left - 1];
    for (int64_t index = 0; index < (after ? axis.sizeN : axis.sizeK);
         ++index) {
      positions[axis.axis] = index;
      walk(left - 1);
    }
    positions[axis.axis] = 0;
  };
  walk(group.axes.size());
}

/// Elements of a fibre that lie next to each other and aligned in shared
/// memory.
int64_t FfmaEmitter::getVectorWidth(const FfmaGroup &group, bool after) {
  const FfmaAxis &axis = group.axes.front();
  if (plan.strides[axis.axis] != 1)
    return 1;
  int64_t width = 16 / bytes;
  while ((after ? axis.sizeN : axis.sizeK) % width != 0)
    width /= 2;
  ArrayRef<int64_t> extents(after ? group.after : group.before);
  for (unsigned other = 0; other < extents.size(); ++other)
    while (other != axis.axis && extents[other] > 1 &&
           plan.strides[other] % width != 0)
      width /= 2;
  // Vectors start anywhere in a ring along the axis itself, as tiles do.
  while (axis.axis == plan.slotAxis &&
         (plan.slots % width != 0 || plan.ringSlots % width != 0))
    width /= 2;
  return width;
}

/// Addresses of an item's values in global memory. Each follows from one
/// before: multiples of a stride that is not known would be kept in registers.
SmallVector<Value> FfmaEmitter::getAddresses(const FfmaGroup &group, bool after,
                                             const FfmaItem &item, Value start,
                                             const StageArray &array) {
  Int base = getTileOffset(kernel, item.base,
                           after ? group.after : group.before, array.strides);
  Int more = 0;
  for (auto [position, stride] : llvm::zip(item.more, array.strides))
    more = kernel.add(more, kernel.mul(position, stride));
  SmallVector<Value> addresses;
  std::function<void(unsigned, Value)> walk = [&](unsigned left, Value from) {
    if (left == 0) {
      addresses.push_back(from);
      return;
    }
    const FfmaAxis &axis = group.axes[left - 1];
    for (int64_t index = 0; index < (after ? axis.sizeN : axis.sizeK);
         ++index) {
      if (index)
        from = kernel.offsetElements(from, element, array.strides[axis.axis]);
      walk(left - 1, from);
    }
  };
  Value from = kernel.offsetElements(start, element, base);
  walk(group.axes.size(), kernel.offsetElements(from, element, more));
  return addresses;
}

FfmaValues FfmaEmitter::loadFibres(const FfmaGroup &group, const FfmaItem &item,
                                   const FfmaPlace &place, Int ring) {
  FfmaValues values;
  if (plan.direct) {
    for (Value address :
         getAddresses(group, /*after=*/false, item, place.input, input))
      values.push_back(kernel.load(element, address, CacheHint::ReadOnly));
    return values;
  }
  int64_t width = getVectorWidth(group, false);
  Type type = width == 1 ? element : VectorType::get({width}, element);
  auto getPlaceOf = getPlaces(group, item, ring);
  int64_t number = 0;
  forValues(group, false, [&](ArrayRef<int64_t> positions) {
    if (number++ % width == 0)
      llvm::append_range(
          values, kernel.unpack(kernel.load(type, getPlaceOf(positions))));
  });
  return values;
}

/// Stores values, but for null ones, of which all or none are in a vector.
void FfmaEmitter::storeFibres(const FfmaGroup &group, const FfmaItem &item,
                              const FfmaValues &values, Int ring) {
  int64_t width = getVectorWidth(group, true);
  auto getPlaceOf = getPlaces(group, item, ring);
  int64_t number = 0;
  forValues(group, true, [&](ArrayRef<int64_t> positions) {
    int64_t first = number++;
    if (first % width != 0 || !values[first])
      return;
    Value value = width == 1
                      ? values[first]
                      : kernel.makeVector(ArrayRef(values).slice(first, width));
    kernel.store(value, getPlaceOf(positions));
  });
}

/// Stores values to global memory, but for null ones.
void FfmaEmitter::storeResult(const FfmaGroup &group, const FfmaItem &item,
                              const FfmaValues &values,
                              const FfmaPlace &place) {
  SmallVector<Value> results;
  auto getResultAddresses = [&](Value start, const StageArray &array) {
    SmallVector<Value> addresses = getAddresses(group, /*after=*/true, item,
                                                start, array),
                       some;
    for (auto [value, address] : llvm::zip(values, addresses))
      if (value)
        some.push_back(address);
    return some;
  };
  llvm::copy_if(values, std::back_inserter(results),
                [](Value value) { return bool(value); });
  auto scaleAll = [&](const KernelScale &withBeta) {
    SmallVector<Value> addresses;
    if (withBeta.value)
      addresses = getResultAddresses(place.addend, addend);
    SmallVector<Value> scaled;
    for (unsigned index = 0; index < results.size(); ++index)
      scaled.push_back(
          ops.scaledSum(alpha, withBeta, {results[index], nullptr},
                        [&] { return ops.load(element, addresses[index]); })
              .re);
    return scaled;
  };
  if (beta.value && beta.isDynamic) {
    SmallVector<Type> types(results.size(), element);
    KernelScale known = beta;
    known.isDynamic = false;
    results = kernel.ifElse(
        ops.isZero(*beta.value), types, [&] { return scaleAll({}); },
        [&] { return scaleAll(known); });
  } else if (alpha.value || beta.value) {
    results = scaleAll(beta);
  }
  for (auto [value, address] :
       llvm::zip(results, getResultAddresses(place.output, output)))
    kernel.store(value, address, CacheHint::Streaming);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Results [q, q + count) of row p of the factor. Volatile, so that LLVM does
/// not keep a whole factor in registers because it is used twice.
SmallVector<Value> FfmaEmitter::loadFactorRow(const FfmaAxis &axis, int64_t p,
                                              int64_t q, int64_t count) {
  int64_t width = 16 / bytes;
  SmallVector<Value> row;
  for (int64_t first = q; first < q + count; first += width) {
    int64_t offset = axis.factorOffset + (p * axis.pitch + first) * bytes;
    SmallVector<Type> types(width, element);
    std::string text = bytes == 4 ? "ld.shared.v4.f32 {$0, $1, $2, $3}, [$4 + "
                                  : "ld.shared.v2.f64 {$0, $1}, [$2 + ";
    text += std::to_string(offset) + "];";
    llvm::append_range(
        row,
        kernel.inlinePTX(types, text, bytes == 4 ? "=f,=f,=f,=f,l" : "=d,=d,l",
                         factorBase));
  }
  row.resize(count);
  return row;
}

/// Applies one factor to all fibres along its axis, of which neighbouring
/// values are `inner` apart. `finished` (null: nothing) gets the results of
/// each block, as values of which the others are null. Results that need not
/// stay leave room for blocks of more fibres and fewer results.
void FfmaEmitter::applyAxis(const FfmaAxis &axis, int64_t inner,
                            MutableArrayRef<FfmaValues> batch,
                            FinishedBlock finished) {
  int64_t outer = batch.front().size() / (inner * axis.sizeK);
  struct Fibre {
    unsigned item;
    int64_t outer, inner;
  };
  SmallVector<Fibre> fibres;
  for (unsigned item = 0; item < batch.size(); ++item)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        fibres.push_back({item, o, i});
  SmallVector<FfmaValues> results(batch.size(),
                                  FfmaValues(outer * axis.sizeN * inner));
  int64_t width = axis.sizeN;
  int64_t wanted = finished ? kStreamedResults : plan.blockResults;
  if (wanted && axis.sizeN % wanted == 0)
    width = wanted;
  int64_t block = std::max<int64_t>(plan.accumulators / width, 1);
  // Blocks of equal size.
  int64_t blocks = llvm::divideCeil(int64_t(fibres.size()), block);
  block = llvm::divideCeil(int64_t(fibres.size()), blocks);
  for (int64_t first = 0; first < int64_t(fibres.size()); first += block)
    for (int64_t q = 0; q < axis.sizeN; q += width) {
      ArrayRef<Fibre> some = ArrayRef(fibres).slice(
          first, std::min<int64_t>(block, fibres.size() - first));
      for (int64_t p = 0; p < axis.sizeK; ++p) {
        SmallVector<Value> row = loadFactorRow(axis, p, q, width);
        for (int64_t column = 0; column < width; ++column)
          for (const Fibre &fibre : some) {
            Value x = batch[fibre.item][(fibre.outer * axis.sizeK + p) * inner +
                                        fibre.inner];
            Value &sum =
                results[fibre.item]
                       [(fibre.outer * axis.sizeN + q + column) * inner +
                        fibre.inner];
            sum = sum ? kernel.fma(x, row[column], sum)
                      : ops.mul({x, nullptr}, {row[column], nullptr}).re;
          }
      }
      if (finished) {
        finished(results);
        for (FfmaValues &values : results)
          std::fill(values.begin(), values.end(), Value());
      }
    }
  for (auto [old, result] : llvm::zip(batch, results))
    old = result;
}

/// Whether the blocks of the group's last factor hold whole vectors of what is
/// stored: they have all fibres of an item, or items that are fibres.
bool FfmaEmitter::canStream(const FfmaGroup &group) {
  const FfmaAxis &last = group.axes.back();
  int64_t fibres = group.values / std::max(last.sizeK, last.sizeN);
  return last.sizeN % kStreamedResults == 0 &&
         (fibres == 1 || fibres == plan.accumulators / kStreamedResults);
}

/// Applies the group's factors. `finished` is called with parts of the results
/// as soon as they are known, if it is not null; there are none left then.
void FfmaEmitter::applyGroup(const FfmaGroup &group,
                             MutableArrayRef<FfmaValues> batch,
                             FinishedBlock finished) {
  int64_t inner = 1;
  for (const FfmaAxis &axis : group.axes) {
    bool isLast = &axis == &group.axes.back();
    applyAxis(axis, inner, batch, isLast ? finished : nullptr);
    inner *= axis.sizeN;
  }
}
