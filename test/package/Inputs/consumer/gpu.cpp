// The same transform, with code for GPUs in the program: on the processor, and
// on a GPU with arrays in host memory, which is an error with and without a
// GPU.
#include "kernels.h"

#include <cstdio>

int main() {
  const float x[] = {1, 2, 3, 4}, f[] = {1, 1, 1, -1};
  float y[4];
  kron::View<const float> xView(x, {1, 4}), fView(f, {2, 2});
  kron::View<float> yView(y, {1, 4});
  kron::check(transform(xView, fView, yView));
  std::printf("y = %g %g %g %g\n", y[0], y[1], y[2], y[3]);
  KronStatus status =
      transform_cuda(xView, fView, yView, /*kronDevice=*/0, nullptr);
  std::printf("on a GPU: %s\n", kronGetStatusName(status));
}
