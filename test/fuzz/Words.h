//===- Words.h - Mutations of text, word by word ----------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef KRON_FUZZ_WORDS_H
#define KRON_FUZZ_WORDS_H

#include "Random.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::kron::fuzz {

/// A number that is likely to be a special case, as a size or a count.
int64_t pickNumber(Random &random);

/// `text` with one of its numbers or words replaced by another that may stand
/// there: a number by a number, a type by a type, a keyword by one of its kind.
std::string mutateWord(StringRef text, Random &random);

/// `text` with a few words changed, removed, repeated or exchanged.
std::string mutateWords(StringRef text, Random &random);

/// Whether MLIR's own parser crashes on `text`, which says nothing about kron.
bool crashesParser(StringRef text);

} // namespace mlir::kron::fuzz

#endif // KRON_FUZZ_WORDS_H
