// RUN: kron-opt %s --kron-decompose=target=cuda | FileCheck %s
// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefix=CPU

// Verify that large weights of short segments that are used as T are transposed once.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %{{.*}}: memref<?x1024xf16>, %[[K:.*]]: memref<1x1024x1024x1xf16>
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<1x1024x1024x1xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY]] : {{.*}}) permutation = [0, 2, 1, 3]
// CHECK: %[[VIEW:.*]] = memref.subview %[[COPY]]
// CHECK: kron.fused ins(%{{.*}}, %[[VIEW]] :
// CHECK: kron.mode_product {{.*}} factor(%{{.*}} [q, p] : tensor<1024x1024xf16>)
// CHECK: memref.dealloc %[[COPY]]
// CPU-NOT: linalg.transpose
func.func @large(%x: memref<?x1024xf16>, %k: memref<1x1024x1024x1xf16>, %y: memref<?x1024xf16>) {
  kron.ksmm ins(%x : memref<?x1024xf16>) weights(T(%k) : memref<1x1024x1024x1xf16>) outs(%y : memref<?x1024xf16>)
  return
}

// Verify that those whose segments are longer, that stay on chip, or meet few rows, are not.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: linalg.transpose
func.func @others(%x: memref<?x1024xf32>, %k: memref<1x64x64x16xf32>, %y: memref<?x1024xf32>,
                  %x6: memref<?x384xf32>, %k6: memref<6x64x64x1xf32>, %y6: memref<?x384xf32>,
                  %x1: memref<8x1024xf32>, %k1: memref<1x1024x1024x1xf32>, %y1: memref<8x1024xf32>) {
  kron.ksmm ins(%x : memref<?x1024xf32>) weights(T(%k) : memref<1x64x64x16xf32>) outs(%y : memref<?x1024xf32>)
  kron.ksmm ins(%x6 : memref<?x384xf32>) weights(T(%k6) : memref<6x64x64x1xf32>) outs(%y6 : memref<?x384xf32>)
  kron.ksmm ins(%x1 : memref<8x1024xf32>) weights(T(%k1) : memref<1x1024x1024x1xf32>) outs(%y1 : memref<8x1024xf32>)
  return
}

