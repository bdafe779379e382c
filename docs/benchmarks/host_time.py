"""Host time of kron's calls on PyTorch tensors: what a call takes of the processor before
it returns, on a GPU while the GPU works on.

usage: PYTHONPATH=build/python python docs/benchmarks/host_time.py [--device cpu|cuda]
           [--rounds N] [--only PART,...] [--out FILE]

Parts:
  calls   one call without derivatives: public function, operation, compiled code, memory
          of the result alone, beside a matrix product of PyTorch's
  grads   the same calls with gradients recorded, and backward through one node: the whole
          pass of the engine, and the node's own function
  layer   a step of KSLinear (1,192,48,2) > (2,48,192,1), and forward alone, beside the
          same layer by bmm and as a dense matrix
  compile a step of that layer as it is, compiled by torch.compile, and with CUDA graphs of
          torch.compile's, beside nn.Linear of the same sizes; until the device is done
  nodes   (cuda) what a forward and a backward pass put on the stream, by kind: the nodes of a
          graph that captures them
  driver  (cuda) functions of the driver that launches call, less a call that does nothing

Every figure is the median over rounds, in which the candidates take turns; a round of one
candidate is a burst of calls, so short that the GPU's queue does not fill up, and the GPU is
waited for between bursts. `layer` gives time until the GPU is done, too.
"""

import argparse
import ctypes
import datetime
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import torch

import kron
import kron.torch as kt
from kron import _core
from kron import nn as knn

PATTERNS = [(1, 192, 48, 2), (2, 48, 192, 1)]
TINY, PRODUCT = (1, 2, 2), (64, 16, 3)  # rows, size and number of factors


class Clock:
    """Microseconds per call."""

    def __init__(self, device, rounds, burst=50):
        self.rounds, self.burst = rounds, burst
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None

    def host(self, functions):
        """Of each function: what a call takes before it returns."""
        for function in functions.values():
            for _ in range(3):
                function()
        times = {name: [] for name in functions}
        for _ in range(self.rounds):
            for name, function in functions.items():
                self.wait()
                begin = time.perf_counter()
                for _ in range(self.burst):
                    function()
                times[name].append((time.perf_counter() - begin) / self.burst)
        self.wait()
        return {name: 1e6 * statistics.median(record) for name, record in times.items()}

    def done(self, functions):
        """Of each function: what a call takes until the GPU is done with it."""
        def waiting(function):
            function()
            self.wait()

        single = Clock("cpu", self.rounds, burst=5)
        return single.host({name: lambda f=function: waiting(f)
                            for name, function in functions.items()})

    def backward(self, forwards, run):
        """Of each graph that `forwards` makes: what `run(graph)` takes."""
        times = {name: [] for name in forwards}
        for number in range(self.rounds + 3):
            for name, forward in forwards.items():
                graphs = [forward() for _ in range(self.burst)]
                self.wait()
                begin = time.perf_counter()
                for graph in graphs:
                    run(graph)
                if number >= 3:
                    times[name].append((time.perf_counter() - begin) / self.burst)
        self.wait()
        return {name: 1e6 * statistics.median(record) for name, record in times.items()}


def product_arguments(kind, shape, device, grad=False):
    rows, size, count = shape
    core = {"mkm": (rows, size**count), "kmm": (size**count, rows),
            "batched": (rows, *[size] * count)}[kind]
    x = torch.randn(core, device=device, requires_grad=grad)
    return x, [torch.randn(size, size, device=device, requires_grad=grad)
               for _ in range(count)]


def chain_arguments(rows, device, grad=False, dtype=torch.float32):
    a, _, c, d = PATTERNS[0]
    x = torch.randn(rows, a * c * d, device=device, dtype=dtype, requires_grad=grad)
    return x, [torch.randn(p, device=device, dtype=dtype, requires_grad=grad)
               for p in PATTERNS]


def modules(device):
    """(name, module, input)"""
    layer = knn.KSLinear(PATTERNS, device=device)
    monarch = knn.Monarch(64, 64, device=device)
    linear = knn.KronLinear([16, 16], [16, 16], device=device)
    yield "nn.KSLinear", layer, torch.randn(196, layer.in_size, device=device)
    yield "nn.Monarch", monarch, torch.randn(16, 64, device=device)
    yield "nn.KronLinear", linear, torch.randn(16, 256, device=device)


