//===- Error.cpp - Messages and names -------------------------------------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The message of the last failing call lives in a fixed buffer per thread, so
// that reporting an error (out of memory, say) cannot fail itself.
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

using namespace kron::detail;

static thread_local char lastError[1024] = "";

KronStatus kron::detail::setError(KronStatus status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(lastError, sizeof(lastError), format, arguments);
  va_end(arguments);
  return status;
}

void kron::detail::reportFatal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("kron runtime: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}

const char *kronGetLastError() { return lastError; }

const char *kronGetStatusName(KronStatus status) {
  switch (status) {
  case KRON_SUCCESS:
    return "KRON_SUCCESS";
  case KRON_INVALID_ARGUMENT:
    return "KRON_INVALID_ARGUMENT";
  case KRON_MISMATCH:
    return "KRON_MISMATCH";
  case KRON_WORKSPACE_TOO_SMALL:
    return "KRON_WORKSPACE_TOO_SMALL";
  case KRON_UNSUPPORTED:
    return "KRON_UNSUPPORTED";
  case KRON_OUT_OF_MEMORY:
    return "KRON_OUT_OF_MEMORY";
  case KRON_VERSION_MISMATCH:
    return "KRON_VERSION_MISMATCH";
  case KRON_NO_DEVICE:
    return "KRON_NO_DEVICE";
  case KRON_CUDA_ERROR:
    return "KRON_CUDA_ERROR";
  }
  return "unknown KronStatus";
}

const char *kronGetVersion() { return KRON_VERSION_STRING; }
