/*===- FromC.c - The headers are C ---------------------------------*- C
-*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===*/

#include "kron/Runtime/IRInterface.h"
#include "kron/Runtime/Runtime.h"

static void negate(const KronArray *args) {
  *(double *)args[1].data = -*(const double *)args[0].data;
}

static const KronArgInfo args[] = {
    {"x", KRON_F64, 0, KRON_READ, 0, 0, NULL, NULL},
    {"y", KRON_F64, 0, KRON_WRITE, 0, 0, NULL, NULL},
};
static const KronVersion versions[] = {{KRON_ISA_HOST, negate, 0, 0, NULL}};
static const KronKernel kernel = {KRON_API_VERSION, 2, "negate", args, 1, 0,
                                  versions};

/** A kernel on scalars, as a C program has it. Returns 0 if it ran right. */
int kronTestFromC(void);
int kronTestFromC(void) {
  double x = 4.5, y = 0;
  KronArray arrays[] = {{&x, NULL, NULL, 0, KRON_F64},
                        {&y, NULL, NULL, 0, KRON_F64}};
  if (kronLaunch(&kernel, arrays, 2, NULL) != KRON_SUCCESS)
    return 1;
  return y == -4.5 ? 0 : 2;
}
