// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file | FileCheck %s
// RUN: kron-opt %s --kron-decompose="target=cuda" --kron-fuse="target=cuda" --split-input-file --remark-format=emitRemark --remarks-filter=kron-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Verify that 16-bit rows of 83 are copied to rows of 88, since single elements take longer than
// copies do, and so is the factor of that axis; what lies between fused regions has such rows,
// and the first positions of the result are those of Y.
// REMARK: Padded | Category:kron-fuse | Input=88, Output=88
// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[X:.*]]: memref<852x49800xbf16>, %[[F:.*]]: memref<600x600xbf16>, %[[G:.*]]: memref<83x83xbf16>, %[[Y:.*]]: memref<852x49800xbf16>
// CHECK-DAG:     %[[YV:.*]] = memref.expand_shape %[[Y]]
// CHECK-DAG:     %[[XV:.*]] = memref.expand_shape %[[X]]
// CHECK:         %[[XP:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<852x600x88xbf16>
// CHECK:         linalg.fill ins(%{{.*}} : bf16) outs(%[[XP]]
// CHECK:         %[[XPART:.*]] = memref.subview %[[XP]][0, 0, 0] [852, 600, 83] [1, 1, 1]
// CHECK:         linalg.copy ins(%[[XV]] : {{.*}}) outs(%[[XPART]]
// CHECK:         %[[GP:.*]] = memref.alloc() {{.*}} : memref<88x88xbf16>
// CHECK:         linalg.fill ins(%{{.*}} : bf16) outs(%[[GP]]
// CHECK:         %[[GPART:.*]] = memref.subview %[[GP]][0, 0] [83, 83] [1, 1]
// CHECK:         linalg.copy ins(%[[G]] : {{.*}}) outs(%[[GPART]]
// CHECK:         %[[YP:.*]] = memref.alloc() {{.*}} : memref<852x600x88xbf16>
// CHECK:         %[[T:.*]] = memref.alloc() {{.*}} : memref<852x600x88xbf16>
// CHECK:         kron.fused ins(%[[XP]], %[[GP]] : {{.*}}) outs(%[[T]] :
// CHECK:           kron.mode_product axis(2)
// CHECK:         kron.fused ins(%[[T]], %[[F]] : {{.*}}) outs(%[[YP]] :
// CHECK:           kron.mode_product axis(1)
// CHECK:         %[[YPART:.*]] = memref.subview %[[YP]][0, 0, 0] [852, 600, 83] [1, 1, 1]
// CHECK:         linalg.copy ins(%[[YPART]] : {{.*}}) outs(%[[YV]] :
// CHECK-DAG:     memref.dealloc %[[XP]]
// CHECK-DAG:     memref.dealloc %[[GP]]
// CHECK-DAG:     memref.dealloc %[[YP]]
func.func @rows(%x: memref<852x49800xbf16>, %f: memref<600x600xbf16>, %g: memref<83x83xbf16>, %y: memref<852x49800xbf16>) {
  kron.mkm ins(%x : memref<852x49800xbf16>) factors(%f, %g : memref<600x600xbf16>, memref<83x83xbf16>) outs(%y : memref<852x49800xbf16>)
  return
}

// -----

