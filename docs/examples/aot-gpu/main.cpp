// A program with a kernel for the processor and for GPUs, compiled ahead of
// time: Y = X (F1 (x) F2) on both, and how far the two results are apart.
//
//   aot_gpu ROWS

#include "mkm.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

static void check(cudaError_t error) {
  if (error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
}

/// A copy of an array in the GPU's memory.
class DeviceArray {
public:
  explicit DeviceArray(const std::vector<float> &values)
      : count(values.size()) {
    check(cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(float)));
    check(cudaMemcpy(data, values.data(), count * sizeof(float),
                     cudaMemcpyDefault));
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  std::vector<float> read() const {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), data, count * sizeof(float),
                     cudaMemcpyDefault));
    return values;
  }

  float *data = nullptr;
  size_t count;
};

/// Numbers in [-1, 1) that look random.
static std::vector<float> makeNumbers(int64_t count, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return values;
}

// [call]
static std::vector<float> multiplyOnGpu(int64_t rows,
                                        const std::vector<float> &x,
                                        const std::vector<float> &f1,
                                        const std::vector<float> &f2,
                                        cudaStream_t stream) {
  DeviceArray dx(x), df1(f1), df2(f2), dy(std::vector<float>(x.size()));
  // In the order of the stream; returns at once.
  kron::check(mkm_cuda(kron::View<const float>(dx.data, {rows, 64}),
                       kron::View<const float>(df1.data, {8, 8}),
                       kron::View<const float>(df2.data, {8, 8}),
                       kron::View<float>(dy.data, {rows, 64}), /*kronDevice=*/0,
                       stream));
  check(cudaStreamSynchronize(stream));
  return dy.read();
}
// [/call]

int main(int argc, char **argv) try {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1000;
  const std::vector<float> x = makeNumbers(rows * 64, 1),
                           f1 = makeNumbers(64, 2), f2 = makeNumbers(64, 3);
  std::vector<float> y(x.size());
  kron::check(mkm(kron::View<const float>(x.data(), {rows, 64}),
                  kron::View<const float>(f1.data(), {8, 8}),
                  kron::View<const float>(f2.data(), {8, 8}),
                  kron::View<float>(y.data(), {rows, 64})));
  std::printf("processor: %g %g %g ...\n", y.at(0), y.at(1), y.at(2));

  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  const std::vector<float> onGpu = multiplyOnGpu(rows, x, f1, f2, stream);
  std::printf("GPU:       %g %g %g ...\n", onGpu.at(0), onGpu.at(1),
              onGpu.at(2));
  double error = 0, norm = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    error += std::pow(double(y[i]) - double(onGpu[i]), 2);
    norm += std::pow(double(y[i]), 2);
  }
  std::printf("relative difference: %.1e\n", std::sqrt(error / norm));
  return std::sqrt(error / norm) < 1e-5 ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "aot_gpu: error: %s\n", error.what());
  return 1;
}
