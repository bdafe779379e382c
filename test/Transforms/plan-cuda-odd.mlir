// RUN: kron-opt %s --kron-decompose --kron-fuse="target=cuda chip=sm_90a" \
// RUN:   --kron-plan="target=cuda chip=sm_90a cublas=false" --split-input-file | FileCheck %s

// Tiles of 16 bits of odd sizes.

// Verify that columns that are alone in memory are copied as they lie, and results go through
// shared memory.
// CHECK-LABEL: func.func @columns(
// CHECK:         kron.fused {{.*}}<kernel = wgmma, {{.*}}shared_store = 1, whole_copies = 1>
func.func @columns(%x: memref<51x6765201xf16>, %f: memref<51x51xf16>, %y: memref<51x6765201xf16>) {
  kron.kmm ins(%x : memref<51x6765201xf16>) factors(%f : memref<51x51xf16>) outs(%y : memref<51x6765201xf16>)
  return
}

// -----

// Verify that pairs come by copies of their own.
// CHECK-LABEL: func.func @pairs(
// CHECK:         kron.fused {{.*}}<kernel = wgmma
// CHECK-NOT:     whole_copies
func.func @pairs(%x: memref<50x6765202xf16>, %f: memref<50x50xf16>, %y: memref<50x6765202xf16>) {
  kron.kmm ins(%x : memref<50x6765202xf16>) factors(%f : memref<50x50xf16>) outs(%y : memref<50x6765202xf16>)
  return
}

// -----

// Verify that odd rows are not padded, and copied as they lie; even ones, of which two elements come together, not.
// CHECK-LABEL: func.func @rows(
// CHECK:         kron.fused {{.*}}<kernel = wgmma, {{.*}}whole_copies = 1>
func.func @rows(%x: memref<132651x2601xf16>, %f: memref<51x51xf16>, %y: memref<132651x2601xf16>) {
  kron.mkm ins(%x : memref<132651x2601xf16>) factors(%f, %f : memref<51x51xf16>, memref<51x51xf16>) outs(%y : memref<132651x2601xf16>)
  return
}

// -----

// CHECK-LABEL: func.func @short_rows(
// CHECK:         kron.fused {{.*}}<kernel = mma
// CHECK-NOT:     {{shared_store|whole_copies}}
func.func @short_rows(%x: memref<33688746x10xf16>, %f: memref<10x10xf16>, %y: memref<33688746x10xf16>) {
  kron.mkm ins(%x : memref<33688746x10xf16>) factors(%f : memref<10x10xf16>) outs(%y : memref<33688746x10xf16>)
  return
}

// -----

