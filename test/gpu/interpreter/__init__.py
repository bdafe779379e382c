"""An interpreter of PTX, which runs compiled kernels where there is no GPU.

`driver` stands in for the CUDA driver, so that the host code of a compiled program launches its
kernels here. `parser` reads PTX, `code` and `tensor` make NumPy statements of instructions that
work on all threads at once, `machine` schedules the threads, `shared` and `memory` are what they
read and write and notice what they must not do.

SPDX-License-Identifier: MIT
"""
