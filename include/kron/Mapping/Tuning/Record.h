//===- Record.h - Plans that were measured ----------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tuning record says which plan of an operation was found to be the fastest
// on which machine. Its file has JSON on lines, a record each, so that several
// processes can add to it and files can be put together with `cat`.
//
//   {"kron": 1,
//    "key": {"op": "kron.mkm", "operands": ["?x64xf32", ...],
//            "flags": "precision = ...", "epilogue": "", "rows": [197, 1024]},
//    "target": {"processor": "znver5", "isa": "x86-64-v4", "threads": 16},
//    "made": {"kron": "0.1.0", "plans": 2, "llvm": "22.1.8", "driver": ""},
//    "plan": "#kron.cpu_plan<...>", "seconds": 1.1e-4,
//    "default_seconds": 1.4e-4, "spread": 0.01, "error": 1.5e-7}
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_TUNING_RECORD_H
#define KRON_MAPPING_TUNING_RECORD_H

#include "kron/Machine/GPUMachine.h"
#include "kron/Machine/Processor.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class Attribute;
class MLIRContext;
class Operation;
} // namespace mlir

namespace mlir::kron {

/// Of the meaning of plans. To be increased when a field is removed, gets
/// another meaning, range or default; not when one is added whose default is
/// what was done before.
inline constexpr int64_t kPlanSchema = 3;

/// What an operation does, as far as its plan depends on it.
struct RecordKey {
  std::string op;
  /// Shapes, element types and layouts of operands: "?x64xf32".
  std::vector<std::string> operands;
  /// Attributes but for the plan: "precision = ..., trans_input = ...".
  std::string flags;
  /// Those of the kron.epilogue behind it, and its bias; of functions of pairs
  /// their regions, and whether one half of a matrix is the other; empty: none.
  std::string epilogue;
  /// What the first open size ("?") was from and to; none where all are known.
  std::optional<std::pair<int64_t, int64_t>> rows;

  bool operator==(const RecordKey &other) const;
  /// As remarks and lists name it: "kron.mkm 197-1024x64xf32 8x8xf32 ...".
  std::string getText() const;
};

/// The key of `op`, without rows.
RecordKey getRecordKey(Operation *op);

/// Whether `op` can carry a plan, and has none.
bool isTunable(Operation *op);

/// Rows that records tell apart: `rows` lies between them.
std::pair<int64_t, int64_t> getRowBucket(int64_t rows);

/// Whether a record for `recorded` is one for `asked`: sizes that are open in a
/// record may be known, within its rows; and strides that are open in either
/// may be those of rows one after the other in the other one, since arrays are
/// that most of the time.
bool matches(const RecordKey &recorded, const RecordKey &asked);

/// Of a record that matches: whether operands have the very same shapes, and
/// the very same layouts.
std::pair<bool, bool> getExactness(const RecordKey &recorded,
                                   const RecordKey &asked);

/// A machine, as far as the fastest plan depends on it.
struct RecordTarget {
  /// Of a GPU: its SKU, with what differs from it ("h200:sms=60"), and a hash
  /// of the limits that plans have to keep to. Rates, which differ from one
  /// calibration to the next, are in neither.
  std::string chip, description;
  /// Of a processor: LLVM's name, what the runtime chooses kernels by
  /// ("x86-64-v4"), and threads; 0: not known, any.
  std::string processor, isa;
  int64_t threads = 0;

  bool isGPU() const { return !chip.empty(); }
  bool operator==(const RecordTarget &other) const;
  /// "cpu/znver5/x86-64-v4/16" or "cuda/h200/1f2e3d4c".
  std::string getText() const;
};

/// Reads what RecordTarget::getText prints.
llvm::Expected<RecordTarget> parseRecordTarget(llvm::StringRef text);

RecordTarget getRecordTarget(const Processor &processor, int64_t threads);
RecordTarget getRecordTarget(const GPUMachine &machine);

/// Whether code for `wanted` takes records made on `made`. A portable processor
/// ("x86-64-v4") stands for all that have its instructions.
bool matches(const RecordTarget &made, const RecordTarget &wanted);

/// What measured the record.
struct RecordOrigin {
  std::string kron, llvm, driver;
  int64_t planSchema = kPlanSchema;

  /// This program, with the version of a GPU's driver, or empty.
  static RecordOrigin getOwn(llvm::StringRef driver);
};

struct Record {
  RecordKey key;
  RecordTarget target;
  RecordOrigin made;
  /// Empty: what kron chooses without a record is the fastest.
  std::string plan;
  /// Seconds of the plan and of what kron chooses without a record, half the
  /// width of the confidence interval of their quotient, and the relative L2
  /// distance of their results.
  double seconds = 0, defaultSeconds = 0, spread = 0, error = 0;

  /// One line of a file, without its end.
  std::string print() const;
};

/// Reads a line. The error says what was expected.
llvm::Expected<Record> parseRecord(llvm::StringRef line);

/// The plan of a record, which is not empty, for a GPU or a processor; null if
/// it is none, which `problem` then tells.
Attribute parseRecordPlan(llvm::StringRef plan, bool isGPU,
                          MLIRContext *context, std::string &problem);

} // namespace mlir::kron

#endif // KRON_MAPPING_TUNING_RECORD_H
