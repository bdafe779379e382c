//===- MagnitudesTest.cpp - What the errors of sums are parts of ----------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "kron/Driver/Magnitudes.h"
#include "kron/Driver/Session.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::kron;

/// That of a function which calls one with a product of `type` and `precision`.
static double getEpsilon(StringRef type, StringRef precision, bool isForGPU) {
  Session session;
  auto source = llvm::cantFail(session.parse(
      llvm::formatv("func.func private @g(%x: memref<4x4x{0}>, %y: "
                    "memref<4x4x{0}>) {{\n"
                    "  kron.mkm ins(%x : memref<4x4x{0}>) factors(%x : "
                    "memref<4x4x{0}>) outs(%y : memref<4x4x{0}>) {{precision "
                    "= #kron.precision<{1}>}\n  return\n}\n"
                    "func.func @f(%x: memref<4x4x{0}>, %y: memref<4x4x{0}>) "
                    "{{\n  call @g(%x, %y) : (memref<4x4x{0}>, "
                    "memref<4x4x{0}>) -> ()\n  return\n}\n",
                    type, precision)
          .str(),
      &llvm::errs()));
  return getAllowedEpsilon(source->get().lookupSymbol<func::FuncOp>("f"),
                           isForGPU);
}

TEST(AllowedEpsilon, IsThatOfTheTargetsArithmetic) {
  EXPECT_EQ(getEpsilon("f32", "tf32", /*isForGPU=*/true), 0x1p-10);
  // Processors multiply in f32.
  EXPECT_EQ(getEpsilon("f32", "tf32", /*isForGPU=*/false), 0);
  EXPECT_EQ(getEpsilon("f32", "ieee", /*isForGPU=*/true), 0);
  // Other types have no TF32.
  EXPECT_EQ(getEpsilon("f64", "tf32", /*isForGPU=*/true), 0);
}
