//===- ShardedProduct.hpp - Products of sharded arrays ----------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Y = X (F1 (x) ... (x) FN) where X, [M, P1, ..., PN], is sharded along one
// axis. Factors on different axes commute: each rank applies those whose axes
// it has whole, one exchange moves the sharding to another axis, and the others
// are applied then, however many factors there are. Sharded by rows, nothing is
// exchanged at all.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_DISTRIBUTED_SHARDEDPRODUCT_HPP
#define KRON_DISTRIBUTED_SHARDEDPRODUCT_HPP

#include "kron/Distributed/Communicator.hpp"
#include "kron/Runtime/Runtime.hpp"

#include <algorithm>
#include <utility>

namespace kron {

/// What is multiplied: X is [rows, p[0], ..., p[N - 1]], factor k is
/// [p[k], q[k]], and Y is [rows, q[0], ..., q[N - 1]].
struct ProductShape {
  KronType type;
  int64_t rows;
  std::vector<int64_t> p, q;
};

/// The axis of [rows, P1, ..., PN] that the ranks share: 0 for the rows, k for
/// mode k. `getShare` says which range of it a rank has.
struct Placement {
  int from, to;
};

/// The kernels of a product that is sharded from axis `from` to axis `to`. With
/// `s = min(from, to)`, or N - 1 where both are the last mode, and the factors
/// between X and the result:
///
/// - `inner` multiplies rows by the factors behind mode s, as kron.mkm does:
///   [?, P(s+1) * ... * PN] becomes [?, Q(s+1) * ... * QN].
/// - `outer` applies the factors of the modes 1 to s along the middle axis, as
///   kron.kmm with factors used as T: [?, P1 * ... * Ps, ?] becomes
///   [?, Q1 * ... * Qs, ?]. Not needed for s = 0.
/// - `innerBlock`, which may be left out, is `inner` for a block of the columns
///   of factor `to`, where `from < to` and the ranks have equal shares. It is
///   launched once per destination and writes the block that this one gets,
///   so that each rank's data leaves in one piece.
struct ProductKernels {
  const KronKernel *inner = nullptr;
  const KronKernel *outer = nullptr;
  const KronKernel *innerBlock = nullptr;
};

/// A product that runs again and again on arrays of the same sizes. All ranks
/// make the same plans and run them in the same order.
class ShardedProduct {
public:
  /// With `placement.from == placement.to`, the result comes back to where X
  /// was, at the price of a second exchange; sharded by rows, there is none.
  /// Throws on all ranks if one cannot do its part, or shapes differ.
  ShardedProduct(Communicator &communicator, ProductShape shape,
                 ProductKernels kernels, Placement placement);

  /// Sizes of the part of X and of Y that this rank has.
  const std::vector<int64_t> &getInputSizes() const { return inputSizes; }
  const std::vector<int64_t> &getResultSizes() const { return resultSizes; }

  /// Which indices of the sharded axis of X and of Y these are.
  Range getInputRange() const { return inputRange; }
  Range getResultRange() const { return resultRange; }

  /// Bytes that this rank sends to others in every run.
  int64_t bytesSent() const { return numBytesSent; }

  /// Multiplies this rank's part of X; every rank has all factors. `x` and `y`
  /// are row-major without gaps. On a GPU returns when the work is on `stream`:
  /// wait with `Communicator::synchronize`, which ends if a rank fails.
  void run(const KronArray &x, const std::vector<KronArray> &factors,
           const KronArray &y, void *stream = nullptr);

  /// The same on row-major arrays.
  template <typename T>
  void run(const T *x, const std::vector<const T *> &factors, T *y,
           void *stream = nullptr);

private:
  /// One launch: the factors from `firstFactor` to before `lastFactor`, of the
  /// one numbered `cutFactor` the columns in `columns` alone.
  struct Launch {
    const KronKernel *kernel;
    size_t firstFactor, lastFactor;
    std::vector<int64_t> inputSizes, resultSizes;
    size_t cutFactor = SIZE_MAX;
    Range columns = {0, 0};
    int64_t resultOffset = 0;
  };
  /// Launches, or a transfer.
  struct Step {
    std::vector<Launch> launches;
    std::unique_ptr<Transfer> transfer;
    int64_t numResults = 0;
  };

