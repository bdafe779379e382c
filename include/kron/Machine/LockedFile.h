//===- LockedFile.h - Files of one process at a time ------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_MACHINE_LOCKEDFILE_H
#define KRON_MACHINE_LOCKEDFILE_H

#include <limits>
#include <string>

namespace mlir::kron {

/// An open file, made if it is not there, which no other process or thread has
/// locked as long as it is.
class LockedFile {
public:
  /// Waits for others that have it, `seconds` at most.
  explicit LockedFile(const std::string &path,
                      double seconds = std::numeric_limits<double>::infinity());
  LockedFile(const LockedFile &) = delete;
  ~LockedFile();

  /// For reading, and writing at the end; -1 if it cannot be opened or locked,
  /// for the reason that errno has then.
  int descriptor;
};

} // namespace mlir::kron

#endif // KRON_MACHINE_LOCKEDFILE_H
