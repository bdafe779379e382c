//===- Names.cpp - Names that C leaves to a program -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Conversion/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::kron;

bool kron::isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static llvm::StringSet<> splitWords(StringRef text) {
  llvm::StringSet<> words;
  for (StringRef word : llvm::split(text, ' '))
    words.insert(word);
  return words;
}

bool kron::isKeyword(StringRef name) {
  static const llvm::StringSet<> keywords = splitWords(
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
      "char char16_t char32_t char8_t class co_await co_return co_yield compl "
      "concept const const_cast consteval constexpr constinit continue "
      "contract_assert decltype default delete do double dynamic_cast else "
      "enum explicit export extern false float for friend goto if inline int "
      "long mutable namespace new noexcept not not_eq nullptr operator or "
      "or_eq private protected public register reinterpret_cast requires "
      "restrict return short signed sizeof static static_assert static_cast "
      "struct switch template this thread_local throw true try typedef typeid "
      "typename typeof typeof_unqual union unsigned using virtual void "
      "volatile wchar_t while xor xor_eq");
  return keywords.contains(name);
}

/// Whether `name` is `prefix`, an underscore or a capital letter, and the rest.
static bool isOfFamily(StringRef name, StringRef prefix) {
  return name.consume_front(prefix) && !name.empty() &&
         (name.front() == '_' || llvm::isUpper(name.front()));
}

/// Types that <stddef.h> and <stdint.h> declare, which headers of kernels
/// include.
static bool isHeaderType(StringRef name) {
  static const llvm::StringSet<> types = splitWords(
      "int16_t int32_t int64_t int8_t intmax_t intptr_t ptrdiff_t size_t "
      "uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t");
  return types.contains(name);
}

/// Whether the C library has a function `name` that LLVM knows, and may replace
/// calls of or call, or that libkron_runtime calls.
static bool isLibraryName(StringRef name) {
  static const llvm::TargetLibraryInfoImpl library{
      llvm::Triple(llvm::sys::getDefaultTargetTriple())};
  static const llvm::StringSet<> ofRuntime = splitWords(
      "dladdr dlerror dlopen dlsym madvise omp_in_parallel pthread_mutex_lock "
      "pthread_mutex_unlock sched_getaffinity sched_yield stderr syscall");
  llvm::LibFunc function;
  return library.getLibFunc(name, function) || ofRuntime.contains(name);
}

std::string kron::getFunctionNameProblem(StringRef name) {
  // kronecker_product is not taken.
  if (!isIdentifier(name) || name == "kron" || isOfFamily(name, "kron"))
    return "to be a C identifier other than kron, kron_* and kron[A-Z]*";
  if (isOfFamily(name, "_"))
    return "not to be of those that C reserves, __* and _[A-Z]*";
  if (isKeyword(name))
    return "not to be a keyword of C or C++";
  if (isHeaderType(name))
    return "not to be a type of the C library";
  if (isLibraryName(name))
    return "not to be that of a function of the C library";
  return "";
}
