// Verify that attributes which only the pipelines write are read with care.
// RUN: split-file %s %t
// RUN: not kronc %t/list.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not kronc %t/entry.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not kronc %t/symbols.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// RUN: not kronc %t/element.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not kronc %t/access.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=ACCESS
// RUN: not kronc %t/bytes.mlir -o %t/out.o 2>&1 | FileCheck %s --check-prefix=BYTES

// LIST: error: 'llvm.func' op expects kron.args to be a list, but got 3 : i64
// ENTRY: error: 'llvm.func' op expects entry 0 of kron.args to have name, type, access and a symbol for every dimension, but got 7 : i64
// SYMBOLS: error: 'llvm.func' op expects entry 0 of kron.args to have name, type, access and a symbol for every dimension, but got {access = "read"
// ELEMENT: error: 'llvm.func' op expects entry 0 of kron.args to have name, type, access and a symbol for every dimension, but got {access = "read"
// ACCESS: error: 'llvm.func' op expects entry 0 of kron.args to have name, type, access and a symbol for every dimension, but got {access = "none"
// BYTES: error: 'llvm.func' op expects kron.thread_bytes to be an i64 of at least 0, but got -1 : i64

//--- list.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = 3 : i64}
//--- entry.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = [7 : i64]}
//--- symbols.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = [{access = "read", name = "x", symbols = array<i8: -1>, type = memref<2xf32>}]}
//--- element.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = [{access = "read", name = "x", symbols = array<i32: -1>, type = memref<2xi1>}]}
//--- access.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = [{access = "none", name = "x", symbols = array<i32: -1>, type = memref<2xf32>}]}
//--- bytes.mlir
func.func @f(%x: memref<2xf32>) { return }
llvm.func @g(!llvm.ptr) attributes {kron.args = [], kron.thread_bytes = -1 : i64}
