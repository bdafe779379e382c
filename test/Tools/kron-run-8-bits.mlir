// Verify that arrays of 8 bits run and agree with the reference, whose other arrays are f64.
// RUN: kron-run %s --entry rows --arg random:7x40:f16:1 --verify | FileCheck %s --check-prefix=ROWS
// RUN: kron-run %s --entry columns --arg random:40x7:f32:1 --verify | FileCheck %s --check-prefix=ROWS
// ROWS: verify result0: {{.*}}: ok
// ROWS: verify result1: {{.*}}: ok
// RUN: kron-run %s --entry multiply --arg random:9x32:f8E4M3FN:1 --arg random:2x4x8x2:f8E5M2:2 --arg value:0.5:f32 --verify | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: verify result: {{.*}}: ok

// Verify mode products, which no pass widens before, with one array of 8 bits and with two.
// RUN: kron-run %s --entry mode --arg random:8x4:f16:1 --arg random:4x4:f8E4M3FN:2 --verify | FileCheck %s --check-prefix=MODE
// RUN: kron-run %s --entry modes --arg random:8x4:f8E5M2:1 --arg random:4x4:f8E4M3FN:2 --verify | FileCheck %s --check-prefix=MODE
// MODE: verify arg2: {{.*}}: ok

// Verify files: bytes are values of 8 bits where these are expected. 56 is 1 and 192 is -2 in
// f8E4M3FN, 60 is 1 in f8E5M2.
// RUN: %python %S/Inputs/npy.py %t.x.npy "B=|u1" C 1x2 56 192
// RUN: %python %S/Inputs/npy.py %t.k.npy "B=|u1" C 1x1x2x1 60 60
// RUN: kron-run %s --entry small --arg %t.x.npy --arg %t.k.npy --out - | FileCheck %s --check-prefix=SMALL
// SMALL: {{^}}-1{{$}}

// Verify results of 8 bits by hand: scales 1 and 0.5 of 127, and rows of zeros and of NaN.
// RUN: %python %S/Inputs/npy.py %t.v.npy "<f4" C 4x3 127 -127 0.5 0 63.5 31.75 0 0 0 nan 1 2
// RUN: kron-run %s --entry quantize --arg %t.v.npy --out - --out - | FileCheck %s --check-prefix=HAND
// HAND: {{^}}127 -127 0{{$}}
// HAND-NEXT: {{^}}0 127 64{{$}}
// HAND-NEXT: {{^}}0 0 0{{$}}
// HAND-NEXT: {{^}}0 0 0{{$}}
// HAND: {{^}}1 0.5 0 nan{{$}}

// Verify rows without features, of which the scales are 0, no rows, and large rows of few.
// RUN: kron-run %s --entry empty --arg random:3x0:f32 --out - --out - | FileCheck %s --check-prefix=EMPTY
// EMPTY: {{^}}0 0 0{{$}}
// RUN: kron-run %s --entry rows --arg random:0x40:f16 --verify | FileCheck %s --check-prefix=ROWS
// RUN: kron-run %s --entry whole --arg random:70000x2:f64:1 --threads 2 --verify | FileCheck %s --check-prefix=ROWS

func.func @rows(%v: tensor<?x40xf16>) -> (tensor<?x40xi8>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %v, %c0 : tensor<?x40xf16>
  %q = tensor.empty(%d) : tensor<?x40xi8>
  %s = tensor.empty(%d) : tensor<?xf32>
  %0:2 = kron.quantize ins(%v : tensor<?x40xf16>) outs(%q, %s : tensor<?x40xi8>, tensor<?xf32>)
         -> tensor<?x40xi8>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x40xi8>, tensor<?xf32>
}

func.func @columns(%v: tensor<40x?xf32>) -> (tensor<40x?xf8E4M3FN>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %v, %c1 : tensor<40x?xf32>
  %q = tensor.empty(%d) : tensor<40x?xf8E4M3FN>
  %s = tensor.empty(%d) : tensor<?xf32>
  %0:2 = kron.quantize ins(%v : tensor<40x?xf32>) outs(%q, %s : tensor<40x?xf8E4M3FN>, tensor<?xf32>)
         {layout = #kron.layout<batch_last>} -> tensor<40x?xf8E4M3FN>, tensor<?xf32>
  return %0#0, %0#1 : tensor<40x?xf8E4M3FN>, tensor<?xf32>
}

func.func @quantize(%v: memref<4x3xf32>, %q: memref<4x3xi8>, %s: memref<4xf32>) {
  kron.quantize ins(%v : memref<4x3xf32>) outs(%q, %s : memref<4x3xi8>, memref<4xf32>)
  return
}

func.func @multiply(%x: tensor<?x32xf8E4M3FN>, %k: tensor<2x4x8x2xf8E5M2>, %s: f32) -> tensor<?x16xf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x32xf8E4M3FN>
  %y = tensor.empty(%d) : tensor<?x16xf16>
  %0 = kron.ksmm ins(%x : tensor<?x32xf8E4M3FN>) weights(%k : tensor<2x4x8x2xf8E5M2>)
         outs(%y : tensor<?x16xf16>) alpha(%s : f32) -> tensor<?x16xf16>
  return %0 : tensor<?x16xf16>
}

func.func @small(%x: memref<1x2xf8E4M3FN>, %k: memref<1x1x2x1xf8E5M2>, %y: memref<1x1xf32>) {
  kron.ksmm ins(%x : memref<1x2xf8E4M3FN>) weights(%k : memref<1x1x2x1xf8E5M2>) outs(%y : memref<1x1xf32>)
  return
}

func.func @mode(%x: memref<8x4xf16>, %f: memref<4x4xf8E4M3FN>, %y: memref<8x4xf16>) {
  kron.mode_product axis(1) ins(%x : memref<8x4xf16>) factor(%f [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<8x4xf16>)
  return
}

func.func @modes(%x: memref<8x4xf8E5M2>, %f: memref<4x4xf8E4M3FN>, %y: memref<8x4xf32>) {
  kron.mode_product axis(1) ins(%x : memref<8x4xf8E5M2>) factor(%f [p, q] : memref<4x4xf8E4M3FN>) outs(%y : memref<8x4xf32>)
  return
}

func.func @empty(%v: memref<?x0xf32>, %q: memref<?x0xi8>, %s: memref<?xf32>) {
  kron.quantize ins(%v : memref<?x0xf32>) outs(%q, %s : memref<?x0xi8>, memref<?xf32>)
  return
}

func.func @whole(%v: tensor<?x2xf64>) -> (tensor<?x2xi8>, tensor<2xf64>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %v, %c0 : tensor<?x2xf64>
  %q = tensor.empty(%d) : tensor<?x2xi8>
  %s = tensor.empty() : tensor<2xf64>
  %0:2 = kron.quantize ins(%v : tensor<?x2xf64>) outs(%q, %s : tensor<?x2xi8>, tensor<2xf64>)
         {layout = #kron.layout<batch_last>} -> tensor<?x2xi8>, tensor<2xf64>
  return %0#0, %0#1 : tensor<?x2xi8>, tensor<2xf64>
}
