"""Products on several GPUs beside one, and beside PyTorch's way.

usage: torchrun --nproc-per-node G docs/benchmarks/distributed.py [--device cuda|cpu]
           [--only rows,modes,larger,weak-rows,weak-modes,rates] [--types f32,f64] [--scale N]
           [--pieces N] [--out FILE]

X is [M, P1, ..., PN], and each process has a part of it: of its rows, or of its first mode.

  kron      kron.distributed.mkm: one exchange, while factors are applied
  no overlap   the same with the exchange in one piece
  PyTorch   tensordot for every axis, and one all_to_all_single in between (none for rows)
  one GPU   kron.mkm on one GPU, by rank 0 alone: of the whole product, in weak tables, whose
            products grow with the number of processes, of one process's share of the rows
  local     the products of one process, on arrays of as many elements, without an exchange
  rate      NCCL's all_to_all_single of as many bytes, each way, in GB/s
  bound     the longer of `local` and of the exchange at that rate

Times are medians over rounds, in which the candidates take turns; each is the time until all
processes are done, of several calls back to back (SAMPLE_MS in all), so that what starting together
costs is no part of it. Bytes are counted where they are handed to NCCL, or to copy engines that
write to another GPU. Errors are relative ones in the Euclidean norm, of rank 0's part against float64.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import time

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard, init_device_mesh

import kron
import kron.distributed as kd
from kron.distributed import _arguments, _peers, _pieces

#: (M, sizes); the goals are milliseconds in f32 on 2 H200.
ROWS = [(1024, (64,) * 3), (320, (128,) * 3)]
MODES = [(16, (64,) * 4), (2, (128,) * 4), (16, (8,) * 8), (1, (16,) * 7), (1, (128,) * 4)]
LARGER = [(64, (64,) * 4), (4, (128,) * 4), (64, (8,) * 8), (4, (16,) * 7)]
#: M for each process.
WEAK_MODES = [(8, (64,) * 4), (1, (128,) * 4), (8, (8,) * 8)]
#: MiB of each process that NCCL exchanges.
RATES = [16, 64, 256, 1024]
SAMPLE_MS, MOST_REPEATS = 20, 20
TYPES = {"f32": torch.float32, "f64": torch.float64}


class Place:
    """This process, its device and its clock."""

    def __init__(self, device, rounds):
        self.device, self.rounds = device, rounds
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.mesh = init_device_mesh(device, (self.world,))

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def all(self, value, operation=dist.ReduceOp.MAX):
        result = torch.tensor([float(value)], dtype=torch.float64, device=self.device)
        dist.all_reduce(result, operation)
        return result.item()

    def release(self):
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def times(self, ways):
        """Milliseconds of each function until all processes are done; they take turns."""
        records = {name: [] for name in ways}
        repeats = dict.fromkeys(ways, 1)
        for number in range(self.rounds + 2):
            for name, way in ways.items():
                dist.barrier()
                elapsed = self.all(self.once(way, repeats[name])) / repeats[name]
                if number >= 2:
                    records[name].append(elapsed)
                elif number == 1:
                    repeats[name] = self.repeats(elapsed)
        return {name: statistics.median(record) for name, record in records.items()}

    def once(self, way, repeats):
        """Milliseconds of calls back to back."""
        self.synchronize()
        begin = time.perf_counter()
        for _ in range(repeats):
            way()
        self.synchronize()
        return 1e3 * (time.perf_counter() - begin)

    @staticmethod
    def repeats(elapsed):
        return max(1, min(MOST_REPEATS, int(SAMPLE_MS / elapsed)))

    def alone(self, way):
        """Milliseconds of a function on rank 0; the others wait."""
        dist.barrier()
        if self.rank:
            return self.all(0)
        self.once(way, 1)
        repeats = self.repeats(self.once(way, 1))
        record = [self.once(way, repeats) / repeats for _ in range(self.rounds)]
        return self.all(statistics.median(record))


def local_by_tensordot(x, factors, axes):
    for axis in axes:
        x = torch.tensordot(x, factors[axis - 1], ([axis], [0])).movedim(-1, axis)
    return x


def by_pytorch(x, factors, world):
    """With mode 1 divided: tensordot for every other axis, an exchange to mode 2, and axis 1."""
    count = len(factors)
    x = local_by_tensordot(x, factors, range(2, count + 1))
    rows, own, second, *rest = x.shape
    send = x.reshape(rows, own, world, second // world, *rest).movedim(2, 0).contiguous()
    received = torch.empty_like(send)
    dist.all_to_all_single(received, send)
    x = received.movedim(0, 1).reshape(rows, world * own, second // world, *rest)
    return local_by_tensordot(x, factors, [1])


class Counter:
    """Bytes that this process hands to torch.distributed for others, or writes to their memory."""

    def __enter__(self):
        self.bytes, self.batch = 0, dist.batch_isend_irecv
        self.single, self.send = dist.all_to_all_single, _peers.Peers.send

        def batch(operations):
            self.bytes += sum(o.tensor.numel() * o.tensor.element_size() for o in operations
                              if o.op is dist.isend)
            return self.batch(operations)

        def single(output, send, received_sizes, sizes, group=None, **options):
            own = dist.get_rank(group)
            self.bytes += send.element_size() * sum(n for r, n in enumerate(sizes) if r != own)
            return self.single(output, send, received_sizes, sizes, group=group, **options)

        def send(peers, number, boxes, *arguments, **options):
            self.bytes += sum(box.LineBytes * box.Lines * box.Planes
                              for rank, (box, _, _) in boxes.items() if rank != peers.rank)
            return self.send(peers, number, boxes, *arguments, **options)

        dist.batch_isend_irecv, dist.all_to_all_single = batch, single
        _peers.Peers.send = send
        return self

    def __exit__(self, *error):
        dist.batch_isend_irecv, dist.all_to_all_single = self.batch, self.single
        _peers.Peers.send = self.send


def in_one_piece(call):
    def way():
        before, _pieces.MOST_PIECES = _pieces.MOST_PIECES, 1
        try:
            return call()
        finally:
            _pieces.MOST_PIECES = before

    return way


def error(actual, exact):
    return float(torch.linalg.vector_norm(actual.double() - exact)
                 / torch.linalg.vector_norm(exact).clamp(min=1e-300))


def exact_part(place, x, factors, axis, dtype):
    """Rank 0's part of the result's `axis` in float64 for some of the rows, by all processes."""
    wide = [factor.double() for factor in factors]
    part = DTensor.from_local(x.double(), place.mesh, [Shard(axis)], run_check=False)
    return local_by_tensordot(part.full_tensor(), wide, range(1, len(factors) + 1))


def random_part(place, rows, sizes, axis, dtype):
    shape = [rows, *sizes]
    shape[axis] //= place.world
    generator = torch.Generator(place.device).manual_seed(place.rank)
    return torch.randn(shape, dtype=dtype, device=place.device, generator=generator)


def measure(place, rows, sizes, kind, name, alone_rows):
    """One row of the table; one GPU alone takes `alone_rows` of the rows."""
    dtype, world = TYPES[name], place.world
    axis = 0 if kind == "rows" else 1
    if (rows if axis == 0 else sizes[0]) % world or (axis and sizes[1] % world):
        return None
    generator = torch.Generator(place.device).manual_seed(1000)
    factors = [torch.randn(n, n, dtype=dtype, device=place.device, generator=generator)
               / math.sqrt(n) for n in sizes]
    part = random_part(place, rows, sizes, axis, dtype)
    x = DTensor.from_local(part, place.mesh, [Shard(axis)], run_check=False)
    bytes_of_x = rows * math.prod(sizes) * dtype.itemsize
    with torch.no_grad():
        with Counter() as sent:
            y = kd.mkm(x, factors)
        formula = bytes_of_x * (world - 1) // world if axis else 0
        row = {"kind": kind, "rows": rows, "sizes": sizes, "type": name,
               "one_gpu_rows": alone_rows,
               "bytes_on_the_wire": int(place.all(sent.bytes, dist.ReduceOp.SUM)),
               "bytes_by_formula": formula}
        if kind == "rows":
            by_torch = lambda: local_by_tensordot(part, factors, range(1, len(sizes) + 1))
        else:
            by_torch = lambda: by_pytorch(part, factors, world)
        plan = _arguments.checked(x, factors, None, None, False, False)[2]
        count = len(plan.after) if axis else 0
        flat = part.reshape(-1, math.prod(sizes[count:])) if axis else part.flatten(1)
        buffers = {}

        def local():
            """What one process applies on both sides of the exchange, to arrays of these sizes."""
            z = kron.mkm(flat, factors[count:])
            if axis:
                kron.kmm(z.view(rows, math.prod(sizes[:count]), -1), factors[:count],
                         trans_factors=True)

        ways = {"kron": lambda: kd.mkm(x, factors), "pytorch": by_torch, "local": local}
        if axis:
            ways["no overlap"] = in_one_piece(lambda: kd.mkm(x, factors))
            # As many bytes as one process exchanges, its own share among them.
            buffers["send"] = torch.empty_like(flat)
            buffers["received"] = torch.empty_like(flat)
            ways["exchange"] = lambda: dist.all_to_all_single(
                buffers["received"].view(-1), buffers["send"].view(-1))
        row["ms"] = place.times(ways)
        if axis:
            row["to"] = plan.target
        row["error"] = errors_of(place, x, y, factors, axis, by_torch, bytes_of_x)
        buffers.clear()
        del x, y, part, flat
        place.release()
        if bytes_of_x // rows * alone_rows * 3 < free_bytes(place):
            whole = None
            if place.rank == 0:
                whole = torch.randn(alone_rows, math.prod(sizes), dtype=dtype, device=place.device)
            row["ms"]["one GPU"] = place.alone(lambda: kron.mkm(whole, factors))
            del whole
            place.release()
    if axis:
        moved = bytes_of_x / world * (world - 1) / world
        row["rate_gb_s"] = moved / row["ms"]["exchange"] / 1e6
        row["ms"]["bound"] = max(row["ms"]["local"], row["ms"]["exchange"])
    return row


def rate(place, mib):
    """What NCCL's all-to-all moves each way with so many MiB of each process."""
    send = torch.zeros(mib << 18, dtype=torch.float32, device=place.device)
    received = torch.empty_like(send)
    ms = place.times({"exchange": lambda: dist.all_to_all_single(received, send)})["exchange"]
    return {"mib": mib, "ms": ms,
            "gb_s": (mib << 20) * (place.world - 1) / place.world / ms / 1e6}


