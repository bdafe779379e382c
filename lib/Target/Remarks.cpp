//===- Remarks.cpp - Remarks of passes as people read them ------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Target/Remarks.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::kron;

/// The sentences of a remark, or if it has none its figures.
static std::string getText(const remark::detail::Remark &remark) {
  std::string sentences, figures;
  for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
    if (arg.key == "Remark")
      sentences += (sentences.empty() ? "" : "; ") + arg.val;
    else if (arg.key == "Reason")
      sentences += ": " + arg.val;
    else
      figures += (figures.empty() ? "" : ", ") + arg.key + " = " + arg.val;
  }
  return (remark.getCategoryName() + ": " +
          (sentences.empty() ? figures : sentences))
      .str();
}

namespace {
class DiagnosticStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    emitRemark(remark.getLocation()) << getText(remark);
  }
};
} // namespace

RemarkPrinter::RemarkPrinter(MLIRContext *context, StringRef categories)
    : context(context) {
  // One for all kinds counts only where each has one as well.
  std::string whole = ("^(" + categories + ")$").str();
  remark::RemarkCategories filters{std::nullopt, whole, whole, whole, whole};
  [[maybe_unused]] LogicalResult result = remark::enableOptimizationRemarks(
      *context, std::make_unique<DiagnosticStreamer>(),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), filters);
  assert(succeeded(result) && "only streamers of files fail");
}

RemarkPrinter::~RemarkPrinter() { context->setRemarkEngine(nullptr); }
