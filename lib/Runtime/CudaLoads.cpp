//===- CudaLoads.cpp - Kernels that a launch lacks --------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CudaLoads.h"
#include "Error.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>

using namespace kron::detail;

void CudaLoads::add(KronCudaModule &module, const char *kernel) {
  auto isSame = [&](const Load &load) {
    return load.module == &module && !std::strcmp(load.kernel, kernel);
  };
  if (std::none_of(loads.begin(), loads.end(), isSame))
    loads.push_back({&module, kernel, KRON_SUCCESS, ""});
}

/// Takes one after the other until none is left.
void CudaLoads::work(CudaDevice &device, uint64_t contextId,
                     bool besideOthers) {
  for (size_t i; (i = next++) < loads.size();) {
    Load &load = loads[i];
    CudaFunction *function;
    load.status = getCudaFunction(device, contextId, *load.module, load.kernel,
                                  besideOthers, &function);
    if (load.status)
      load.message = kronGetLastError();
  }
}

KronStatus CudaLoads::run(CudaDevice &device, uint64_t contextId) {
  const size_t most = std::min(loads.size(), size_t(kronGetNumThreads()));
  const CudaDriver &driver = *device.driver;
  CUcontext context;
  driver.ctxGetCurrent(&context);
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < most)
      threads.emplace_back([&] {
        if (driver.ctxPushCurrent(context))
          return;
        work(device, contextId, /*besideOthers=*/true);
        CUcontext popped;
        driver.ctxPopCurrent(&popped);
      });
  } catch (const std::system_error &) {
    // As many as there are will do.
  }
  work(device, contextId, !threads.empty());
  for (std::thread &thread : threads)
    thread.join();
  for (const Load &load : loads)
    if (load.status)
      return setError(load.status, "%s", load.message.c_str());
  return KRON_SUCCESS;
}
