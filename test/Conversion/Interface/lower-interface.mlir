// RUN: kron-opt %s --kron-lower-interface | FileCheck %s
// RUN: kron-opt %s --kron-lower-interface --kron-bufferize --canonicalize | FileCheck %s --check-prefix=BUF

// Verify that tensors become strided memrefs and that the result is computed
// straight into the out argument: no allocation, no copy.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32, strided<[?, 1], offset: ?>>, %[[A:.*]]: memref<8x4xf32, strided<[?, 1], offset: ?>>, %[[Y:.*]]: memref<?x32xf32, strided<[?, 1], offset: ?>>)
// CHECK-SAME: {access = "read", name = "x",
// CHECK-SAME: {access = "read", name = "arg1",
// CHECK-SAME: {access = "write", name = "y",
// CHECK: %[[TX:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK: %[[TY:.*]] = bufferization.to_tensor %[[Y]] restrict writable :
// CHECK: %[[R:.*]] = kron.mkm ins(%[[TX]] {{.*}} outs(%[[TY]] :
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[Y]]
// BUF-LABEL: func.func @product(
// BUF-NOT: memref.alloc
// BUF-NOT: copy
// BUF: kron.mkm ins(%{{.*}} : memref<?x64xf32
// BUF-NOT: copy
// BUF: return
func.func @product(%x: tensor<?x64xf32> {kron.name = "x"}, %a: tensor<8x4xf32>)
    -> (tensor<?x32xf32> {kron.name = "y"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x32xf32>
  %b = arith.constant dense<1.0> : tensor<8x8xf32>
  %y = kron.mkm ins(%x : tensor<?x64xf32>)
         factors(%a, %b : tensor<8x4xf32>, tensor<8x8xf32>)
         outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Verify that accumulating into a read-only argument makes it the addend.
// CHECK-LABEL: func.func @addend(
// CHECK-SAME: %[[Z:[a-z0-9]+]]: memref<9x64xf32, {{[^,]*, [^,]*, [^,]*}}, %[[Y:[a-z0-9]+]]: memref<9x64xf32
// CHECK-DAG: %[[TZ:.*]] = bufferization.to_tensor %[[Z]] restrict :
// CHECK-DAG: %[[TY:.*]] = bufferization.to_tensor %[[Y]] restrict writable :
// CHECK: outs(%[[TY]] : {{.*}} addend(%[[TZ]] :
// BUF-LABEL: func.func @addend(
// BUF-NOT: memref.alloc
// BUF-NOT: copy
// BUF: return
func.func @addend(%x: tensor<9x64xf32>, %a: tensor<8x8xf32>, %z: tensor<9x64xf32>)
    -> tensor<9x64xf32> {
  %y = kron.mkm ins(%x : tensor<9x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%z : tensor<9x64xf32>) beta(2.0 : f32) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// Verify that kron.result makes an argument the destination of a result.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: {access = "readwrite", name = "arg2",
// CHECK-NOT: name = "result"
// BUF-LABEL: func.func @in_place(
// BUF-SAME: %[[Z:[a-z0-9]+]]: memref<9x64xf32, strided<[?, 1], offset: ?>>) attributes
// BUF-NOT: memref.alloc
// BUF: kron.mkm {{.*}} outs(%[[Z]] :
// BUF-NOT: copy
// BUF: return
func.func @in_place(%x: tensor<9x64xf32>, %a: tensor<8x8xf32>,
                    %z: tensor<9x64xf32> {kron.result = 0}) -> tensor<9x64xf32> {
  %y = kron.mkm ins(%x : tensor<9x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%z : tensor<9x64xf32>) beta(2.0 : f32) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// Verify that the destination is found through reshapes.
// CHECK-LABEL: func.func @reshaped(
// CHECK: %[[VIEW:.*]] = tensor.expand_shape
// CHECK: kron.batched {{.*}} outs(%[[VIEW]] :
// BUF-LABEL: func.func @reshaped(
// BUF-NOT: memref.alloc
// BUF: %[[VIEW:.*]] = memref.expand_shape
// BUF: kron.batched {{.*}} outs(%[[VIEW]] :
// BUF-NOT: copy
// BUF: return
func.func @reshaped(%x: tensor<?x8x8xf32>, %a: tensor<8x8xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8x8xf32>
  %e = tensor.empty(%m) : tensor<?x8x8xf32>
  %y = kron.batched ins(%x : tensor<?x8x8xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x8x8xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// Verify that a returned argument is copied, and that dimensions that must be
// equal share a symbol.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: symbols = array<i32: 0, -1>
// CHECK-SAME: symbols = array<i32: 0, -1>
// BUF-LABEL: func.func @copied(
// BUF: linalg.copy
func.func @copied(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  return %x : tensor<?x64xf32>
}

// Verify that a tensor that is returned twice is computed once and copied once.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: name = "result0"
// CHECK-SAME: name = "result1"
// BUF-LABEL: func.func @twice(
// BUF-SAME: %[[Y0:[a-z0-9]+]]: memref<9x64xf32, {{[^,]*, [^,]*, [^,]*}}, %[[Y1:[a-z0-9]+]]: memref<9x64xf32, strided<[?, 1], offset: ?>>) attributes
// BUF-NOT: memref.alloc
// BUF: kron.mkm {{.*}} outs(%[[Y0]] :
// BUF-NEXT: linalg.copy ins(%[[Y0]] {{.*}} outs(%[[Y1]]
// BUF-NEXT: return
func.func @twice(%x: tensor<9x64xf32>, %a: tensor<8x8xf32>)
    -> (tensor<9x64xf32>, tensor<9x64xf32>) {
  %e = tensor.empty() : tensor<9x64xf32>
  %y = kron.mkm ins(%x : tensor<9x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y, %y : tensor<9x64xf32>, tensor<9x64xf32>
}

// Verify that functions on memrefs keep their signature and that scalars stay
// scalars.
// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME: memref<?x64xf32>, %{{.*}}: memref<8x8xf32>, %{{.*}}: memref<?x64xf32, strided<[?, ?], offset: ?>>, %{{.*}}: f32)
// CHECK-SAME: {access = "read", name = "arg0"
// CHECK-SAME: {access = "readwrite", name = "arg2"
// CHECK-SAME: type = f32
func.func @memrefs(%x: memref<?x64xf32>, %a: memref<8x8xf32>,
                   %y: memref<?x64xf32, strided<[?, ?], offset: ?>>, %beta: f32) {
  kron.mkm ins(%x : memref<?x64xf32>)
    factors(%a, %a : memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x64xf32, strided<[?, ?], offset: ?>>) beta(%beta : f32)
  return
}

// Verify that private functions are left alone.
// CHECK-LABEL: func.func private @private(
// CHECK-SAME: tensor<4xf32>) -> tensor<4xf32>
func.func private @private(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// Verify that the record of an argument has the sizes that the factors require:
// their product, or that of a constant one.
// CHECK-LABEL: func.func @required_sizes(
// CHECK-SAME: name = "x", symbols = array<i32: 0, -1>, type = memref<?x6xf32,
// CHECK-SAME: name = "v", symbols = array<i32: 1, -1>, type = memref<?x2xf32,
func.func @required_sizes(%x: tensor<?x?xf32> {kron.name = "x"}, %f: tensor<2x5xf32> {kron.name = "f"}, %g: tensor<3x1xf32> {kron.name = "g"}, %v: tensor<?x?xf32> {kron.name = "v"},
                          %init: tensor<?x5xf32> {kron.name = "init"}, %w: tensor<?x2xf32> {kron.name = "w"}) -> (tensor<?x5xf32>, tensor<?x2xf32>) {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = kron.mkm ins(%x : tensor<?x?xf32>) factors(%f, %g : tensor<2x5xf32>, tensor<3x1xf32>) outs(%init : tensor<?x5xf32>) -> tensor<?x5xf32>
  %1 = kron.mkm ins(%v : tensor<?x?xf32>) factors(%c : tensor<2x2xf32>) outs(%w : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0, %1 : tensor<?x5xf32>, tensor<?x2xf32>
}

// Verify that the size of an axis that is not there says nothing.
// CHECK-LABEL: func.func @no_axis(
// CHECK-SAME: name = "arg0", symbols = array<i32: 0, -1>
func.func @no_axis(%x: tensor<?x64xf32>, %a: tensor<8x8xf32>) -> tensor<?x64xf32> {
  %c7 = arith.constant 7 : index
  %rows = tensor.dim %x, %c7 : tensor<?x64xf32>
  %e = tensor.empty(%rows) : tensor<?x64xf32>
  %y = kron.mkm ins(%x : tensor<?x64xf32>)
         factors(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
         outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Verify that a result which no operation ties to an argument has the sizes of
// the destination that its own memory takes the place of, through a reshape too.
// CHECK-LABEL: func.func @filled(
// CHECK-SAME: name = "arg0", symbols = array<i32: 0, -1>
// CHECK-SAME: name = "result0", symbols = array<i32: 0, -1>
// CHECK-SAME: name = "result1", symbols = array<i32: 0, -1>
func.func @filled(%x: tensor<?x24xf32>) -> (tensor<?x3xf32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%rows) : tensor<?x3xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %e3 = tensor.empty(%rows) : tensor<?x2x3xf32>
  %y3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  %r = tensor.collapse_shape %y3 [[0], [1, 2]] : tensor<?x2x3xf32> into tensor<?x6xf32>
  return %y, %r : tensor<?x3xf32>, tensor<?x6xf32>
}

// Verify that a C interface that another front end asks for is the one that entries have, and not a second entry.
// CHECK-LABEL: func.func @c_interface(
// CHECK-SAME: kron.args = [
// CHECK-NOT: emit_c_interface
// CHECK: return
func.func @c_interface(%x: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
  return %x : tensor<4xf32>
}
