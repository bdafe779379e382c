// RUN: kron-opt %s --kron-decompose="target=cuda chip=h200" --remarks-filter=kron-decompose 2>&1 | FileCheck %s
// RUN: kron-opt %s --kron-decompose | FileCheck %s --check-prefix=CPU

// The CPU applies them one after the other.
// CPU-NOT: linalg.generic

// Verify that small factors are multiplied with each other where tensor cores then take less time than multiply-adds.
// CHECK: remark: [Passed] Grouped | Category:kron-decompose | Factors=2, Remark="8 factors are multiplied to 2: {{.*}} us instead of {{.*}} us"
// CHECK-NOT: Grouped

// CHECK-LABEL: func.func @small
// CHECK: %[[FIRST:.*]] = memref.alloc() {{.*}} : memref<81x81xbf16>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<3x3x3x3x3x3x3x3xbf16>)
// CHECK: %[[SECOND:.*]] = memref.alloc() {{.*}} : memref<81x81xbf16>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<3x3x3x3x3x3x3x3xbf16>)
// CHECK: kron.fused ins(%{{.*}}, %[[SECOND]], %[[FIRST]] : memref<81x81x1310xbf16>, memref<81x81xbf16>, memref<81x81xbf16>)
// CHECK: memref.dealloc %[[FIRST]]
// CHECK: memref.dealloc %[[SECOND]]
func.func @small(%x: memref<6561x1310xbf16>, %f: memref<3x3xbf16>, %y: memref<6561x1310xbf16>) {
  kron.kmm ins(%x : memref<6561x1310xbf16>)
    factors(T(%f), T(%f), T(%f), T(%f), T(%f), T(%f), T(%f), T(%f) : memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>,
            memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>)
    outs(%y : memref<6561x1310xbf16>)
  return
}

// Verify that the same is not where it takes longer (few columns), of f16, whose range products of factors leave, of f64,
// whose matrix instructions are no more than twice as fast as others, by IEEE products, with a plan, of an unknown number of columns, and beside a factor that is 1.
// CHECK-NOT: linalg.generic
func.func @few(%x: memref<6561x1xbf16>, %f: memref<3x3xbf16>, %y: memref<6561x1xbf16>) {
  kron.kmm ins(%x : memref<6561x1xbf16>)
    factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>,
            memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>)
    outs(%y : memref<6561x1xbf16>)
  return
}

func.func @half(%x: memref<6561x1310xf16>, %f: memref<3x3xf16>, %y: memref<6561x1310xf16>) {
  kron.kmm ins(%x : memref<6561x1310xf16>)
    factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xf16>, memref<3x3xf16>, memref<3x3xf16>, memref<3x3xf16>,
            memref<3x3xf16>, memref<3x3xf16>, memref<3x3xf16>, memref<3x3xf16>)
    outs(%y : memref<6561x1310xf16>)
  return
}

func.func @double(%x: memref<13250x2187xf64>, %f: memref<3x3xf64>, %y: memref<13250x2187xf64>) {
  kron.mkm ins(%x : memref<13250x2187xf64>)
    factors(%f, %f, %f, %f, %f, %f, %f : memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>,
            memref<3x3xf64>, memref<3x3xf64>, memref<3x3xf64>)
    outs(%y : memref<13250x2187xf64>)
  return
}

func.func @ieee(%x: memref<6561x5439xf32>, %f: memref<3x3xf32>, %y: memref<6561x5439xf32>) {
  kron.kmm ins(%x : memref<6561x5439xf32>)
    factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>,
            memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>, memref<3x3xf32>)
    outs(%y : memref<6561x5439xf32>) {precision = #kron.precision<ieee>}
  return
}

func.func @planned(%x: memref<6561x1310xbf16>, %f: memref<3x3xbf16>, %y: memref<6561x1310xbf16>) {
  kron.kmm ins(%x : memref<6561x1310xbf16>)
    factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>,
            memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>)
    outs(%y : memref<6561x1310xbf16>) {plan = #kron.gpu_plan<kernel = simt>}
  return
}

func.func @open(%x: memref<6561x?xbf16>, %f: memref<3x3xbf16>, %y: memref<6561x?xbf16>) {
  kron.kmm ins(%x : memref<6561x?xbf16>)
    factors(%f, %f, %f, %f, %f, %f, %f, %f : memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>,
            memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>, memref<3x3xbf16>)
    outs(%y : memref<6561x?xbf16>)
  return
}

func.func @one(%x: tensor<6561x1310xbf16>, %f: tensor<3x3xbf16>, %y: tensor<6561x1310xbf16>) -> tensor<6561x1310xbf16> {
  %e = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xbf16>
  %r = kron.kmm ins(%x : tensor<6561x1310xbf16>)
    factors(%f, %f, %f, %f, %f, %f, %f, %e : tensor<3x3xbf16>, tensor<3x3xbf16>, tensor<3x3xbf16>, tensor<3x3xbf16>,
            tensor<3x3xbf16>, tensor<3x3xbf16>, tensor<3x3xbf16>, tensor<3x3xbf16>)
    outs(%y : tensor<6561x1310xbf16>) -> tensor<6561x1310xbf16>
  return %r : tensor<6561x1310xbf16>
}