def functions(device, grad=False):
    """name -> (call, tensors that may need gradients)"""
    result = {}
    for label, shape in (("1 x 2^2", TINY), ("64 x 16^3", PRODUCT)):
        x, factors = product_arguments("mkm", shape, device, grad)
        result[f"kron.mkm {label}"] = (lambda x=x, f=factors: kron.mkm(x, f)), [x, *factors]
    for kind in ("kmm", "batched"):
        x, factors = product_arguments(kind, PRODUCT, device, grad)
        call = getattr(kron, kind)
        result[f"kron.{kind} 64 x 16^3"] = (
            (lambda call=call, x=x, f=factors: call(x, f)), [x, *factors])
    x, weights = chain_arguments(196, device, grad)
    result["kron.ksmm 196 x (1,192,48,2)"] = (lambda: kron.ksmm(x, weights[0]),
                                              [x, weights[0]])
    result["kron.ksmm_chain"] = (lambda: kron.ksmm_chain(x, weights), [x, *weights])
    for name, module, argument in modules(device):
        argument.requires_grad_(grad)
        module.requires_grad_(grad)
        result[name] = ((lambda m=module, x=argument: m(x)),
                        [argument, *module.parameters()])
    a, b = (torch.randn(16, 16, device=device, requires_grad=grad) for _ in range(2))
    result["torch: a @ b of 16 x 16"] = (lambda: a @ b), [a, b]
    return result


def measure_calls(device, clock):
    public = {name: call for name, (call, _) in functions(device).items()}
    parts = {}
    allocate = getattr(torch._C._dynamo.guards, "_empty_strided_" + device)
    for label, shape in (("1 x 2^2", TINY), ("64 x 16^3", PRODUCT)):
        x, factors = product_arguments("mkm", shape, device)
        out, sizes = torch.empty_like(x), tuple(x.shape)
        stream = torch.cuda.current_stream().cuda_stream if device == "cuda" else None
        candidates = {
            "memory of the result": lambda x=x, s=sizes: x.new_empty(*s),
            "memory past the dispatcher": lambda x=x, s=sizes: allocate(
                s, (s[1], 1), x.dtype),
            "raw, out and stream given": lambda x=x, f=factors, o=out: _core.raw_mkm(
                x, f, out=o, stream=stream),
            "raw, out given": lambda x=x, f=factors, o=out: _core.raw_mkm(x, f, out=o),
            "raw": lambda x=x, f=factors: _core.raw_mkm(x, f),
            "direct": lambda x=x, f=factors: _core.direct_mkm(x, f),
            "kron.torch": lambda x=x, f=factors: kt.mkm(x, f),
            "operation": lambda x=x, f=factors: torch.ops.kron.mkm(x, f)}
        parts |= {f"mkm {label}: {name}": call for name, call in candidates.items()}
    x, weights = chain_arguments(196, device)
    parts["ksmm_chain: raw"] = lambda: _core.raw_ksmm_chain(x, weights)
    return clock.host({**public, **parts})


def measure_grads(device, clock):
    cases = functions(device, grad=True)
    recorded = clock.host({name: call for name, (call, _) in cases.items()})
    forwards, tensors, upstream = {}, {}, {}
    for name, (call, inputs) in cases.items():
        forwards[name] = lambda call=call, name=name: (name, call())
        tensors[name], upstream[name] = inputs, torch.randn_like(call())

    def engine(graph):
        name, y = graph
        torch.autograd.grad(y, tensors[name], upstream[name])

    @torch.no_grad()
    def node(graph):
        name, y = graph
        y.grad_fn.apply(upstream[name])

    own = {name: forward for name, forward in forwards.items()
           if hasattr(type(forward()[1].grad_fn), "apply")}
    return {"forward": recorded, "backward": clock.backward(forwards, engine),
            "node": clock.backward(own, node)}


def layers(device, dtype):
    chosen = {}
    for algo in ("kernel", "bmm", "dense"):
        torch.manual_seed(0)
        chosen[algo] = knn.KSLinear(PATTERNS, algo=algo, device=device, dtype=dtype)
    return chosen


def measure_layer(device, clock):
    result = {}
    for rows, dtype in ((196, torch.float32), (25088, torch.float16)):
        if rows > 1000 and device == "cpu":
            continue
        chosen = layers(device, dtype)
        x, _ = chain_arguments(rows, device, dtype=dtype)
        x.requires_grad_()
        upstream = torch.randn(rows, next(iter(chosen.values())).out_size, device=device,
                               dtype=dtype)

        def step(layer, x=x, upstream=upstream):
            x.grad = None
            layer.zero_grad(set_to_none=True)
            layer(x).backward(upstream)

        def forward(layer, x=x):
            with torch.no_grad():
                layer(x)

        steps = {name: lambda layer=layer: step(layer) for name, layer in chosen.items()}
        recorded = {name: lambda layer=layer: layer(x) for name, layer in chosen.items()}
        plain = {name: lambda layer=layer: forward(layer) for name, layer in chosen.items()}
        result[f"{rows} rows, {str(dtype).removeprefix('torch.')}"] = {
            "forward without gradients": clock.host(plain),
            "forward": clock.host(recorded), "forward + backward": clock.host(steps),
            "forward + backward, done": clock.done(steps)}
    return result