def errors_of(place, x, y, factors, axis, by_torch, bytes_of_x):
    """Of rank 0's part, where the whole of x fits in float64 on each device."""
    wide = bytes_of_x // x.dtype.itemsize * 8
    if 6 * wide > free_bytes(place):
        return None
    exact = exact_part(place, x.to_local(), factors, axis, x.dtype)
    part = exact.tensor_split(place.world, y.placements[0].dim)[place.rank]
    result = {"kron": place.all(error(y.to_local(), part))}
    theirs = exact.tensor_split(place.world, 2 if axis else 0)[place.rank]
    result["pytorch"] = place.all(error(by_torch(), theirs))
    return result


def free_bytes(place):
    """The least of all processes."""
    if place.device != "cuda":
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / place.world
    else:
        place.release()
        free = torch.cuda.mem_get_info()[0]
        # Several processes may have one GPU.
        free /= max(1, place.world / torch.cuda.device_count())
    return -place.all(-free)


def commit():
    root = pathlib.Path(__file__).resolve().parents[2]
    if (root / "COMMIT").exists():
        return (root / "COMMIT").read_text().strip()[:12]
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, text=True, capture_output=True)
    return found.stdout.strip()[:12] or "unknown"


def machine(place):
    device = torch.cuda.get_device_name() if place.device == "cuda" else platform.processor()
    result = {"device": device or platform.machine(), "processes": place.world,
              "devices": torch.cuda.device_count() if place.device == "cuda" else 1,
              "torch": torch.__version__, "kron": kron.__version__, "commit": commit(),
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes")}
    if place.device == "cuda":
        result["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        result["driver"] = nvidia_smi("--query-gpu=driver_version", "--format=csv,noheader", "--id=0")
        result["topology"] = nvidia_smi("topo", "-m")
    return result


def nvidia_smi(*arguments):
    try:
        found = subprocess.run(["nvidia-smi", *arguments], text=True, capture_output=True)
    except FileNotFoundError:
        return "unknown"
    return found.stdout.strip() or "unknown"


def show(row):
    sizes = " x ".join(map(str, row["sizes"]))
    times = "  ".join(f"{name} {value:.3f}" for name, value in row["ms"].items())
    print(f"{row['kind']} {row['type']} {row['rows']} x {sizes}: {times} ms; "
          f"{row.get('rate_gb_s', 0):.0f} GB/s; {row['bytes_on_the_wire']} bytes; error "
          f"{row['error']}", flush=True)


def save(place, results, file):
    if file is None or place.rank:
        return
    path = pathlib.Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def choose_gpu():
    """Processes that share a GPU are ones of different machines to NCCL."""
    rank, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    torch.cuda.set_device(rank % gpus)
    if gpus < int(os.environ["LOCAL_WORLD_SIZE"]):
        os.environ["NCCL_HOSTID"] = f"rank{rank}"
        for name, value in (("NCCL_SOCKET_IFNAME", "lo"), ("NCCL_IB_DISABLE", "1"),
                            ("NCCL_NVLS_ENABLE", "0")):
            os.environ.setdefault(name, value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", default="rows,modes,larger",
                        help="also weak-rows, weak-modes, rates")
    parser.add_argument("--types", default="f32,f64")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--scale", type=int, default=1,
                        help="divides all sizes, to try things out on small machines")
    parser.add_argument("--pieces", type=int, help="of an exchange at most")
    parser.add_argument("--piece-mib", type=int, help="of a message at least")
    parser.add_argument("--command", help="what the result file says it was made by")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.device == "cuda":
        choose_gpu()
    dist.init_process_group("nccl" if options.device == "cuda" else "gloo")
    place = Place(options.device, options.rounds)
    if options.pieces:
        _pieces.MOST_PIECES = options.pieces
    if options.piece_mib:
        _pieces.PIECE_BYTES = options.piece_mib << 20
    results = {"command": options.command, "machine": machine(place), "rows": []}
    tables = {"rows": ("rows", ROWS, 1), "modes": ("modes", MODES, 1),
              "larger": ("modes", LARGER, 1), "weak-rows": ("rows", ROWS, place.world),
              "weak-modes": ("modes", WEAK_MODES, place.world)}
    for table in options.only.split(","):
        if table == "rates":
            results["rates"] = [rate(place, mib) for mib in RATES]
            save(place, results, options.out)
            continue
        kind, cases, times_rows = tables[table]
        for name in options.types.split(","):
            for rows, sizes in cases:
                sizes = tuple(max(2, n // options.scale) for n in sizes)
                row = measure(place, rows * times_rows, sizes, kind, name, rows)
                if row is None or place.rank:
                    continue
                results["rows"].append({"table": table, **row})
                show(row)
                save(place, results, options.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
