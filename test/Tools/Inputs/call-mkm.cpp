// Calls the kernel of mkm.mlir.

#include "mkm.h"
#include <cstdio>

int main() {
  const float x[] = {1, 2, 3, 4, 0, 0, 0, 1}, a[] = {1, 2, 3, 4},
              b[] = {1, 0, 1, 1};
  float y[8];
  kron::check(mkm(
      kron::View<const float>(x, {2, 4}), kron::View<const float>(a, {2, 2}),
      kron::View<const float>(b, {2, 2}), kron::View<float>(y, {2, 4})));
  for (float value : y)
    std::printf("%g ", value);
  KronStatus status =
      mkm(static_cast<const KronArray *>(nullptr), nullptr, nullptr, nullptr);
  std::printf("\n%s: %s\n", kronGetStatusName(status), kronGetLastError());
}