// Verify that large weights of f16 with the batch last are copied such that those of each t
// lie together, which makes them matrices for cuBLAS.
// CHECK-LABEL: func.func @by_products(
// CHECK-SAME: %{{.*}}: memref<1024x25088xf16>, %[[K:.*]]: memref<1x256x256x4xf16>
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<1x4x256x256xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY]] : {{.*}}) permutation = [0, 3, 1, 2]
// CHECK: %[[BACK:.*]] = memref.transpose %[[COPY]]
// CHECK: %[[VIEW:.*]] = memref.subview %[[BACK]]
// CHECK-SAME: strided<[256, 1, 65536]>
// CHECK: kron.fused ins(%{{.*}}, %[[VIEW]] :
// CHECK: memref.dealloc %[[COPY]]
// CPU-LABEL: func.func @by_products(
// CPU-NOT: linalg.transpose
func.func @by_products(%x: memref<1024x25088xf16>, %k: memref<1x256x256x4xf16>, %y: memref<1024x25088xf16>) {
  kron.ksmm ins(%x : memref<1024x25088xf16>) weights(%k : memref<1x256x256x4xf16>) outs(%y : memref<1024x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that groups of large weights become a loop, each of whose fused regions has the rows and
// weights of one of them.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<12288x25088xf16>, %[[K:[a-z0-9]+]]: memref<3x512x256x16xf16>, %[[Y:[a-z0-9]+]]: memref<24576x25088xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY:.*]] : memref<3x16x512x256xf16>) permutation = [0, 3, 1, 2]
// CHECK: %[[BACK:.*]] = memref.transpose %[[COPY]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c3 step
// CHECK: %[[XROW:.*]] = arith.muli %[[I]], %c4096
// CHECK: memref.subview %[[X]][%[[XROW]], 0] [4096, 25088] [1, 1]
// CHECK: %[[YROW:.*]] = arith.muli %[[I]], %c8192
// CHECK: memref.subview %[[Y]][%[[YROW]], 0] [8192, 25088] [1, 1]
// CHECK: memref.subview %[[BACK]][%[[I]], 0, 0, 0] [1, 512, 256, 16] [1, 1, 1, 1]
// CHECK: kron.fused
// CPU-LABEL: func.func @groups(
// CPU-NOT: scf.for
func.func @groups(%x: memref<12288x25088xf16>, %k: memref<3x512x256x16xf16>, %y: memref<24576x25088xf16>) {
  kron.ksmm ins(%x : memref<12288x25088xf16>) weights(%k : memref<3x512x256x16xf16>) outs(%y : memref<24576x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that the kernel for f32 takes all groups, from weights of which it reads whole sectors.
// CHECK-LABEL: func.func @by_products_f32(
// CHECK: linalg.transpose ins({{.*}}) outs({{.*}} : memref<3x16x512x256xf32>) permutation = [0, 3, 1, 2]
// CHECK-NOT: scf.for
// CHECK: kron.fused
func.func @by_products_f32(%x: memref<12288x25088xf32>, %k: memref<3x512x256x16xf32>, %y: memref<24576x25088xf32>) {
  kron.ksmm ins(%x : memref<12288x25088xf32>) weights(%k : memref<3x512x256x16xf32>) outs(%y : memref<24576x25088xf32>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that rows that are few, weights that are small, and small groups are left alone.
// CHECK-LABEL: func.func @not_by_products(
// CHECK-NOT: linalg.transpose
// CHECK-NOT: scf.for
func.func @not_by_products(%x1: memref<1024x2048xf16>, %k1: memref<1x256x256x4xf16>, %y1: memref<1024x2048xf16>,
                           %x2: memref<1024x25088xf32>, %k2: memref<1x64x64x16xf32>, %y2: memref<1024x25088xf32>,
                           %x3: memref<1024x25088xf32>, %k3: memref<1x128x128x8xf32>, %y3: memref<1024x25088xf32>,
                           %x4: memref<1024x25088xf16>, %k4: memref<2x128x128x4xf16>, %y4: memref<1024x25088xf16>) {
  kron.ksmm ins(%x1 : memref<1024x2048xf16>) weights(%k1 : memref<1x256x256x4xf16>) outs(%y1 : memref<1024x2048xf16>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x2 : memref<1024x25088xf32>) weights(%k2 : memref<1x64x64x16xf32>) outs(%y2 : memref<1024x25088xf32>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x3 : memref<1024x25088xf32>) weights(%k3 : memref<1x128x128x8xf32>) outs(%y3 : memref<1024x25088xf32>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x4 : memref<1024x25088xf16>) weights(%k4 : memref<2x128x128x4xf16>) outs(%y4 : memref<1024x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that a side of 96 is enough for f16 of one group, beside a longer one.
// CHECK-LABEL: func.func @side_of_96(
// CHECK-SAME: %{{.*}}: memref<768x25088xbf16>, %[[K:.*]]: memref<1x96x384x2xbf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%{{.*}} : memref<1x2x96x384xbf16>) permutation = [0, 3, 1, 2]
func.func @side_of_96(%x: memref<768x25088xbf16>, %k: memref<1x96x384x2xbf16>, %y: memref<192x25088xbf16>) {
  kron.ksmm ins(%x : memref<768x25088xbf16>) weights(%k : memref<1x96x384x2xbf16>) outs(%y : memref<192x25088xbf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that it is not as the K of two products, beside a short side (for two products:
// up to 341), of f32, or of several groups.
// CHECK-LABEL: func.func @not_side_of_96(
// CHECK-NOT: linalg.transpose
func.func @not_side_of_96(%x1: memref<192x25088xf16>, %k1: memref<1x384x96x2xf16>, %y1: memref<768x25088xf16>,
                          %x2: memref<384x25088xf16>, %k2: memref<1x96x96x4xf16>, %y2: memref<384x25088xf16>,
                          %x3: memref<768x25088xf32>, %k3: memref<1x96x384x2xf32>, %y3: memref<192x25088xf32>,
                          %x4: memref<1536x25088xf16>, %k4: memref<2x96x384x2xf16>, %y4: memref<384x25088xf16>,
                          %x5: memref<384x25088xf16>, %k5: memref<1x96x192x2xf16>, %y5: memref<192x25088xf16>) {
  kron.ksmm ins(%x1 : memref<192x25088xf16>) weights(%k1 : memref<1x384x96x2xf16>) outs(%y1 : memref<768x25088xf16>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x2 : memref<384x25088xf16>) weights(%k2 : memref<1x96x96x4xf16>) outs(%y2 : memref<384x25088xf16>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x3 : memref<768x25088xf32>) weights(%k3 : memref<1x96x384x2xf32>) outs(%y3 : memref<192x25088xf32>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x4 : memref<1536x25088xf16>) weights(%k4 : memref<2x96x384x2xf16>) outs(%y4 : memref<384x25088xf16>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x5 : memref<384x25088xf16>) weights(%k5 : memref<1x96x192x2xf16>) outs(%y5 : memref<192x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that those of f32 become loops over t and over blocks of results, of dense products
// of what belongs to each.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<384x25088xf32>, %[[K:[a-z0-9]+]]: memref<1x768x192x2xf32>, %[[Y:[a-z0-9]+]]: memref<1536x25088xf32>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY:.*]] : memref<1x2x768x192xf32>)
// CHECK: %[[BACK:.*]] = memref.transpose %[[COPY]]
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[ROW:.*]] = arith.muli %[[J]],
// CHECK: %[[START:.*]] = arith.addi %[[ROW]], %[[T]]
// CHECK: memref.subview %[[X]][%[[T]], 0] [192, 25088] [2, 1]
// CHECK: memref.subview %[[Y]][%[[START]], 0] [256, 25088] [2, 1]
// CHECK: memref.subview %[[BACK]][0, %[[J]], 0, %[[T]]] [1, 256, 192, 1] [1, 1, 1, 1]
// CHECK: kron.fused
// CPU-LABEL: func.func @slices(
// CPU-NOT: scf.for
func.func @slices(%x: memref<384x25088xf32>, %k: memref<1x768x192x2xf32>, %y: memref<1536x25088xf32>) {
  kron.ksmm ins(%x : memref<384x25088xf32>) weights(%k : memref<1x768x192x2xf32>) outs(%y : memref<1536x25088xf32>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that the same is done on tensors that a function reads or computes: their products
// are those of the memrefs that they will be, and what is computed for another
// operation gets memory.
// CHECK-LABEL: func.func @slices_of_tensors(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<384x25088xf32>, %{{.*}}, %[[K:[a-z0-9]+]]: memref<1x768x192x2xf32>, %[[Y:[a-z0-9]+]]: memref<1536x25088xf32>
// CHECK: kron.mode_product
// CHECK: %[[MID:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<384x25088xf32> to memref<384x25088xf32>
// CHECK: linalg.transpose ins(%[[K]] :
// CHECK: scf.for
// CHECK: memref.subview %[[MID]]
// CHECK: memref.subview %[[Y]]
// CHECK: kron.fused
// CHECK-NOT: materialize_in_destination
// CPU-LABEL: func.func @slices_of_tensors(
// CPU-NOT: to_buffer
func.func @slices_of_tensors(%x: memref<384x25088xf32>, %k0: memref<6x64x64x1xf32>, %k1: memref<1x768x192x2xf32>, %y: memref<1536x25088xf32>) {
  %tx = bufferization.to_tensor %x restrict : memref<384x25088xf32> to tensor<384x25088xf32>
  %t0 = bufferization.to_tensor %k0 restrict : memref<6x64x64x1xf32> to tensor<6x64x64x1xf32>
  %t1 = bufferization.to_tensor %k1 restrict : memref<1x768x192x2xf32> to tensor<1x768x192x2xf32>
  %ty = bufferization.to_tensor %y restrict writable : memref<1536x25088xf32> to tensor<1536x25088xf32>
  %e = tensor.empty() : tensor<384x25088xf32>
  %0 = kron.ksmm ins(%tx : tensor<384x25088xf32>) weights(%t0 : tensor<6x64x64x1xf32>) outs(%e : tensor<384x25088xf32>)
      {layout = #kron.layout<batch_last>} -> tensor<384x25088xf32>
  %1 = kron.ksmm ins(%0 : tensor<384x25088xf32>) weights(%t1 : tensor<1x768x192x2xf32>) outs(%ty : tensor<1536x25088xf32>)
      {layout = #kron.layout<batch_last>} -> tensor<1536x25088xf32>
  bufferization.materialize_in_destination %1 in restrict writable %y : (tensor<1536x25088xf32>, memref<1536x25088xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @slices_for_others(
// CHECK: %[[MID:.*]] = memref.alloc() : memref<1024x25088xf16>
// CHECK: linalg.transpose
// CHECK: kron.fused
// CHECK: bufferization.to_tensor %[[MID]] restrict writable
// CHECK: kron.mode_product
func.func @slices_for_others(%x: memref<1024x25088xf16>, %k0: memref<1x256x256x4xf16>, %k1: memref<16x64x64x1xf16>) -> tensor<1024x25088xf16> {
  %tx = bufferization.to_tensor %x restrict : memref<1024x25088xf16> to tensor<1024x25088xf16>
  %t0 = bufferization.to_tensor %k0 restrict : memref<1x256x256x4xf16> to tensor<1x256x256x4xf16>
  %t1 = bufferization.to_tensor %k1 restrict : memref<16x64x64x1xf16> to tensor<16x64x64x1xf16>
  %e = tensor.empty() : tensor<1024x25088xf16>
  %0 = kron.ksmm ins(%tx : tensor<1024x25088xf16>) weights(%t0 : tensor<1x256x256x4xf16>) outs(%e : tensor<1024x25088xf16>)
      {layout = #kron.layout<batch_last>} -> tensor<1024x25088xf16>
  %f = tensor.empty() : tensor<1024x25088xf16>
  %1 = kron.ksmm ins(%0 : tensor<1024x25088xf16>) weights(%t1 : tensor<16x64x64x1xf16>) outs(%f : tensor<1024x25088xf16>)
      {layout = #kron.layout<batch_last>} -> tensor<1024x25088xf16>
  return %1 : tensor<1024x25088xf16>
}

// Verify that tensors of which nothing is known stay tensors, and those of operations
// whose plan may be about others, too.
// CHECK-LABEL: func.func @unknown_tensors(
// CHECK-NOT: to_buffer
// CHECK: kron.mode_product
func.func @unknown_tensors(%x: tensor<1024x25088xf16>, %k: tensor<1x256x256x4xf16>) -> tensor<1024x25088xf16> {
  %e = tensor.empty() : tensor<1024x25088xf16>
  %0 = kron.ksmm ins(%x : tensor<1024x25088xf16>) weights(%k : tensor<1x256x256x4xf16>) outs(%e : tensor<1024x25088xf16>)
      {layout = #kron.layout<batch_last>} -> tensor<1024x25088xf16>
  return %0 : tensor<1024x25088xf16>
}

// CHECK-LABEL: func.func @planned_tensors(
// CHECK-NOT: to_buffer
// CHECK: kron.mode_product
func.func @planned_tensors(%x: memref<1024x25088xf16>, %k: memref<1x256x256x4xf16>) -> tensor<1024x25088xf16> {
  %tx = bufferization.to_tensor %x restrict : memref<1024x25088xf16> to tensor<1024x25088xf16>
  %tk = bufferization.to_tensor %k restrict : memref<1x256x256x4xf16> to tensor<1x256x256x4xf16>
  %e = tensor.empty() : tensor<1024x25088xf16>
  %0 = kron.ksmm ins(%tx : tensor<1024x25088xf16>) weights(%tk : tensor<1x256x256x4xf16>) outs(%e : tensor<1024x25088xf16>)
      {layout = #kron.layout<batch_last>, plan = #kron.gpu_plan<regions = [1]>} -> tensor<1024x25088xf16>
  return %0 : tensor<1024x25088xf16>
}

// Verify that an unknown number of rows decides at run time.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1024x?xf32>, %[[K:[a-z0-9]+]]: memref<1x256x256x4xf32>, %[[Y:[a-z0-9]+]]: memref<1024x?xf32>
// CHECK: %[[ROWS:.*]] = memref.dim %[[Y]]
// CHECK: %[[REST:.*]] = arith.remui %[[ROWS]], %c8
// CHECK: %[[MANY:.*]] = arith.cmpi uge, %[[ROWS]], %c16384
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[MANY]], %[[EVEN]] {kron.requires = {min_rows = 16384 : i64, row_unit = 8 : i64}}
// CHECK: scf.if %[[BOTH]] {
// CHECK: linalg.transpose
// CHECK: scf.for
// CHECK: memref.subview %[[X]][%{{.*}}, 0] [256, %{{.*}}] [4, 1]
// CHECK: kron.fused
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK: kron.fused
func.func @unknown_rows(%x: memref<1024x?xf32>, %k: memref<1x256x256x4xf32>, %y: memref<1024x?xf32>) {
  kron.ksmm ins(%x : memref<1024x?xf32>) weights(%k : memref<1x256x256x4xf32>) outs(%y : memref<1024x?xf32>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that rows of copied weights start at multiples of 16 bytes.
// CHECK-LABEL: func.func @padded(
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<1x32x448x904xf16>
// CHECK: %[[PART:.*]] = memref.subview %[[COPY]][0, 0, 0, 0] [1, 32, 448, 898] [1, 1, 1, 1]
// CHECK: linalg.transpose ins(%{{.*}}) outs(%[[PART]] : {{.*}}) permutation = [0, 3, 1, 2]
// CHECK: kron.fused
// CHECK: memref.dealloc %[[COPY]]
func.func @padded(%x: memref<28736x25088xf16>, %k: memref<1x448x898x32xf16>, %y: memref<14336x25088xf16>) {
  kron.ksmm ins(%x : memref<28736x25088xf16>) weights(%k : memref<1x448x898x32xf16>) outs(%y : memref<14336x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that weights that are used as T are copied once, into the order of products.
// CHECK-LABEL: func.func @transposed_by_products(
// CHECK-SAME: %{{.*}}, %[[K:[a-z0-9]+]]: memref<1x192x768x2xf16>
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}}: memref<1x2x768x192xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY]] : {{.*}}) permutation = [0, 3, 2, 1]
// CHECK-NOT: linalg.transpose
// CHECK: kron.fused
func.func @transposed_by_products(%x: memref<384x25088xf16>, %k: memref<1x192x768x2xf16>, %y: memref<1536x25088xf16>) {
  kron.ksmm ins(%x : memref<384x25088xf16>) weights(T(%k) : memref<1x192x768x2xf16>) outs(%y : memref<1536x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that large arrays of many groups become a loop over t, each of whose fused regions has the
// products of all groups, from a copy of weights by products.
// CHECK-LABEL: func.func @by_t(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<24576x25088xf16>, %[[K:[a-z0-9]+]]: memref<48x128x128x4xf16>, %[[Y:[a-z0-9]+]]: memref<24576x25088xf16>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}}) outs(%[[COPY:.*]] : memref<48x4x128x128xf16>) permutation = [0, 3, 1, 2]
// CHECK: %[[BACK:.*]] = memref.transpose %[[COPY]]
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %c4{{.*}} step
// CHECK: memref.subview %[[X]][%[[T]], 0] [6144, 25088] [4, 1]
// CHECK: memref.subview %[[Y]][%[[T]], 0] [6144, 25088] [4, 1]
// CHECK: memref.subview %[[BACK]][0, 0, 0, %[[T]]] [48, 128, 128, 1] [1, 1, 1, 1]
// CHECK: kron.fused
// CHECK-NOT: kron.fused
// CHECK: return
func.func @by_t(%x: memref<24576x25088xf16>, %k: memref<48x128x128x4xf16>, %y: memref<24576x25088xf16>) {
  kron.ksmm ins(%x : memref<24576x25088xf16>) weights(%k : memref<48x128x128x4xf16>) outs(%y : memref<24576x25088xf16>)
      {layout = #kron.layout<batch_last>}
  return
}

// Verify that weights that tiles read in single elements are copied where they are many, of
// all groups together (and then of whole sectors), or of one.
// CHECK-LABEL: func.func @many_weights(
// CHECK: linalg.transpose {{.*}} outs({{.*}} : memref<1x32x96x384xf32>)
// CHECK-NOT: scf.for
// CHECK: kron.fused
// CHECK: linalg.transpose {{.*}} outs({{.*}} : memref<16x4x512x512xf32>)
// CHECK-NOT: scf.for
// CHECK: kron.fused
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @many_weights(%x: memref<12288x25088xf32>, %k: memref<1x96x384x32xf32>, %y: memref<3072x25088xf32>,
                        %x1: memref<32768x25088xf32>, %k1: memref<16x512x512x4xf32>, %y1: memref<32768x25088xf32>,
                        %x2: memref<16384x25088xf32>, %k2: memref<16x64x64x16xf32>, %y2: memref<16384x25088xf32>) {
  kron.ksmm ins(%x : memref<12288x25088xf32>) weights(%k : memref<1x96x384x32xf32>) outs(%y : memref<3072x25088xf32>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x1 : memref<32768x25088xf32>) weights(%k1 : memref<16x512x512x4xf32>) outs(%y1 : memref<32768x25088xf32>)
      {layout = #kron.layout<batch_last>}
  kron.ksmm ins(%x2 : memref<16384x25088xf32>) weights(%k2 : memref<16x64x64x16xf32>) outs(%y2 : memref<16384x25088xf32>)
      {layout = #kron.layout<batch_last>}
  return
}
