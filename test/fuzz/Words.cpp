//===- Words.cpp - Mutations of text, word by word ------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"
#include <vector>

using namespace mlir;
using namespace mlir::kron::fuzz;

static constexpr int64_t kSmallNumbers[] = {0, 1,  2,  3,  4,  5,  7,  8,
                                            9, 12, 16, 31, 32, 33, 64, 128};
static constexpr int64_t kLargeNumbers[] = {-1,
                                            -2,
                                            100,
                                            127,
                                            255,
                                            256,
                                            1000,
                                            1024,
                                            4096,
                                            65536,
                                            1000003,
                                            (int64_t(1) << 31) - 1,
                                            int64_t(1) << 31,
                                            int64_t(1) << 32,
                                            int64_t(1) << 62,
                                            INT64_MAX,
                                            INT64_MIN};

/// Words that may stand where another of the same line stands.
static const std::vector<std::vector<StringRef>> kKinds = {
    {"f32", "f64", "f16", "bf16", "i32", "i64", "i8", "i1", "index", "f80",
     "f8E4M3FN", "f8E5M2", "complex<f32>", "complex<f64>"},
    {"N", "T", "C"},
    {"auto", "simt", "ffma", "mma", "wgmma", "batched", "dmma", "sparse",
     "small_groups", "chain", "gradient", "cublas", "pairwise",
     "pairwise_grad"},
    {"batch_first", "batch_last"},
    {"identity", "relu", "gelu", "silu"},
    {"full", "ieee", "tf32"},
    {"true", "false"},
    {"tensor", "memref"},
    {"vector_bits",   "tile",          "register_rows",   "register_vectors",
     "slice",         "stream_bytes",  "prefetch",        "matrix_tiles",
     "kept_fibres",   "threads",       "columns",         "ctas_per_sm",
     "stages",        "cluster",       "tiled_axis",      "packs_input",
     "rows_in_lanes", "blocks",        "staging",         "windows_ahead",
     "l1_bytes",      "l2_bytes",      "moves_innermost", "lanes",
     "packs_factor",  "factor_panels", "packs_in_tiles",  "input_panels",
     "chunk",         "sharing_rows",  "segment",         "reads_pairs",
     "along_axis",    "packed_k",      "factor_ahead",    "block_k",
     "block_q"},
    {"kron.mkm", "kron.kmm", "kron.batched", "kron.ksmm", "kron.mode_product",
     "kron.fused", "kron.epilogue", "kron.quantize", "kron.ksmm_grad",
     "kron.factor_grad", "kron.bias_grad"},
    {"alpha", "beta", "addend", "bias", "residual", "outs", "ins", "factors",
     "weights", "factor", "grad"},
    {"conj_input", "conj_factor", "conj_grad"},
    {"read", "write", "readwrite"}};

int64_t kron::fuzz::pickNumber(Random &random) {
  return random.oneIn(6) ? random.pick(kLargeNumbers)
                         : random.pick(kSmallNumbers);
}

namespace {
/// A number, a word, or a single other character.
struct Word {
  size_t begin, end;
  bool isNumber = false;
};
} // namespace

/// In "8x4xf32" the sizes and the type are words of their own.
static std::vector<Word> split(StringRef text) {
  std::vector<Word> words;
  auto isWordChar = [&](size_t i) {
    return llvm::isAlnum(text[i]) || text[i] == '_' || text[i] == '.';
  };
  for (size_t i = 0; i < text.size();) {
    Word word{i, i + 1};
    if (llvm::isDigit(text[i])) {
      word.isNumber = true;
      while (word.end < text.size() && llvm::isDigit(text[word.end]))
        ++word.end;
    } else if (llvm::isAlpha(text[i]) || text[i] == '_') {
      bool isCross = text[i] == 'x' && i > 0 &&
                     (llvm::isDigit(text[i - 1]) || text[i - 1] == '?');
      while (!isCross && word.end < text.size() && isWordChar(word.end))
        ++word.end;
    } else if (llvm::isSpace(text[i])) {
      ++i;
      continue;
    }
    words.push_back(word);
    i = word.end;
  }
  return words;
}

static std::string replaceWord(StringRef text, Word word, StringRef by) {
  return (text.take_front(word.begin) + by + text.drop_front(word.end)).str();
}

/// Another word of a kind that `word` is of; empty if it is of none.
static StringRef pickOfKind(StringRef word, Random &random) {
  for (const std::vector<StringRef> &kind : kKinds)
    if (llvm::is_contained(kind, word))
      return random.pick(kind);
  return {};
}

std::string kron::fuzz::mutateWord(StringRef text, Random &random) {
  std::vector<Word> candidates = split(text);
  llvm::erase_if(candidates, [&](Word word) {
    StringRef old = text.slice(word.begin, word.end);
    return !word.isNumber && llvm::none_of(kKinds, [&](const auto &kind) {
      return llvm::is_contained(kind, old);
    });
  });
  if (candidates.empty())
    return text.str();
  Word word = random.pick(candidates);
  if (word.isNumber)
    return replaceWord(text, word, std::to_string(pickNumber(random)));
  return replaceWord(text, word,
                     pickOfKind(text.slice(word.begin, word.end), random));
}

std::string kron::fuzz::mutateWords(StringRef text, Random &random) {
  std::string result = text.str();
  for (size_t count = 1 + random.below(3); count > 0; --count) {
    std::vector<Word> words = split(result);
    if (words.empty())
      return result;
    Word word = random.pick(words), other = random.pick(words);
    StringRef old(result);
    switch (random.below(8)) {
    case 0:
      result = replaceWord(old, word, "");
      break;
    case 1:
      result = replaceWord(old, Word{word.begin, word.begin},
                           (old.slice(word.begin, word.end) + " ").str());
      break;
    case 2:
      result = replaceWord(old, word, old.slice(other.begin, other.end).str());
      break;
    default:
      result = mutateWord(old, random);
    }
  }
  return result;
}

bool kron::fuzz::crashesParser(StringRef text) {
  // LLVM 22: the elements of a dense array have to have a width, and the parts
  // of a complex number to be floating-point.
  static const llvm::Regex types(
      "array< *(index|complex|tensor|memref)|complex\\.number<: *[^ bf]");
  if (types.match(text))
    return true;
  // What is no list of numbers behind these.
  static const llvm::Regex lists("[^_](permutation|dimensions) *= *");
  static const llvm::Regex numbers("^\\[ *(-?[0-9]+ *(, *-?[0-9]+ *)*)?\\]");
  SmallVector<StringRef> matches;
  while (lists.match(text, &matches)) {
    text = text.drop_front(matches[0].end() - text.begin());
    if (!numbers.match(text))
      return true;
  }
  return false;
}