// Verify that mma.sync has results of columns of 16 bits go through shared memory, and those of f32 not.
// CHECK-LABEL: func.func @small(
// CHECK:         kron.fused {{.*}}<kernel = mma, {{.*}}shared_store = 1, whole_copies = 1>
func.func @small(%x: memref<35x300001xbf16>, %f: memref<7x7xbf16>, %g: memref<5x5xbf16>, %y: memref<35x300001xbf16>) {
  kron.kmm ins(%x : memref<35x300001xbf16>) factors(%f, %g : memref<7x7xbf16>, memref<5x5xbf16>)
    outs(%y : memref<35x300001xbf16>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// CHECK-LABEL: func.func @small_f32(
// CHECK:         kron.fused {{.*}}<kernel = mma
// CHECK-NOT:     {{shared_store|whole_copies}}
func.func @small_f32(%x: memref<35x300001xf32>, %f: memref<7x7xf32>, %g: memref<5x5xf32>, %y: memref<35x300001xf32>) {
  kron.kmm ins(%x : memref<35x300001xf32>) factors(%f, %g : memref<7x7xf32>, memref<5x5xf32>)
    outs(%y : memref<35x300001xf32>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that odd rows of f64 take the tile's place, unless a plan says otherwise, and that even ones, which
// lanes store in pairs, do not.
// CHECK-LABEL: func.func @rows(
// CHECK:         kron.fused {{.*}}<kernel = mma, {{.*}}shared_store = 1>
// CHECK-NOT:     shared_store
func.func @rows(%x: memref<5000x20xf64>, %f: memref<20x21xf64>, %g: memref<20x22xf64>, %y: memref<5000x21xf64>, %z: memref<5000x22xf64>) {
  kron.mkm ins(%x : memref<5000x20xf64>) factors(%f : memref<20x21xf64>) outs(%y : memref<5000x21xf64>) {plan = #kron.gpu_plan<kernel = mma>}
  kron.mkm ins(%x : memref<5000x20xf64>) factors(%f : memref<20x21xf64>) outs(%y : memref<5000x21xf64>) {plan = #kron.gpu_plan<kernel = mma, shared_store = 0>}
  kron.mkm ins(%x : memref<5000x20xf64>) factors(%g : memref<20x22xf64>) outs(%z : memref<5000x22xf64>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that rows of a single factor of f32 that are no multiples of a sector go through shared memory, and come as they
// lie where they are no multiples of 16 bytes, and that each of the warp groups has as many of a tile's blocks.
// CHECK-LABEL: func.func @one_factor(
// CHECK:         kron.fused {{.*}}<kernel = mma, tile = 64, threads = 256, {{.*}}step_warps = [2], shared_store = 1, whole_copies = 1>
// CHECK:         kron.fused {{.*}}<kernel = mma, tile = 128, threads = 256, {{.*}}shared_store = 1>
// CHECK:         kron.fused {{.*}}<kernel = mma
// CHECK-NOT:     {{shared_store|whole_copies}}
func.func @one_factor(%x: memref<1000000x26xf32>, %f: memref<26x54xf32>, %y: memref<1000000x54xf32>,
                      %u: memref<1000000x28xf32>, %g: memref<28x28xf32>, %h: memref<28x24xf32>, %z: memref<1000000x24xf32>) {
  kron.mkm ins(%x : memref<1000000x26xf32>) factors(%f : memref<26x54xf32>) outs(%y : memref<1000000x54xf32>)
  kron.mkm ins(%u : memref<1000000x28xf32>) factors(%g : memref<28x28xf32>) outs(%u : memref<1000000x28xf32>)
  kron.mkm ins(%u : memref<1000000x28xf32>) factors(%h : memref<28x24xf32>) outs(%z : memref<1000000x24xf32>)
  return
}

// -----

// Verify that odd rows of 16 bits go through shared memory, and that others are stored by 8 bytes where sizes allow.
// CHECK-LABEL: func.func @odd_rows(
// CHECK:         kron.fused {{.*}}<kernel = mma, {{.*}}shared_store = 1, whole_copies = 1>
// CHECK:         kron.fused {{.*}}<kernel = mma
// CHECK-NOT:     {{shared_store|whole_copies}}
func.func @odd_rows(%x: memref<8000x2197xbf16>, %f: memref<13x13xbf16>, %y: memref<8000x2197xbf16>,
                    %u: memref<8000x1728xbf16>, %g: memref<12x12xbf16>, %z: memref<8000x1728xbf16>) {
  kron.mkm ins(%x : memref<8000x2197xbf16>) factors(%f, %f, %f : memref<13x13xbf16>, memref<13x13xbf16>, memref<13x13xbf16>)
    outs(%y : memref<8000x2197xbf16>) {plan = #kron.gpu_plan<kernel = mma>}
  kron.mkm ins(%u : memref<8000x1728xbf16>) factors(%g, %g, %g : memref<12x12xbf16>, memref<12x12xbf16>, memref<12x12xbf16>)
    outs(%z : memref<8000x1728xbf16>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that of 16 bits the sizes of outer axes are not those of single elements: mma takes this.
// CHECK-LABEL: func.func @odd_outside(
// CHECK:         kron.fused {{.*}}<kernel = mma
func.func @odd_outside(%x: memref<16384x5120xf16>, %f: memref<20x20xf16>, %g: memref<16x16xf16>, %y: memref<16384x5120xf16>) {
  kron.mkm ins(%x : memref<16384x5120xf16>) factors(%f, %g, %g : memref<20x20xf16>, memref<16x16xf16>, memref<16x16xf16>)
    outs(%y : memref<16384x5120xf16>)
  return
}

// -----

// Verify that a factor of 16 bits with up to 512 rows and columns is multiplied by warpgroups, and that tiles have
// all of 19 columns where these are no power of two.
// CHECK-LABEL: func.func @large(
// CHECK:         kron.fused {{.*}}<kernel = wgmma, tile = 64, threads = 256
func.func @large(%x: memref<300000x512xf16>, %f: memref<512x512xf16>, %y: memref<300000x512xf16>) {
  kron.mkm ins(%x : memref<300000x512xf16>) factors(%f : memref<512x512xf16>) outs(%y : memref<300000x512xf16>)
  return
}

// -----

// CHECK-LABEL: func.func @few_columns(
// CHECK:         kron.fused {{.*}}<kernel = wgmma
// CHECK:         kron.fused {{.*}}<kernel = wgmma, tile = {{[23]}}, columns = 19
func.func @few_columns(%x: memref<30000x6080xbf16>, %f: memref<320x320xbf16>, %g: memref<19x19xbf16>, %y: memref<30000x6080xbf16>) {
  kron.mkm ins(%x : memref<30000x6080xbf16>) factors(%f, %g : memref<320x320xbf16>, memref<19x19xbf16>)
    outs(%y : memref<30000x6080xbf16>) {plan = #kron.gpu_plan<padded = 0>}
  return
}

// -----

// Verify that results of rows which start anywhere in sectors go through shared memory where these have columns.
// CHECK-LABEL: func.func @parts(
// CHECK:         kron.fused {{.*}}<kernel = wgmma, {{.*}}shared_store = 1
func.func @parts(%x: memref<100000x2x454xf16>, %f: memref<2x122xf16>, %y: memref<100000x122x454xf16>) {
  kron.fused ins(%x, %f : memref<100000x2x454xf16>, memref<2x122xf16>) outs(%y : memref<100000x122x454xf16>) attributes {plan = #kron.gpu_plan<kernel = wgmma>} {
  ^bb0(%tx: tensor<100000x2x454xf16>, %tf: tensor<2x122xf16>, %out: tensor<100000x122x454xf16>):
    %1 = kron.mode_product axis(1) ins(%tx : tensor<100000x2x454xf16>) factor(%tf [p, q] : tensor<2x122xf16>)
         outs(%out : tensor<100000x122x454xf16>) -> tensor<100000x122x454xf16>
    kron.yield %1 : tensor<100000x122x454xf16>
  }
  return
}


// -----

// Verify that results of a sparse factor whose neighbours are rows go through shared memory where rows start anywhere, by
// tiles of no more results than there are, and not where they start at multiples of 16 bytes.
// CHECK-LABEL: func.func @sparse_rows(
// CHECK:         kron.fused {{.*}}<kernel = sparse, {{.*}}result_tiles = 3, {{.*}}shared_store = 1>
func.func @sparse_rows(%x: memref<4477x3887xf32>, %f: memref<11x139x407x1xf32>, %y: memref<1529x3887xf32>) {
  kron.ksmm ins(%x : memref<4477x3887xf32>) weights(%f : memref<11x139x407x1xf32>) outs(%y : memref<1529x3887xf32>)
    {layout = #kron.layout<batch_last>}
  return
}

// -----

// CHECK-LABEL: func.func @sparse_whole_rows(
// CHECK:         kron.fused {{.*}}<kernel = sparse
// CHECK-NOT:     shared_store
func.func @sparse_whole_rows(%x: memref<4477x3888xf32>, %f: memref<11x139x407x1xf32>, %y: memref<1529x3888xf32>) {
  kron.ksmm ins(%x : memref<4477x3888xf32>) weights(%f : memref<11x139x407x1xf32>) outs(%y : memref<1529x3888xf32>)
    {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that mma.sync is not taken where it has many blocks of two columns, one after the other.
// CHECK-LABEL: func.func @small_blocks(
// CHECK:         kron.fused {{.*}}<kernel = simt, {{.*}}factors = 6
func.func @small_blocks(%x: memref<1650x160xf16>, %f: memref<2x2xf16>, %g: memref<5x5xf16>, %y: memref<1650x160xf16>) {
  kron.mkm ins(%x : memref<1650x160xf16>)
    factors(%f, %f, %f, %f, %g, %f : memref<2x2xf16>, memref<2x2xf16>, memref<2x2xf16>, memref<2x2xf16>, memref<5x5xf16>, memref<2x2xf16>)
    outs(%y : memref<1650x160xf16>)
  return
}

// -----

// Verify that few products of few rows are not for sparse, whose CTAs wait for a part of the factor for each of them.
// CHECK-LABEL: func.func @few_rows(
// CHECK:         kron.fused {{.*}}<kernel = simt
func.func @few_rows(%x: memref<22825x36xf32>, %f: memref<55x6x5x83xf32>, %y: memref<27390x36xf32>) {
  kron.ksmm ins(%x : memref<22825x36xf32>) weights(%f : memref<55x6x5x83xf32>) outs(%y : memref<27390x36xf32>)
    {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that no more warps share results than there are tiles of these.
// CHECK-LABEL: func.func @shared_results(
// CHECK:         kron.fused {{.*}}<kernel = mma, {{.*}}step_warps = [1, 2]
func.func @shared_results(%x: memref<1142x266xbf16>, %f: memref<133x22xbf16>, %g: memref<2x15xbf16>, %y: memref<1142x330xbf16>) {
  kron.mkm ins(%x : memref<1142x266xbf16>) factors(%f, %g : memref<133x22xbf16>, memref<2x15xbf16>)
    outs(%y : memref<1142x330xbf16>) {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// Verify that 16-bit data of odd rows come by 16 bytes.
// CHECK-LABEL: func.func @sparse_rows_f16(
// CHECK:         kron.fused {{.*}}<kernel = sparse, {{.*}}shared_store = 1, whole_copies = 1>
func.func @sparse_rows_f16(%x: memref<540x9901xf16>, %f: memref<3x120x90x2xf16>, %y: memref<720x9901xf16>) {
  kron.ksmm ins(%x : memref<540x9901xf16>) weights(%f : memref<3x120x90x2xf16>) outs(%y : memref<720x9901xf16>)
    {layout = #kron.layout<batch_last>}
  return
}

// -----

// Verify that tiles which fill the ring, without elements to spare between two, have many threads as well.
// CHECK-LABEL: func.func @full_ring(
// CHECK:         kron.fused {{.*}}<kernel = batched, {{.*}}threads = 256, ctas_per_sm = 1, stages = 2, slack = 0>
func.func @full_ring(%x: memref<11815x6561xf32>, %f: memref<9x9xf32>, %y: memref<11815x6561xf32>) {
  kron.mkm ins(%x : memref<11815x6561xf32>) factors(T(%f), T(%f), T(%f), T(%f) : memref<9x9xf32>, memref<9x9xf32>, memref<9x9xf32>, memref<9x9xf32>)
    outs(%y : memref<11815x6561xf32>)
  return
}

// -----

// Verify that mma.sync copies odd rows as they lie, too; of three factors, whose results it stores one by one, in many
// rows, warpgroups are faster.
// CHECK-LABEL: func.func @two_factors(
// CHECK:         kron.fused {{.*}}<kernel = mma, {{.*}}whole_copies = 1>
func.func @two_factors(%x: memref<236686x169xf16>, %f: memref<13x13xf16>, %y: memref<236686x169xf16>) {
  kron.mkm ins(%x : memref<236686x169xf16>) factors(%f, %f : memref<13x13xf16>, memref<13x13xf16>) outs(%y : memref<236686x169xf16>)
  return
}

// -----

// Verify that rows which something may lie between are copied element by element: what is in front of a row comes with
// its first 16 bytes.
// CHECK-LABEL: func.func @apart(
// CHECK:         kron.fused
// CHECK-NOT:     whole_copies
func.func @apart(%x: memref<236686x169xf16, strided<[?, 1]>>, %f: memref<13x13xf16>, %y: memref<236686x169xf16>) {
  kron.mkm ins(%x : memref<236686x169xf16, strided<[?, 1]>>) factors(%f, %f : memref<13x13xf16>, memref<13x13xf16>) outs(%y : memref<236686x169xf16>)
    {plan = #kron.gpu_plan<kernel = mma>}
  return
}

// -----

// CHECK-LABEL: func.func @three_factors(
// CHECK:         kron.fused {{.*}}<kernel = wgmma, {{.*}}whole_copies = 1>
func.func @three_factors(%x: memref<6137x6859xf16>, %f: memref<19x19xf16>, %y: memref<6137x6859xf16>) {
  kron.mkm ins(%x : memref<6137x6859xf16>) factors(%f, %f, %f : memref<19x19xf16>, memref<19x19xf16>, memref<19x19xf16>)
    outs(%y : memref<6137x6859xf16>)
  return
}

// -----

// Verify that results of few columns that start anywhere count as parts of sectors, which speaks against tiles of
// warpgroups that have no room for more columns.
// CHECK-LABEL: func.func @few_columns(
// CHECK-NOT:     <kernel = wgmma, tile = 1, columns = 16
// CHECK:         kron.fused {{.*}}<kernel = simt
func.func @few_columns(%x: memref<1x4548600xf32>, %f0: memref<12x92xf32>, %f1: memref<3x21xf32>, %f2: memref<5x5xf32>, %f3: memref<35x55xf32>, %f4: memref<19x5xf32>, %f5: memref<38x39xf32>, %y: memref<1x103603500xf32>) {
  kron.mkm ins(%x : memref<1x4548600xf32>) factors(%f0, %f1, %f2, %f3, %f4, %f5 : memref<12x92xf32>, memref<3x21xf32>, memref<5x5xf32>, memref<35x55xf32>, memref<19x5xf32>, memref<38x39xf32>)
    outs(%y : memref<1x103603500xf32>)
  return
}