  using Sizes = std::vector<int64_t>;

  static std::string print(const Sizes &sizes);
  std::string describe() const;
  std::string findProblem(const ProductKernels &kernels) const;
  std::string findProblem(const char *name, const KronArray &array,
                          const Sizes &expected) const;
  void compareWithOthers(const std::string &problem);
  void build(const ProductKernels &kernels);
  void addInner(const ProductKernels &kernels, size_t axis, bool isForward);
  void addOuter(const KronKernel *kernel, size_t last);
  void addTransfer(size_t from, size_t to, bool isBlocked = false);
  Sizes getLocal(Sizes sizes, size_t axis) const;
  /// Runs a launch, or without factors only checks it. Returns what is wrong
  /// with it.
  std::string launch(const Launch &launch, const void *from, void *to,
                     const std::vector<KronArray> *factors, void *stream) const;

  Communicator &communicator;
  ProductShape shape;
  Placement placement;
  size_t elementBytes = 0;
  Sizes inputSizes, resultSizes;
  Range inputRange = {0, 0}, resultRange = {0, 0};
  std::vector<Step> steps;
  /// While steps are added: sizes of the whole array, and the sharded axis.
  Sizes current;
  size_t sharded = 0;
  int64_t numBytesSent = 0;
  /// What is between two steps; steps write the two in turn.
  std::vector<Communicator::Memory> buffers;
};

//===----------------------------------------------------------------------===//
// Implementation
//===----------------------------------------------------------------------===//

inline std::string ShardedProduct::print(const Sizes &sizes) {
  std::string text = "[";
  for (int64_t size : sizes)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

inline ShardedProduct::ShardedProduct(Communicator &communicator,
                                      ProductShape productShape,
                                      ProductKernels kernels,
                                      Placement placement)
    : communicator(communicator), shape(std::move(productShape)),
      placement(placement), elementBytes(kronGetTypeSize(shape.type)) {
  std::string problem = findProblem(kernels);
  if (problem.empty()) {
    build(kernels);
    for (const Step &step : steps)
      for (const Launch &one : step.launches)
        if (problem.empty())
          problem = launch(one, nullptr, nullptr, nullptr, nullptr);
  }
  compareWithOthers(problem);
  int64_t bytes[2] = {0, 0};
  for (size_t i = 0; i + 1 < steps.size(); ++i)
    bytes[i % 2] =
        std::max(bytes[i % 2], steps[i].numResults * int64_t(elementBytes));
  for (int64_t size : bytes)
    buffers.push_back(communicator.allocate(size_t(size)));
}

inline std::string
ShardedProduct::findProblem(const ProductKernels &kernels) const {
  size_t numModes = shape.p.size();
  if (!elementBytes)
    return "expects an element type, but got " +
           std::to_string(int(shape.type));
  if (numModes < 1 || numModes + 3 > KRON_MAX_RANK)
    return "expects 1 to " + std::to_string(KRON_MAX_RANK - 3) +
           " factors, but got " + std::to_string(numModes);
  if (shape.q.size() != numModes)
    return "expects columns of " + std::to_string(numModes) +
           " factors, as there are rows of, but got " +
           std::to_string(shape.q.size());
  auto isEmpty = [](int64_t size) { return size < 1; };
  if (shape.rows < 0 || std::any_of(shape.p.begin(), shape.p.end(), isEmpty) ||
      std::any_of(shape.q.begin(), shape.q.end(), isEmpty))
    return "expects rows >= 0 and factors of at least 1 x 1, but got rows " +
           std::to_string(shape.rows) + ", p " + print(shape.p) + ", q " +
           print(shape.q);
  for (int axis : {placement.from, placement.to})
    if (axis < 0 || size_t(axis) > numModes)
      return "expects axes from 0 to " + std::to_string(numModes) +
             ", but got " + std::to_string(axis);
  if (placement.from == placement.to && placement.from != 0 && numModes == 1)
    return "expects two modes or more, or the rows, to share out: the only "
           "mode is contracted";
  if (!kernels.inner)
    return "expects a kernel for the inner product";
  if (std::min(placement.from, placement.to) > 0 && !kernels.outer)
    return "expects a kernel for the outer product, of mode 1 to " +
           std::to_string(std::min(placement.from, placement.to));
  if (kernels.innerBlock &&
      (placement.from >= placement.to ||
       shape.q[size_t(placement.to) - 1] % communicator.getSize() != 0))
    return "expects a kernel for blocks only where the sharding moves to a "
           "later mode, whose columns are a multiple of the " +
           std::to_string(communicator.getSize()) + " ranks";
  return "";
}

inline ShardedProduct::Sizes ShardedProduct::getLocal(Sizes sizes,
                                                      size_t axis) const {
  sizes[axis] =
      getShare(sizes[axis], communicator.getRank(), communicator.getSize())
          .size();
  return sizes;
}

inline void ShardedProduct::build(const ProductKernels &kernels) {
  size_t from = size_t(placement.from), to = size_t(placement.to);
  current = {shape.rows};
  current.insert(current.end(), shape.p.begin(), shape.p.end());
  int rank = communicator.getRank(), numRanks = communicator.getSize();
  inputRange = getShare(current[from], rank, numRanks);
  inputSizes = getLocal(current, from);
  sharded = from;
  // Coming back from the next mode costs the least: its segments are the
  // longest.
  size_t other = to;
  if (from == to && from > 0)
    other = from < shape.p.size() ? from + 1 : from - 1;
  if (from == 0 && to == 0) {
    addInner(kernels, 0, false);
  } else if (from < other) {
    addInner(kernels, other, true);
    addTransfer(from, other, kernels.innerBlock != nullptr);
    addOuter(kernels.outer, from);
  } else {
    addOuter(kernels.outer, other);
    addTransfer(from, other);
    addInner(kernels, other, false);
  }
  if (other != to)
    addTransfer(other, to);
  resultRange = getShare(current[to], rank, numRanks);
  resultSizes = getLocal(current, to);
}

/// Adds the product of all modes behind the sharded axis: in blocks of mode
/// `axis` if the sharding moves there and there is a kernel for blocks.
inline void ShardedProduct::addInner(const ProductKernels &kernels, size_t axis,
                                     bool isForward) {
  size_t numAxes = current.size();
  Sizes local = getLocal(current, sharded);
  int64_t rows = multiplySizes(local, 0, sharded + 1),
          columns = multiplySizes(local, sharded + 1, numAxes);
  for (size_t mode = sharded + 1; mode < numAxes; ++mode)
    current[mode] = shape.q[mode - 1];
  Launch launch = {kernels.inner,
                   sharded,
                   numAxes - 1,
                   {rows, columns},
                   {rows, multiplySizes(current, sharded + 1, numAxes)}};
  Step step;
  step.numResults = multiplySizes(launch.resultSizes, 0, 2);
  if (!isForward || !kernels.innerBlock) {
    step.launches.push_back(launch);
    steps.push_back(std::move(step));
    return;
  }
  int numRanks = communicator.getSize();
  launch.kernel = kernels.innerBlock;
  launch.cutFactor = axis - 1;
  launch.resultSizes[1] /= numRanks;
  for (int rank = 0; rank < numRanks; ++rank) {
    launch.columns = getShare(current[axis], rank, numRanks);
    launch.resultOffset = rank * multiplySizes(launch.resultSizes, 0, 2);
    step.launches.push_back(launch);
  }
  steps.push_back(std::move(step));
}

/// Adds the product of the modes 1 to `last`, unless that is none.
inline void ShardedProduct::addOuter(const KronKernel *kernel, size_t last) {
  if (last == 0)
    return;
  Sizes local = getLocal(current, sharded);
  int64_t inside = multiplySizes(local, last + 1, local.size()),
          length = multiplySizes(local, 1, last + 1);
  for (size_t mode = 1; mode <= last; ++mode)
    current[mode] = shape.q[mode - 1];
  int64_t rows = local[0], resultLength = multiplySizes(current, 1, last + 1);
  Step step;
  step.numResults = rows * resultLength * inside;
  step.launches.push_back(
      {kernel, 0, last, {rows, length, inside}, {rows, resultLength, inside}});
  steps.push_back(std::move(step));
}

inline void ShardedProduct::addTransfer(size_t from, size_t to,
                                        bool isBlocked) {
  int rank = communicator.getRank();
  Exchange exchange = makeExchange(
      current, from, to, rank, communicator.getSize(), elementBytes, isBlocked);
  for (size_t peer = 0; peer < exchange.sends.size(); ++peer)
    if (peer != size_t(rank))
      numBytesSent += exchange.sends[peer].count * exchange.sends[peer].length *
                      int64_t(elementBytes);
  Step step;
  step.transfer = communicator.plan(exchange);
  sharded = to;
  step.numResults = multiplySizes(getLocal(current, to), 0, current.size());
  steps.push_back(std::move(step));
}

inline std::string ShardedProduct::describe() const {
  return std::string("type ") + kronGetTypeName(shape.type) + ", rows " +
         std::to_string(shape.rows) + ", p " + print(shape.p) + ", q " +
         print(shape.q) + ", sharded from axis " +
         std::to_string(placement.from) + " to axis " +
         std::to_string(placement.to);
}

/// Throws if this rank or another one has a problem, or another product in mind
/// than rank 0.
inline void ShardedProduct::compareWithOthers(const std::string &problem) {
  constexpr size_t numWords = 128;
  std::string mine = problem.empty() ? describe() : problem;
  mine.resize(std::min(mine.size(), (numWords - 1) * sizeof(int64_t) - 1));
  Sizes words(numWords);
  words[0] = !problem.empty();
  std::copy(mine.begin(), mine.end(), reinterpret_cast<char *>(&words[1]));
  Sizes all = communicator.allGather(words);
  auto getText = [&](size_t rank) {
    return std::string(
        reinterpret_cast<const char *>(&all[rank * numWords + 1]));
  };
  for (size_t rank = 0; rank * numWords < all.size(); ++rank)
    if (all[rank * numWords])
      throw std::invalid_argument("sharded product: rank " +
                                  std::to_string(rank) + ": " + getText(rank));
  for (size_t rank = 1; rank * numWords < all.size(); ++rank)
    if (getText(rank) != getText(0))
      throw std::invalid_argument(
          "sharded product: expects the same product on all ranks, but rank 0 "
          "has " +
          getText(0) + ", and rank " + std::to_string(rank) + " has " +
          getText(rank));
}

inline std::string ShardedProduct::findProblem(const char *name,
                                               const KronArray &array,
                                               const Sizes &expected) const {
  Sizes sizes(array.sizes, array.sizes + std::max(array.rank, 0));
  if (array.type != shape.type || sizes != expected)
    return std::string("expects ") + name + " to have type " +
           kronGetTypeName(shape.type) + " and sizes " + print(expected) +
           ", but got type " + kronGetTypeName(array.type) + " and sizes " +
           print(sizes);
  int64_t stride = 1;
  for (size_t axis = sizes.size(); array.strides && axis-- > 0;) {
    if (sizes[axis] > 1 && array.strides[axis] != stride)
      return std::string("expects ") + name +
             " to be row-major without gaps, but the stride of axis " +
             std::to_string(axis) + " is " +
             std::to_string(array.strides[axis]);
    stride *= sizes[axis];
  }
  return "";
}

inline std::string ShardedProduct::launch(const Launch &launch,
                                          const void *from, void *to,
                                          const std::vector<KronArray> *factors,
                                          void *stream) const {
  std::vector<KronArray> arguments;
  arguments.push_back({const_cast<void *>(from), launch.inputSizes.data(),
                       nullptr, int32_t(launch.inputSizes.size()), shape.type});
  // Sizes, and strides of a whole factor where only these are checked.
  std::vector<std::array<int64_t, 4>> axes(shape.p.size());
  for (size_t i = launch.firstFactor; i < launch.lastFactor; ++i) {
    bool isCut = i == launch.cutFactor;
    axes[i] = {shape.p[i], isCut ? launch.columns.size() : shape.q[i],
               shape.q[i], 1};
    KronArray factor = {nullptr, nullptr, &axes[i][2], 2, shape.type};
    if (factors)
      factor = (*factors)[i];
    if (isCut && factor.data) {
      if (!factor.strides)
        factor.strides = &axes[i][2];
      factor.data =
          static_cast<char *>(factor.data) +
          launch.columns.begin * factor.strides[1] * int64_t(elementBytes);
    }
    factor.sizes = axes[i].data();
    arguments.push_back(factor);
  }
  arguments.push_back({to ? static_cast<char *>(to) +
                                launch.resultOffset * int64_t(elementBytes)
                          : nullptr,
                       launch.resultSizes.data(), nullptr,
                       int32_t(launch.resultSizes.size()), shape.type});
  KronLaunchOptions options = communicator.getLaunchOptions();
  options.stream = stream;
  size_t workspaceBytes = 0;
  KronStatus status =
      factors ? kronLaunch(launch.kernel, arguments.data(),
                           int32_t(arguments.size()), &options)
              : kronGetLaunchWorkspaceSize(launch.kernel, arguments.data(),
                                           int32_t(arguments.size()), &options,
                                           &workspaceBytes);
  return status == KRON_SUCCESS ? "" : Error(status).what();
}

inline void ShardedProduct::run(const KronArray &x,
                                const std::vector<KronArray> &factors,
                                const KronArray &y, void *stream) {
  std::string problem = findProblem("x", x, inputSizes);
  if (problem.empty())
    problem = findProblem("y", y, resultSizes);
  if (problem.empty() && factors.size() != shape.p.size())
    problem = "expects " + std::to_string(shape.p.size()) +
              " factors, but got " + std::to_string(factors.size());
  for (size_t i = 0; i < shape.p.size() && problem.empty(); ++i)
    if (factors[i].rank != 2 || factors[i].type != shape.type ||
        factors[i].sizes[0] != shape.p[i] || factors[i].sizes[1] != shape.q[i])
      problem = "expects factor " + std::to_string(i + 1) + " to be " +
                print({shape.p[i], shape.q[i]}) + " of type " +
                kronGetTypeName(shape.type) + ", but got " +
                print({factors[i].sizes,
                       factors[i].sizes + std::max(factors[i].rank, 0)}) +
                " of type " + kronGetTypeName(factors[i].type);
  const void *from = x.data;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    void *to = i + 1 == steps.size() ? y.data : buffers[i % 2].get();
    for (const Launch &one : step.launches)
      if (problem.empty() &&
          multiplySizes(one.resultSizes, 0, one.resultSizes.size()) > 0)
        problem = launch(one, from, to, &factors, stream);
    if (step.transfer) {
      communicator.agree(problem);
      step.transfer->run(from, to, stream);
    }
    from = to;
  }
  if (!problem.empty())
    throw std::runtime_error("sharded product: rank " +
                             std::to_string(communicator.getRank()) + ": " +
                             problem);
}

template <typename T>
void ShardedProduct::run(const T *x, const std::vector<const T *> &factors,
                         T *y, void *stream) {
  auto get = [](const T *data, const int64_t *sizes, size_t rank) {
    return KronArray{const_cast<T *>(data), sizes, nullptr, int32_t(rank),
                     TypeOf<T>::value};
  };
  std::vector<std::array<int64_t, 2>> sizes(factors.size());
  std::vector<KronArray> arrays;
  for (size_t i = 0; i < factors.size(); ++i) {
    // More factors than the shape has are refused by their number.
    if (i < shape.p.size())
      sizes[i] = {shape.p[i], shape.q[i]};
    arrays.push_back(get(factors[i], sizes[i].data(), 2));
  }
  run(get(x, inputSizes.data(), inputSizes.size()), arrays,
      get(y, resultSizes.data(), resultSizes.size()), stream);
}

} // namespace kron

#endif // KRON_DISTRIBUTED_SHARDEDPRODUCT_HPP