// Verify that the padded axis is contracted first, though another order takes fewer operations:
// zeros behind it times an infinity of the other factor are NaN, and would be summed up.
// CHECK-LABEL: func @order
// CHECK:         kron.mode_product axis(2) {{.*}} : tensor<8x8xf32>)
// CHECK:         kron.mode_product axis(1) {{.*}} : tensor<3x1xf32>)
func.func @order(%x: memref<4x15xf32>, %f: memref<3x1xf32>, %g: memref<5x5xf32>, %y: memref<4x5xf32>) {
  kron.mkm ins(%x : memref<4x15xf32>) factors(%f, %g : memref<3x1xf32>, memref<5x5xf32>) outs(%y : memref<4x5xf32>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

// Verify the same on tensors, of an axis that no factor contracts, with alpha.
// CHECK-LABEL: func @columns
// CHECK-SAME:    %[[X:.*]]: tensor<9796x14795xbf16>, %[[F:.*]]: tensor<124x124xbf16>, %[[G:.*]]: tensor<79x79xbf16>, %[[ALPHA:.*]]: f32
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<124x79x14800xbf16>
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK:         %[[XP:.*]] = tensor.insert_slice %{{.*}} into %[[ZEROS]][0, 0, 0] [124, 79, 14795] [1, 1, 1]
// CHECK:         kron.fused ins(%[[XP]], %{{.*}} : tensor<124x79x14800xbf16>
// CHECK:         %[[R:.*]] = kron.fused ins(
// CHECK:           alpha(%[[ALPHA]] : f32)
// CHECK:         } -> tensor<124x79x14800xbf16>
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[R]][0, 0, 0] [124, 79, 14795] [1, 1, 1]
// CHECK:         linalg.copy ins(%[[PART]] : {{.*}}) outs(%{{.*}} : tensor<124x79x14795xbf16>)
func.func @columns(%x: tensor<9796x14795xbf16>, %f: tensor<124x124xbf16>, %g: tensor<79x79xbf16>, %alpha: f32) -> tensor<9796x14795xbf16> {
  %e = tensor.empty() : tensor<9796x14795xbf16>
  %y = kron.kmm ins(%x : tensor<9796x14795xbf16>) factors(%f, %g : tensor<124x124xbf16>, tensor<79x79xbf16>)
         outs(%e : tensor<9796x14795xbf16>) alpha(%alpha : f32) {plan = #kron.gpu_plan<padded = 1>} -> tensor<9796x14795xbf16>
  return %y : tensor<9796x14795xbf16>
}

// -----

// Verify that few rows, rows of whole accesses, an epilogue behind, Z, and plans stay as they
// lie.
// CHECK-LABEL: func @few
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @few(%x: memref<85x28137xbf16>, %f: memref<339x339xbf16>, %g: memref<83x83xbf16>, %y: memref<85x28137xbf16>) {
  kron.mkm ins(%x : memref<85x28137xbf16>) factors(%f, %g : memref<339x339xbf16>, memref<83x83xbf16>) outs(%y : memref<85x28137xbf16>)
  return
}

// -----

// CHECK-LABEL: func @whole
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @whole(%x: memref<852x29832xbf16>, %f: memref<339x339xbf16>, %g: memref<88x88xbf16>, %y: memref<852x29832xbf16>) {
  kron.mkm ins(%x : memref<852x29832xbf16>) factors(%f, %g : memref<339x339xbf16>, memref<88x88xbf16>) outs(%y : memref<852x29832xbf16>)
  return
}

// -----

// CHECK-LABEL: func @added
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @added(%x: memref<852x28137xbf16>, %f: memref<339x339xbf16>, %g: memref<83x83xbf16>, %y: memref<852x28137xbf16>) {
  kron.mkm ins(%x : memref<852x28137xbf16>) factors(%f, %g : memref<339x339xbf16>, memref<83x83xbf16>) outs(%y : memref<852x28137xbf16>) beta(1.0 : f32)
  return
}

// -----

// CHECK-LABEL: func @quantized
// CHECK-NOT:     linalg.fill
// CHECK:         kron.quantize
func.func @quantized(%x: memref<852x28137xbf16>, %f: memref<339x339xbf16>, %g: memref<83x83xbf16>, %q: memref<852x28137xi8>, %s: memref<852xf32>) {
  %y = memref.alloc() : memref<852x28137xbf16>
  kron.mkm ins(%x : memref<852x28137xbf16>) factors(%f, %g : memref<339x339xbf16>, memref<83x83xbf16>) outs(%y : memref<852x28137xbf16>)
  kron.quantize ins(%y : memref<852x28137xbf16>) outs(%q, %s : memref<852x28137xi8>, memref<852xf32>)
  memref.dealloc %y : memref<852x28137xbf16>
  return
}

// -----

// CHECK-LABEL: func @epilogue
// CHECK-NOT:     linalg.fill
// CHECK:         kron.epilogue
func.func @epilogue(%x: tensor<852x28137xbf16>, %f: tensor<339x339xbf16>, %g: tensor<83x83xbf16>) -> tensor<852x28137xbf16> {
  %e = tensor.empty() : tensor<852x28137xbf16>
  %y = kron.mkm ins(%x : tensor<852x28137xbf16>) factors(%f, %g : tensor<339x339xbf16>, tensor<83x83xbf16>) outs(%e : tensor<852x28137xbf16>) -> tensor<852x28137xbf16>
  %r = kron.epilogue ins(%y : tensor<852x28137xbf16>) outs(%e : tensor<852x28137xbf16>) {activation = #kron.activation<relu>} -> tensor<852x28137xbf16>
  return %r : tensor<852x28137xbf16>
}

// -----

// CHECK-LABEL: func @planned
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     padded
// CHECK:         kron.fused
// CHECK:         return
func.func @planned(%x: memref<852x28137xbf16>, %f: memref<339x339xbf16>, %g: memref<83x83xbf16>, %y: memref<852x28137xbf16>) {
  kron.mkm ins(%x : memref<852x28137xbf16>) factors(%f, %g : memref<339x339xbf16>, memref<83x83xbf16>) outs(%y : memref<852x28137xbf16>) {plan = #kron.gpu_plan<padded = 0>}
  return
}

// -----

// Verify that a plan has them padded whatever that takes: the transpose of X on its way, results
// that are longer, a factor that stays beside another one; what else it says stays.
// CHECK-LABEL: func @given
// CHECK:         %[[XP:.*]] = memref.alloc() {{.*}} : memref<7x5x8xf32>
// CHECK:         %[[XPART:.*]] = memref.subview %[[XP]][0, 0, 0] [7, 5, 6] [1, 1, 1]
// CHECK:         linalg.transpose ins(%{{.*}} : memref<5x6x7xf32>) outs(%[[XPART]] : {{.*}}) permutation = [2, 0, 1]
// CHECK:         memref.alloc() {{.*}} : memref<8x12xf32>
// CHECK:         memref.alloc() {{.*}} : memref<7x5x12xf32>
// CHECK-NOT:     input_permutation
// CHECK:         attributes {plan = #kron.gpu_plan<threads = 128>}
func.func @given(%x: memref<30x7xf32>, %f: memref<5x5xf32>, %g: memref<6x9xf32>, %y: memref<7x45xf32>) {
  kron.mkm ins(T(%x) : memref<30x7xf32>) factors(%f, %g : memref<5x5xf32>, memref<6x9xf32>) outs(%y : memref<7x45xf32>) {plan = #kron.gpu_plan<padded = 1, threads = 128>}
  return
}

// -----

// Verify that contracted axes which lie as one are transposed as one, and that zeros are only
// behind what is copied.
// CHECK-LABEL: func @transposed
// CHECK-SAME:    %[[X:.*]]: memref<10535x9261xf16>
// CHECK:         %[[XP:.*]] = memref.alloc() {{.*}} : memref<9261x10536xf16>
// CHECK:         %[[BEHIND:.*]] = memref.subview %[[XP]][0, 10535] [9261, 1] [1, 1]
// CHECK:         linalg.fill ins(%{{.*}} : f16) outs(%[[BEHIND]] :
// CHECK:         %[[PART:.*]] = memref.subview %[[XP]][0, 0] [9261, 10535] [1, 1]
// CHECK:         linalg.transpose ins(%{{.*}} : memref<10535x9261xf16>) outs(%[[PART]] : {{.*}}) permutation = [1, 0]
// CHECK:         %[[XV:.*]] = memref.expand_shape %[[XP]] {{\[\[}}0, 1, 2], [3]]
// CHECK:         kron.fused ins(%[[XV]],
// CHECK:         memref.dealloc %[[XP]]
func.func @transposed(%x: memref<10535x9261xf16>, %f: memref<21x21xf16>, %y: memref<9261x10535xf16>) {
  kron.kmm ins(T(%x) : memref<10535x9261xf16>) factors(%f, %f, %f : memref<21x21xf16>, memref<21x21xf16>, memref<21x21xf16>) outs(%y : memref<9261x10535xf16>) {plan = #kron.gpu_plan<padded = 1>}
  return
}

// -----

// Verify the same on tensors, of a factor along the innermost axis that makes it wider alone: X
// has whole accesses, and needs no zeros.
// CHECK-LABEL: func @wider
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<24x3x8xf16>
// CHECK-NOT:     linalg.fill {{.*}} outs(%[[E]]
// CHECK:         linalg.transpose {{.*}} outs(%{{.*}} : tensor<24x3x8xf16>) permutation = [2, 0, 1]
func.func @wider(%x: tensor<24x24xf16>, %f: tensor<3x3xf16>, %g: tensor<8x9xf16>) -> tensor<24x27xf16> {
  %e = tensor.empty() : tensor<24x27xf16>
  %y = kron.mkm ins(T(%x) : tensor<24x24xf16>) factors(%f, %g : tensor<3x3xf16>, tensor<8x9xf16>) outs(%e : tensor<24x27xf16>) {plan = #kron.gpu_plan<padded = 1>} -> tensor<24x27xf16>
  return %y : tensor<24x27xf16>
}

// -----

// Verify that the input alone is copied where its single elements take longer than the copy does, and results
// are stored as they lie.
// REMARK: Padded | Category:kron-fuse | Input=372, Output=371
// CHECK-LABEL: func @input_alone
// CHECK-SAME:    %[[X:.*]]: memref<41521x371xf32>, %{{.*}}: memref<371x371xf32>, %[[Y:.*]]: memref<41521x371xf32>
// CHECK:         %[[XP:.*]] = memref.alloc() {{.*}} : memref<41521x372xf32>
// CHECK:         linalg.copy ins(%[[X]] :
// CHECK:         %[[FP:.*]] = memref.alloc() {{.*}} : memref<372x371xf32>
// CHECK:         kron.fused ins(%[[XP]], %[[FP]] : {{.*}}) outs(%[[Y]] :
func.func @input_alone(%x: memref<41521x371xf32>, %f: memref<371x371xf32>, %y: memref<41521x371xf32>) {
  kron.mkm ins(%x : memref<41521x371xf32>) factors(%f : memref<371x371xf32>) outs(%y : memref<41521x371xf32>)
  return
}

// -----

// Verify that arrays stay as they lie where a kernel that loads their elements directly takes no longer than
// copies and another kernel do.
// CHECK-LABEL: func @loaded_directly
// CHECK-NOT:     linalg.copy
// CHECK:         kron.fused
func.func @loaded_directly(%x: memref<2088x85553xf16>, %f: memref<58x3x6x6xf16>, %y: memref<1044x85553xf16>) {
  kron.ksmm ins(%x : memref<2088x85553xf16>) weights(%f : memref<58x3x6x6xf16>) outs(%y : memref<1044x85553xf16>) {layout = #kron.layout<batch_last>}
  return
}
