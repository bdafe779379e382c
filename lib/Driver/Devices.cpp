//===- Devices.cpp - One call on several devices ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Devices.h"
#include "Ranks.h"
#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Distributed.hpp"
#include "kron/Driver/Gpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::kron;
using llvm::createStringError;

static bool isScaffold(Operation &op) {
  return isa<tensor::DimOp, tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(
      op);
}

static bool isStatic(Value array) {
  return cast<ShapedType>(array.getType()).hasStaticShape();
}

/// Copies the part of a row-major array of `sizes` that has `range` of `axis`
/// between the whole and `part`.
static void copyPart(char *whole, ArrayRef<int64_t> sizes, int axis,
                     ::kron::Range range, char *part, size_t elementBytes,
                     bool isToPart) {
  std::vector<int64_t> all(sizes.begin(), sizes.end());
  int64_t outer = ::kron::multiplySizes(all, 0, axis),
          plane = ::kron::multiplySizes(all, axis + 1, all.size()) *
                  int64_t(elementBytes);
  int64_t bytes = range.size() * plane;
  for (int64_t o = 0; o < outer; ++o) {
    char *inWhole = whole + (o * all[axis] + range.begin) * plane;
    char *inPart = part + o * bytes;
    if (isToPart)
      std::memcpy(inPart, inWhole, bytes);
    else
      std::memcpy(inWhole, inPart, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// An error unless every row of the results is made of the same row of the
/// arrays with rows.
static llvm::Error checkRows(func::FuncOp function) {
  for (Operation &op : function.getBody().getOps()) {
    bool isOfRows = isScaffold(op);
    if (auto mkm = dyn_cast<MkmOp>(op))
      isOfRows = mkm.getTransInput() == Transpose::N &&
                 cast<ShapedType>(mkm.getInit().getType()).getRank() == 2 &&
                 llvm::all_of(mkm.getFactors(), isStatic);
    if (auto sparse = dyn_cast<KsmmOp>(op))
      isOfRows = sparse.getTransInput() == Transpose::N &&
                 sparse.getLayout() == Layout::BatchFirst &&
                 isStatic(sparse.getWeights()) &&
                 (!sparse.getBias() || isStatic(sparse.getBias()));
    if (!isOfRows)
      return createStringError(
          "expects a function of kron.mkm and kron.ksmm on rows, with factors "
          "of known sizes, to share its rows out, but got '" +
          op.getName().getStringRef().str() + "'");
  }
  return llvm::Error::success();
}

/// The symbol of the number of rows.
static llvm::Expected<int32_t> getRowSymbol(const KernelManifest &kernel) {
  std::optional<int32_t> symbol;
  for (const ArgManifest &arg : kernel.args)
    if (arg.getRank() > 0 && arg.symbols[0] >= 0 && !symbol)
      symbol = arg.symbols[0];
  if (!symbol)
    return createStringError(
        "expects a function of an open number of rows (tensor<?x...>) to "
        "share them out");
  for (const ArgManifest &arg : kernel.args)
    if (arg.access == KRON_READ_WRITE)
      return createStringError("expects no array that is read and written, but "
                               "got '" +
                               arg.name + "'");
  for (const ArgManifest &arg : kernel.args)
    if (arg.access != KRON_READ &&
        (arg.getRank() == 0 || arg.symbols[0] != *symbol))
      return createStringError("expects output '" + arg.name +
                               "' to have the rows that are shared out");
  return *symbol;
}

namespace {
/// The arrays of one rank: rows of those that have them, copies of others.
struct RowShare {
  CallArguments call;
  ::kron::Range rows = {0, 0};
};
} // namespace

static bool hasRows(const ArgManifest &arg, int32_t symbol) {
  return arg.getRank() > 0 && arg.symbols[0] == symbol;
}

static void copyRows(CallArguments &whole, const KernelManifest &kernel,
                     int32_t symbol, RowShare &share, bool isToShare) {
  for (auto [index, arg] : llvm::enumerate(kernel.args)) {
    HostArray &from = whole.arrays[index];
    HostArray &to = share.call.arrays[index];
    if (hasRows(arg, symbol) && (isToShare || arg.access != KRON_READ))
      copyPart(from.getData(), from.getSizes(), 0, share.rows, to.getData(),
               kronGetTypeSize(arg.type), isToShare);
    else if (isToShare)
      std::memcpy(to.getData(), from.getData(), from.getNumBytes());
  }
}

static llvm::Expected<RowShare> getRowShare(CallArguments &whole,
                                            const KernelManifest &kernel,
                                            int32_t symbol, int rank,
                                            int numRanks) {
  RowShare share;
  for (auto [index, arg] : llvm::enumerate(kernel.args)) {
    const HostArray &array = whole.arrays[index];
    std::vector<int64_t> sizes = array.getSizes().vec();
    if (array.isFortranOrder())
      return createStringError("expects '" + arg.name +
                               "' to be in C order to be shared out");
    if (hasRows(arg, symbol)) {
      share.rows = ::kron::getShare(sizes[0], rank, numRanks);
      sizes[0] = share.rows.size();
    }
    auto part = HostArray::create(arg.type, sizes);
    if (!part)
      return part.takeError();
    share.call.arrays.push_back(std::move(*part));
  }
  copyRows(whole, kernel, symbol, share, /*isToShare=*/true);
  return share;
}

/// The GPU of a rank; null on the CPU.
static llvm::Expected<std::unique_ptr<Gpu>>
openDevice(const DeviceOptions &options, int rank) {
  if (!options.isGpu)
    return nullptr;
  return Gpu::open(options.devices[rank]);
}

static llvm::Expected<std::vector<double>>
runRows(func::FuncOp function, const KernelManifest &kernel,
        const KronKernel *address, CallArguments &call,
        const DeviceOptions &options) {
  if (llvm::Error error = checkRows(function))
    return std::move(error);
  auto symbol = getRowSymbol(kernel);
  if (!symbol)
    return symbol.takeError();
  Ranks ranks(options.devices.size());
  std::vector<double> times;
  llvm::Error error = ranks.run([&](int rank) -> llvm::Error {
    auto gpu = openDevice(options, rank);
    if (!gpu)
      return gpu.takeError();
    auto share = getRowShare(call, kernel, *symbol, rank, ranks.size());
    if (!share)
      return share.takeError();
    DeviceArguments arguments;
    if (*gpu) {
      auto created = DeviceArguments::create(**gpu, kernel, share->call);
      if (!created)
        return created.takeError();
      arguments = std::move(*created);
    }
    auto measured = ranks.measure(options.runs, [&]() -> llvm::Error {
      if (!*gpu)
        return share->call.launch(address, options.numThreads);
      if (llvm::Error error = arguments.launch(address))
        return error;
      return (*gpu)->synchronize();
    });
    if (!measured)
      return measured.takeError();
    if (rank == 0)
      times = std::move(*measured);
    if (*gpu)
      if (llvm::Error error = arguments.download(share->call))
        return error;
    copyRows(call, kernel, *symbol, *share, /*isToShare=*/false);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return times;
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

/// The product that `function` computes, with the rows of `x`.
static llvm::Expected<::kron::ProductShape>
getProduct(func::FuncOp function, const KernelManifest &kernel,
           const HostArray &x) {
  constexpr const char *expected =
      "expects a function that returns one kron.mkm of its arguments, in their "
      "order and used as they are, with factors of known sizes, to share modes "
      "out";
  MkmOp product;
  for (Operation &op : function.getBody().getOps()) {
    if (isScaffold(op))
      continue;
    if (product || !isa<MkmOp>(op))
      return createStringError(expected);
    product = cast<MkmOp>(op);
  }
  if (!product || product.getNumOperands() != product.getFactors().size() + 2 ||
      product.getStaticAlphaAttr() || product.getStaticBetaAttr() ||
      product.getTransInput() != Transpose::N ||
      !llvm::equal(function.getArguments(),
                   product->getOperands().drop_back()) ||
      !product.getInit().getDefiningOp<tensor::EmptyOp>() ||
      function.getNumResults() != 1 || x.getSizes().size() != 2 ||
      !llvm::equal(product->getResults(),
                   function.getBody().front().getTerminator()->getOperands()))
    return createStringError(expected);
  ::kron::ProductShape shape;
  shape.type = kernel.args.front().type;
  shape.rows = x.getSizes()[0];
  for (unsigned index = 0; index < product.getFactors().size(); ++index) {
    auto [p, q] = product.getFactorShape(index);
    if (product.getFactorTranspose(index) != Transpose::N ||
        !isStatic(product.getFactors()[index]))
      return createStringError(expected);
    shape.p.push_back(p);
    shape.q.push_back(q);
  }
  return shape;
}

/// A module with the function `inner` of factors `begin` to before `end` on
/// rows, or `outer` along the middle axis.
static std::string getProductText(const ::kron::ProductShape &shape,
                                  size_t begin, size_t end, bool isOuter) {
  std::string type = kronGetTypeName(shape.type);
  std::string names, types, arguments;
  for (size_t i = begin; i < end; ++i) {
    std::string factor =
        llvm::formatv("tensor<{0}x{1}x{2}>", shape.p[i], shape.q[i], type);
    std::string name = llvm::formatv("%f{0}", i);
    arguments += ", " + name + ": " + factor;
    names += (i > begin ? ", " : "") + (isOuter ? "T(" + name + ")" : name);
    types += (i > begin ? ", " : "") + factor;
  }
  std::string inside = isOuter ? "?x" : "";
  auto getArray = [&](const std::vector<int64_t> &sizes) {
    return llvm::formatv("tensor<?x{0}x{1}{2}>",
                         ::kron::multiplySizes(sizes, begin, end), inside, type)
        .str();
  };
  std::string x = getArray(shape.p), y = getArray(shape.q);
  std::string dims = "  %c0 = arith.constant 0 : index\n"
                     "  %rows = tensor.dim %x, %c0 : " +
                     x + "\n";
  if (isOuter)
    dims += "  %c2 = arith.constant 2 : index\n"
            "  %columns = tensor.dim %x, %c2 : " +
            x + "\n";
  return llvm::formatv(
      "func.func @{0}(%x: {1}{2}) -> {3} {{\n{4}"
      "  %init = tensor.empty({5}) : {3}\n"
      "  %y = kron.{6} ins(%x : {1}) factors({7} : {8}) outs(%init : {3}) -> "
      "{3}\n"
      "  return %y : {3}\n}\n",
      isOuter ? "outer" : "inner", x, arguments, y, dims,
      isOuter ? "%rows, %columns" : "%rows", isOuter ? "kmm" : "mkm", names,
      types);
}

static std::unique_ptr<::kron::Communicator>
connect(ThreadCommunicator::World &world, const ::kron::NCCLId &id, int rank,
        const DeviceOptions &options) {
  if (!options.isGpu)
    return std::make_unique<ThreadCommunicator>(world, rank,
                                                options.numThreads);
  return std::make_unique<::kron::NCCLCommunicator>(
      id, rank, world.ranks.size(), options.devices[rank]);
}

/// Runs the product as one rank.
static llvm::Error runRank(Ranks &ranks, ::kron::Communicator &communicator,
                           Gpu *gpu, const ::kron::ProductShape &shape,
                           const ::kron::ProductKernels &kernels,
                           CallArguments &call, const DeviceOptions &options,
                           std::vector<double> &times) {
  size_t bytes = kronGetTypeSize(shape.type);
  ::kron::ShardedProduct plan(communicator, shape, kernels,
                              {options.from, options.to});
  auto getSizes = [&](const std::vector<int64_t> &ofModes) {
    std::vector<int64_t> sizes = {shape.rows};
    sizes.insert(sizes.end(), ofModes.begin(), ofModes.end());
    return sizes;
  };
  auto create = [&](const std::vector<int64_t> &sizes) {
    return HostArray::create(shape.type, sizes);
  };
  auto x = create(plan.getInputSizes()), y = create(plan.getResultSizes());
  if (!x || !y)
    return llvm::joinErrors(x.takeError(), y.takeError());
  copyPart(call.arrays.front().getData(), getSizes(shape.p), options.from,
           plan.getInputRange(), x->getData(), bytes, /*isToPart=*/true);
  // What kernels read and write: the arrays themselves, or copies on the GPU.
  std::vector<DeviceMemory> memory;
  llvm::Error error = llvm::Error::success();
  auto give = [&](HostArray &array) {
    KronArray view = array.getView();
    if (!gpu || error)
      return view;
    auto copy = gpu->allocate(array.getNumBytes());
    if (!copy) {
      error = copy.takeError();
      return view;
    }
    error = gpu->upload(copy->get(), array.getData(), array.getNumBytes());
    view.data = copy->get();
    memory.push_back(std::move(*copy));
    return view;
  };
  KronArray xView = give(*x), yView = give(*y);
  std::vector<KronArray> factors;
  for (size_t index = 0; index < shape.p.size(); ++index)
    factors.push_back(give(call.arrays[index + 1]));
  if (error)
    return error;
  void *stream = gpu ? gpu->getStream() : nullptr;
  auto measured = ranks.measure(options.runs, [&]() -> llvm::Error {
    plan.run(xView, factors, yView, stream);
    communicator.synchronize(stream);
    return llvm::Error::success();
  });
  if (!measured)
    return measured.takeError();
  if (communicator.getRank() == 0)
    times = std::move(*measured);
  if (gpu)
    if (llvm::Error error =
            gpu->download(y->getData(), yView.data, y->getNumBytes()))
      return error;
  copyPart(call.arrays.back().getData(), getSizes(shape.q), options.to,
           plan.getResultRange(), y->getData(), bytes, /*isToPart=*/false);
  return llvm::Error::success();
}

static llvm::Expected<std::vector<double>>
runModes(const Session &session, func::FuncOp function,
         const KernelManifest &kernel, CallArguments &call,
         const DeviceOptions &options) {
  auto shape = getProduct(function, kernel, call.arrays.front());
  if (!shape)
    return shape.takeError();
  int numModes = shape->p.size();
  if (std::max(options.from, options.to) > numModes)
    return createStringError(
        llvm::formatv("expects axes from 0 to {0} to share out, but got {1}",
                      numModes, std::max(options.from, options.to))
            .str());
  for (auto [arg, array] : llvm::zip(kernel.args, call.arrays))
    if (array.isFortranOrder())
      return createStringError("expects '" + arg.name +
                               "' to be in C order to be shared out");
  // As ShardedProduct wants them.
  int first = std::min(options.from, options.to);
  if (options.from == options.to && first == numModes)
    --first;
  std::vector<JITModule> compiled;
  ::kron::ProductKernels kernels;
  auto build = [&](size_t begin, size_t end, bool isOuter) -> llvm::Error {
    auto source = session.parse(getProductText(*shape, begin, end, isOuter),
                                &llvm::errs());
    if (!source)
      return source.takeError();
    auto product = session.load((*source)->get());
    if (failed(product))
      return (*source)->getError();
    (isOuter ? kernels.outer : kernels.inner) =
        product->lookup(isOuter ? "outer" : "inner");
    compiled.push_back(std::move(*product));
    return llvm::Error::success();
  };
  if (first < numModes)
    if (llvm::Error error = build(first, numModes, /*isOuter=*/false))
      return std::move(error);
  if (first > 0)
    if (llvm::Error error = build(0, first, /*isOuter=*/true))
      return std::move(error);

  ::kron::NCCLId id = {};
  if (options.isGpu && kronNcclGetId(id.data()) != KRON_SUCCESS)
    return createStringError(kronGetLastError());
  Ranks ranks(options.devices.size());
  ThreadCommunicator::World world(ranks);
  std::vector<double> times;
  llvm::Error error = ranks.run([&](int rank) -> llvm::Error {
    auto gpu = openDevice(options, rank);
    if (!gpu)
      return gpu.takeError();
    // Nobody waits for a GPU that is not there.
    if (llvm::Error error = ranks.wait())
      return error;
    auto communicator = connect(world, id, rank, options);
    return runRank(ranks, *communicator, gpu->get(), *shape, kernels, call,
                   options, times);
  });
  if (error)
    return std::move(error);
  return times;
}

llvm::Expected<std::vector<double>>
mlir::kron::runOnDevices(const Session &session, ModuleOp module,
                         const KernelManifest &kernel,
                         const KronKernel *address, CallArguments &call,
                         const DeviceOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>(kernel.name);
  if (options.from == 0 && options.to == 0)
    return runRows(function, kernel, address, call, options);
  return runModes(session, function, kernel, call, options);
}