def measure_compile(device, clock):
    modes = {"eager": None, "torch.compile": {}}
    if device == "cuda":
        modes['mode="reduce-overhead"'] = {"mode": "reduce-overhead"}
    result = {}
    for rows, dtype in ((4, torch.float32), (196, torch.float32), (25088, torch.float16)):
        if rows > 1000 and device == "cpu":
            continue
        x, _ = chain_arguments(rows, device, dtype=dtype)
        x.requires_grad_()
        kernel = layers(device, dtype)["kernel"]
        modules = {"KSLinear": kernel, "nn.Linear": torch.nn.Linear(
            kernel.in_size, kernel.out_size, device=device, dtype=dtype)}
        upstream = torch.randn(rows, kernel.out_size, device=device, dtype=dtype)

        def step(module, call, x=x, upstream=upstream):
            x.grad = None
            module.zero_grad(set_to_none=True)
            call(x).backward(upstream)

        steps = {}
        for name, module in modules.items():
            for mode, options in modes.items():
                call = module if options is None else torch.compile(module, fullgraph=True,
                                                                    **options)
                steps[f"{name}, {mode}"] = lambda m=module, c=call: step(m, c)
        result[f"{rows} rows, {str(dtype).removeprefix('torch.')}"] = clock.done(steps)
    return result


NODE_KINDS = {0: "kernel", 1: "memcpy", 2: "memset", 10: "allocation", 11: "release"}


def captured_nodes(function):
    """How many nodes of each kind the function's work is."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        function()
    driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_size_t()
    handle = ctypes.c_void_p(graph.raw_cuda_graph())
    driver.cuGraphGetNodes(handle, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * count.value)()
    driver.cuGraphGetNodes(handle, nodes, ctypes.byref(count))
    kinds = {}
    for node in nodes:
        kind = ctypes.c_int()
        driver.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
        name = NODE_KINDS.get(kind.value, f"kind {kind.value}")
        kinds[name] = kinds.get(name, 0) + 1
    return kinds


def measure_nodes(device, clock):
    if device != "cuda" or not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        return {}
    result = {}
    for name, (call, inputs) in functions(device, grad=True).items():
        upstream = torch.randn_like(call())
        result[name] = captured_nodes(
            lambda: torch.autograd.grad(call(), inputs, upstream))  # noqa: B023
    layer = layers(device, torch.float32)
    x, _ = chain_arguments(196, device, grad=True)
    upstream = torch.randn(196, layer["bmm"].out_size, device=device)
    for algo, module in layer.items():
        result[f"KSLinear by {algo}"] = captured_nodes(lambda: torch.autograd.grad(
            module(x), [x, *module.parameters()], upstream))  # noqa: B023
    return result


def measure_driver(device, clock):
    if device != "cuda":
        return {}
    driver, x = ctypes.CDLL("libcuda.so.1"), torch.empty(16, device=device)
    stream = torch.cuda.Stream().cuda_stream
    torch.cuda.synchronize()
    kinds = (ctypes.c_int * 4)(2, 3, 8, 9)
    numbers = [ctypes.c_uint64() for _ in range(4)]
    values = (ctypes.c_void_p * 4)(*[ctypes.addressof(n) for n in numbers])
    address, context = ctypes.c_uint64(x.data_ptr()), ctypes.c_void_p()
    handle, version = ctypes.c_void_p(stream), ctypes.c_int()
    device_number = ctypes.c_int()
    result = clock.host({
        "nothing": lambda: driver.cuDriverGetVersion(ctypes.byref(version)),
        "cuPointerGetAttributes": lambda: driver.cuPointerGetAttributes(
            4, kinds, values, address),
        "cuCtxGetCurrent": lambda: driver.cuCtxGetCurrent(ctypes.byref(context)),
        "cuCtxGetDevice": lambda: driver.cuCtxGetDevice(ctypes.byref(device_number)),
        "cuStreamGetCtx": lambda: driver.cuStreamGetCtx(handle, ctypes.byref(context))})
    return {name: value - result["nothing"] for name, value in result.items()
            if name != "nothing"}


PARTS = {"calls": measure_calls, "grads": measure_grads, "layer": measure_layer,
         "compile": measure_compile, "driver": measure_driver, "nodes": measure_nodes}


def machine(device):
    root = pathlib.Path(__file__).resolve().parents[2]
    if (root / "COMMIT").exists():  # of an unpacked bundle
        commit = (root / "COMMIT").read_text().strip()
    else:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, text=True,
                                capture_output=True).stdout.strip()
    processor = platform.processor()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    return {"device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
            "processor": processor, "python": platform.python_version(),
            "torch": torch.__version__, "commit": commit}


def show(results, indent=0):
    for name, value in results.items():
        if isinstance(value, dict):
            print(f"{'  ' * indent}{name}")
            show(value, indent + 1)
        else:
            print(f"{'  ' * indent}{name:{52 - 2 * indent}} {value:9.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--device", choices=["cpu", "cuda"],
                        default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.manual_seed(0)
    clock = Clock(options.device, options.rounds)
    results = {"command": " ".join(["docs/benchmarks/host_time.py", *sys.argv[1:]]),
               "date": datetime.datetime.now().isoformat(timespec="minutes"),
               "machine": machine(options.device)}
    print("microseconds on", results["machine"]["device"])
    for part in options.only.split(","):
        results[part] = PARTS[part](options.device, clock)
        show({part: results[part]})
        if options.out:
            pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
