/*===- main.c - The program of the slim tools ---------------------*- C -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===*/

int kronSlimMain(int argc, char **argv);

int main(int argc, char **argv) { return kronSlimMain(argc, argv); }
