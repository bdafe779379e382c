"""A model of products on many GPUs: what limits them, and where they stop to scale.

usage: distributed_model.py [--check]

Prints the tables of docs/Distributed.md. With --check it compares the model with what was measured
on two H200, and fails where they are more than a fifth apart.

A product of K elements per row, M rows, on g GPUs takes

  local      the time of one GPU, divided by g
  exchange   4 K M / g (g-1)/g bytes into and out of every GPU, in f32

one after the other or, overlapped, the longer of both. Inside of a machine the exchange goes by
NVLink, whose rate depends on the size of what each GPU sends. Across machines every GPU has an
InfiniBand adapter of its own. There the exchange has two levels: GPUs of a machine first give
each other what goes to the same place in other machines, so that each sends one message per machine
instead of one per GPU.
"""

import argparse
import bisect
import math
import sys

MIB = 1 << 20
#: Measured on two H200 (NV18, NCCL 2.28.9): MiB per GPU -> GB/s each way.
NVLINK = [(16, 137), (64, 220), (256, 274), (1024, 327)]
#: Data sheets', not measured: bytes/s of an adapter of 400 Gbit/s that a program sees, and seconds
#: that a message and a collective call cost.
INFINIBAND, PER_MESSAGE, PER_CALL = 45e9, 2e-6, 15e-6
GPUS_PER_MACHINE = 8
#: Bytes/s read and written by PyTorch's packing into messages, fitted to the measured column.
PACKING = 1.9e12
#: f32 operations/s of kron on an H200 at factors of 128 (320 x 128^3), and bytes/s of its copies.
ARITHMETIC, MEMORY = 121e12, 4.26e12

#: M, P, N, one GPU in ms, local products with PyTorch's packing and exchange on two in ms: measured.
#: For 2 x 128^4 the time of one GPU comes from the arithmetic.
MEASURED = [(16, 64, 4, 1.75, 2.91), (2, 128, 4, None, 6.54), (16, 8, 8, 1.38, 3.05),
            (1, 16, 7, 2.12, 2.62)]


def bytes_of(rows, size, count):
    return 4 * rows * size**count


def one_gpu(rows, size, count):
    """Seconds of one GPU: arithmetic, or a fused region for every two factors of 16 and less
    and every one of more."""
    operations = 2 * rows * size**count * size * count
    regions = count if size > 16 else math.ceil(count / 2)
    return max(operations / ARITHMETIC, 2 * regions * bytes_of(rows, size, count) / MEMORY)


def nvlink_rate(per_gpu):
    """Bytes/s each way, between what was measured, by the logarithm of the size."""
    sizes = [math.log2(size * MIB) for size, _ in NVLINK]
    place = math.log2(max(per_gpu, 1))
    if place <= sizes[0]:
        return NVLINK[0][1] * 1e9
    if place >= sizes[-1]:
        return NVLINK[-1][1] * 1e9
    k = bisect.bisect_right(sizes, place)
    (_, low), (_, high) = NVLINK[k - 1], NVLINK[k]
    share = (place - sizes[k - 1]) / (sizes[k] - sizes[k - 1])
    return 1e9 * (low + share * (high - low))


def inside(per_gpu, gpus):
    """Seconds of an exchange among GPUs of one machine."""
    if gpus == 1:
        return 0.0
    return PER_CALL + per_gpu * (gpus - 1) / gpus / nvlink_rate(per_gpu)


def across(per_gpu, machines, messages):
    """Seconds of an exchange among machines, in which each GPU sends so many messages."""
    if machines == 1:
        return 0.0
    return (PER_CALL + messages * PER_MESSAGE
            + per_gpu * (machines - 1) / machines / INFINIBAND)


def exchange(per_gpu, gpus):
    """(seconds in two levels, seconds in one)."""
    here = min(gpus, GPUS_PER_MACHINE)
    machines = gpus // here
    # The two levels use different wires, piece by piece at the same time.
    levels = max(inside(per_gpu, here), across(per_gpu, machines, machines - 1))
    if machines == 1:
        return levels, levels
    return levels, across(per_gpu, machines, gpus - here)


def check():
    """Compares with two GPUs; the largest deviation."""
    print("| M x factors | measured, ms | model, ms | |\n|---|--:|--:|--:|")
    worst = 0
    for rows, size, count, alone, measured in MEASURED:
        whole = bytes_of(rows, size, count)
        local = (one_gpu(rows, size, count) if alone is None else alone / 1e3) / 2
        packed = 2 * whole / PACKING
        model = 1e3 * (local + packed + inside(whole / 2, 2))
        deviation = model / measured - 1
        worst = max(worst, abs(deviation))
        print(f"| {rows} x {size}^{count} | {measured:.2f} | {model:.2f} | "
              f"{100 * deviation:+.0f} % |")
    return worst


def scaling():
    print("\n| M x factors | GPUs | on each | local, ms | exchange, ms | message | in one level, ms "
          "| of linear |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for rows, size, count in ((16, 64, 4), (1, 128, 5), (1, 16, 9)):
        for gpus in (2, 8, 64, 256, 1024):
            whole = bytes_of(rows, size, count)
            per_gpu = whole / gpus
            local = one_gpu(rows, size, count) / gpus
            levels, single = exchange(per_gpu, gpus)
            message = per_gpu / max(gpus // GPUS_PER_MACHINE, 1 if gpus > 8 else gpus)
            share = local / max(local, levels)
            print(f"| {rows} x {size}^{count} | {gpus} | {readable(per_gpu)} | {1e3 * local:.3g} | "
                  f"{1e3 * levels:.3g} | {readable(message)} | {1e3 * single:.3g} | "
                  f"{100 * share:.0f} % |")


def readable(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    worst = check()
    if options.check:
        print(f"largest deviation {100 * worst:.0f} %, expected up to 20 %")
        sys.exit(worst > 0.2)
    scaling()


if __name__ == "__main__":
    main()
