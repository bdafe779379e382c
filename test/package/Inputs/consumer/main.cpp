// Transforms (1, 2, 3, 4) by ((1 1), (1 -1)) ⊗ ((1 1), (1 -1)) and prints the
// result.
#include "kernels.h"

#include <cstdio>

int main() {
  const float x[] = {1, 2, 3, 4}, f[] = {1, 1, 1, -1};
  float y[4];
  kron::check(transform(kron::View<const float>(x, {1, 4}),
                        kron::View<const float>(f, {2, 2}),
                        kron::View<float>(y, {1, 4})));
  std::printf("y = %g %g %g %g\n", y[0], y[1], y[2], y[3]);
}
