//===- ApplyRecords.cpp - Plans of tuning records ---------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What was found by measurement is kept in files and looked up by operation and
// machine, so that a program need not be edited to get it.
//
//===----------------------------------------------------------------------===//

#include "kron/Dialect/Kron/IR/KronOps.h"
#include "kron/Mapping/Passes.h"
#include "kron/Mapping/Tuning/RecordFile.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include <tuple>

namespace mlir::kron {
#define GEN_PASS_DEF_KRONAPPLYRECORDS
#include "kron/Mapping/Passes.h.inc"
} // namespace mlir::kron

using namespace mlir;
using namespace mlir::kron;

/// The plan that `record` has for `wanted`, null for what is chosen without
/// records; or nothing, with the reason why the record is not to be used.
static std::optional<Attribute> getPlan(const Record &record,
                                        const RecordTarget &wanted,
                                        MLIRContext *context,
                                        std::string &reason) {
  if (!matches(record.target, wanted)) {
    reason = "is of " + record.target.getText() + ", not " + wanted.getText();
    return std::nullopt;
  }
  if (record.made.planSchema != kPlanSchema) {
    reason = ("has plans of schema " + Twine(record.made.planSchema) +
              ", not " + Twine(kPlanSchema))
                 .str();
    return std::nullopt;
  }
  if (record.plan.empty())
    return Attribute();
  std::string problem;
  Attribute plan =
      parseRecordPlan(record.plan, wanted.isGPU(), context, problem);
  if (plan)
    return plan;
  reason = "has a plan that is none: " + problem;
  return std::nullopt;
}

namespace {
/// Records of one file.
struct RecordFile {
  std::string path;
  std::vector<Record> records;
};

/// What was found for an operation.
struct Choice {
  const RecordFile *file = nullptr;
  const Record *record = nullptr;
  /// Null: what is chosen without records.
  Attribute plan;
};

struct KronApplyRecordsPass
    : kron::impl::KronApplyRecordsBase<KronApplyRecordsPass> {
  using KronApplyRecordsBase::KronApplyRecordsBase;

  void runOnOperation() override {
    Location loc = getOperation()->getLoc();
    llvm::Expected<RecordTarget> wanted = parseRecordTarget(target);
    if (!wanted) {
      emitError(loc) << "--kron-apply-records: "
                     << llvm::toString(wanted.takeError());
      return signalPassFailure();
    }
    std::vector<RecordFile> known;
    for (const std::string &path : files) {
      auto records = readRecords(path, [&](const std::string &message) {
        emitWarning(loc) << message;
      });
      if (!records) {
        emitError(loc) << "--kron-apply-records: "
                       << llvm::toString(records.takeError());
        return signalPassFailure();
      }
      known.push_back({path, std::move(*records)});
    }
    getOperation()->walk([&](Operation *op) {
      if (isTunable(op))
        apply(op, known, *wanted);
    });
    // A plan out of a file may be none for its operation.
    if (failed(verify(getOperation())))
      signalPassFailure();
  }

private:
  void apply(Operation *op, ArrayRef<RecordFile> known,
             const RecordTarget &wanted) {
    RecordKey key = getRecordKey(op);
    std::string reasons;
    Choice choice;
    for (const RecordFile &file : known) {
      choice = choose(file, key, wanted, reasons);
      if (choice.record)
        break;
    }
    if (choice.record) {
      if (choice.plan)
        op->setInherentAttr(StringAttr::get(&getContext(), kPlanAttrName),
                            choice.plan);
      remark::passed(op->getLoc(),
                     remark::RemarkOpts::name("Record").category("kron-plan"))
          << (choice.plan ? "the plan is one of "
                          : "the default is the fastest plan by ") +
                 choice.file->path + ": " + choice.record->key.getText();
    } else if (!reasons.empty()) {
      remark::missed(op->getLoc(),
                     remark::RemarkOpts::name("Record").category("kron-plan"))
          << reasons;
    }
  }

  /// The record of `file` for `key`: of the very processor, of the very sizes
  /// and layouts, for the most rows, for the most threads, the newest. Adds to
  /// `reasons` why others are not used.
  Choice choose(const RecordFile &file, const RecordKey &key,
                const RecordTarget &wanted, std::string &reasons) {
    Choice best;
    auto rank = [&](const Record &record) {
      return std::tuple(record.target.processor == wanted.processor,
                        getExactness(record.key, key),
                        record.key.rows ? record.key.rows->first : 0,
                        record.target.threads);
    };
    for (const Record &record : file.records) {
      if (!matches(record.key, key) ||
          (best.record && rank(record) < rank(*best.record)))
        continue;
      std::string reason;
      if (auto plan = getPlan(record, wanted, &getContext(), reason))
        best = {&file, &record, *plan};
      else
        reasons += (reasons.empty() ? "" : "; ") +
                   ("a record of " + file.path) + " " + reason;
    }
    return best;
  }
};
} // namespace
