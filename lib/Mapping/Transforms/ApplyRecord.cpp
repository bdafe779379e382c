//===- ApplyRecord.cpp - Plans of a tuning record -------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What was found by measurement is kept in a file and looked up by operation
// and arrays, so that a program need not be edited to get it.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Mapping/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::kron {
#define GEN_PASS_DEF_KRONAPPLYRECORD
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

namespace {
/// An entry of a record: for operations called `op` on arrays of these shapes.
struct Entry {
  std::string op;
  std::vector<std::string> arrays;
  Attribute plan;
};
} // namespace

/// Shape and element type, as in a memref or tensor: "?x64xf32".
static std::string getShapeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto shaped = cast<ShapedType>(type);
  for (int64_t size : shaped.getShape()) {
    if (ShapedType::isDynamic(size))
      stream << '?';
    else
      stream << size;
    stream << 'x';
  }
  stream << shaped.getElementType();
  return text;
}

static bool isOf(const Entry &entry, Operation *op) {
  if (op->getName().getStringRef() != entry.op)
    return false;
  SmallVector<std::string> arrays;
  for (Type type : op->getOperandTypes())
    if (isa<ShapedType>(type))
      arrays.push_back(getShapeText(type));
  return llvm::equal(arrays, entry.arrays);
}

/// Whether operations called `name` can carry a plan.
static bool takesPlan(StringRef name, MLIRContext *context) {
  auto info = RegisteredOperationName::lookup(name, context);
  return info && isa<KronDialect>(info->getDialect()) &&
         llvm::is_contained(info->getAttributeNames(), kPlanAttrName);
}

/// Reads entry number `number`; null with an error at `loc` if it is not one.
static std::optional<Entry> readEntry(const llvm::json::Value &value,
                                      size_t number, Location loc,
                                      StringRef file) {
  auto fail = [&](const Twine &expected) {
    emitError(loc) << "--kron-apply-record: entry " << number << " of '" << file
                   << "': expects " << expected;
    return std::nullopt;
  };
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("an object");
  Entry entry;
  std::optional<StringRef> op = object->getString("op");
  if (!op)
    return fail("\"op\" to be the name of an operation");
  if (!takesPlan(*op, loc.getContext()))
    return fail("\"op\" to be an operation of kron that takes a plan, but "
                "got '" +
                *op + "'");
  entry.op = op->str();
  const llvm::json::Array *arrays = object->getArray("arrays");
  if (!arrays)
    return fail("\"arrays\" to be a list of shapes such as \"?x64xf32\"");
  for (const llvm::json::Value &array : *arrays) {
    std::optional<StringRef> text = array.getAsString();
    if (!text)
      return fail("\"arrays\" to be a list of shapes such as \"?x64xf32\"");
    entry.arrays.push_back(text->str());
  }
  std::optional<StringRef> plan = object->getString(kPlanAttrName);
  if (plan) {
    // What is wrong with its text is said by what is expected of it.
    ScopedDiagnosticHandler quiet(loc.getContext(),
                                  [](Diagnostic &) { return success(); });
    entry.plan = parseAttribute(*plan, loc.getContext());
  }
  if (!isa_and_present<CPUPlanAttr, GPUPlanAttr, DispatchAttr>(entry.plan))
    return fail("\"plan\" to be a #kron.cpu_plan, a #kron.gpu_plan or a "
                "#kron.dispatch, but got '" +
                plan.value_or("") + "'");
  return entry;
}

namespace {
struct KronApplyRecordPass
    : kron::impl::KronApplyRecordBase<KronApplyRecordPass> {
  using KronApplyRecordBase::KronApplyRecordBase;

  void runOnOperation() override {
    std::vector<Entry> entries;
    if (failed(read(entries)))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      std::optional<Attribute> given = op->getInherentAttr(kPlanAttrName);
      if (!isa_and_present<KronDialect>(op->getDialect()) || !given || *given)
        return;
      for (const auto &[number, entry] : llvm::enumerate(entries)) {
        if (!isOf(entry, op))
          continue;
        op->setInherentAttr(StringAttr::get(&getContext(), kPlanAttrName),
                            entry.plan);
        remark::passed(op->getLoc(),
                       remark::RemarkOpts::name("Record").category("kron-plan"))
            << remark::metric("Entry", static_cast<int64_t>(number));
        return;
      }
    });
  }

private:
  LogicalResult read(std::vector<Entry> &entries) {
    Location loc = getOperation()->getLoc();
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (std::error_code error = buffer.getError())
      return emitError(loc) << "--kron-apply-record: cannot read '" << file
                            << "': " << error.message();
    llvm::Expected<llvm::json::Value> content =
        llvm::json::parse((*buffer)->getBuffer());
    if (!content)
      return emitError(loc)
             << "--kron-apply-record: '" << file
             << "' is no JSON: " << llvm::toString(content.takeError());
    const llvm::json::Array *list = content->getAsArray();
    if (!list)
      return emitError(loc)
             << "--kron-apply-record: expects '" << file << "' to be a list";
    for (const auto &[number, value] : llvm::enumerate(*list)) {
      std::optional<Entry> entry = readEntry(value, number, loc, file);
      if (!entry)
        return failure();
      entries.push_back(std::move(*entry));
    }
    return success();
  }
};
} // namespace
