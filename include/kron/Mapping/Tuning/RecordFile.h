//===- RecordFile.h - Files of tuning records -------------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MAPPING_TUNING_RECORDFILE_H
#define KRON_MAPPING_TUNING_RECORDFILE_H

#include "kron/Mapping/Tuning/Record.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::kron {

/// What stands in lists of files for the records that are part of kron.
inline constexpr llvm::StringLiteral kShippedRecords = "<kron>";

/// Called with "FILE:LINE: ..." for each line that is no record.
using RecordWarning = llvm::function_ref<void(const std::string &)>;

/// The records of a file, in its order. Lines that are none are skipped, each
/// with a warning: nothing of a file is ever executed. An error says why the
/// file cannot be read.
llvm::Expected<std::vector<Record>> readRecords(llvm::StringRef path,
                                                RecordWarning warn);

/// The same of the lines of `text`, which `name` stands for in warnings.
std::vector<Record> parseRecords(llvm::StringRef text, llvm::StringRef name,
                                 RecordWarning warn);

/// Adds records to the end of a file, which is created where it is not there,
/// with its folder. All are written at once and under a lock, so that processes
/// may add to one file together; one that is killed leaves a part of its own
/// lines at most, which is made a line of its own by the next.
llvm::Error appendRecords(llvm::StringRef path, llvm::ArrayRef<Record> records);

/// Whether `appendRecords` could write there; the error says why not.
llvm::Error checkRecordOutput(llvm::StringRef path);

/// The last of the records for each key and target, in the order of the first
/// ones.
std::vector<Record> mergeRecords(llvm::ArrayRef<Record> records);

/// Files that plans are looked up in unless something else is said: those that
/// KRON_RECORDS names (with ':' between them), then that of the user's cache,
/// as far as they are there, then kron's own if they may be of this machine and
/// so many threads.
std::vector<std::string> getDefaultRecordFiles(int32_t numThreads);

/// Whether kron has records of its own for so many threads of `processor`, or
/// for any GPU.
bool hasShippedRecords(llvm::StringRef processor, int32_t numThreads);

/// An error for the first of `files` that cannot be read.
llvm::Error checkRecordFiles(llvm::ArrayRef<std::string> files);

/// The file of the user's cache, `records.jsonl`; empty where there is no
/// cache.
std::string getUserRecordFile();

} // namespace mlir::kron

#endif // KRON_MAPPING_TUNING_RECORDFILE_H
