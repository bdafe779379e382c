"""Programs of programs.py that train and apply layers of networks."""

import contextlib
import math

import torch
import torch.nn.functional as F

import kron
from kron import nn as knn
from program_timing import TYPES, Case, Way

# Chains of the sizes of vision transformers, Monarch the first feed-forward layer of ViT-S;
# rows are tokens: one, some, an image, a few images, a batch of them. The first chain has
# four times the weights of the 96 x 96 matrix that it is.
LAYERS = {"(1,192,48,2) > (2,48,192,1)": [(1, 192, 48, 2), (2, 48, 192, 1)],
          "(2,48,192,1) > (1,192,48,2)": [(2, 48, 192, 1), (1, 192, 48, 2)],
          "(6,64,64,1) > (1,768,192,2)": [(6, 64, 64, 1), (1, 768, 192, 2)]}
MONARCH = (384, 1536)
ROWS = (1, 32, 196, 1568, 25088)
# Steps repeat on the same data: weights stay what they are.
LEARNING_RATE = 1e-8


def half_types(place):
    return ("f16", "bf16") if place.is_cuda else ("bf16",)


def autocast(place, type_name):
    """f32 parameters, products in 16 bits."""
    if type_name == "f32":
        return contextlib.nullcontext
    return lambda: torch.autocast(place.device.type, TYPES[type_name])


def training(module, x, gradient, context, optimizer=torch.optim.SGD):
    """A step of training on x, whose own gradient is wanted as inside of a network."""
    x = x.detach().requires_grad_()
    optimizer = optimizer([p for p in module.parameters() if p.requires_grad],
                          lr=LEARNING_RATE)
    state = {}

    def forward():
        optimizer.zero_grad()
        x.grad = None
        with context():
            state["y"] = module(x)

    return Way({"forward": forward, "backward": lambda: state["y"].backward(gradient),
                "optimizer": optimizer.step},
               lambda: {"y": state["y"], "dx": x.grad,
                        **{f"d {name}": parameter.grad
                           for name, parameter in module.named_parameters()
                           if parameter.grad is not None}})


def exact_training(module, x, gradient):
    """What a step computes, in f64; nothing of kron's kernels takes part."""
    way = training(module, x.double(), gradient.double(), contextlib.nullcontext)
    way.step()
    return {name: tensor.detach() for name, tensor in way.results().items()}


def inference(module, x, place, is_graph=False):
    state = {}

    def forward():
        with torch.no_grad():
            state["y"] = module(x)

    way = Way({"forward": forward}, lambda: {"y": state["y"]})
    return captured(way, place) if is_graph else way


def captured(way, place):
    """The same steps as a CUDA graph."""
    place.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            way.step()
    place.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        way.step()
    # The graph reads the module's parameters where they are: `way` keeps them.
    return Way({"replay": graph.replay}, lambda: way.results())


def dense_like(layer):
    """A dense layer that computes the same."""
    dense = torch.nn.Linear(layer.in_size, layer.out_size, dtype=layer.dtype,
                            device=layer.device)
    with torch.no_grad():
        dense.weight.copy_(layer.get_dense_product())
        dense.bias.copy_(layer.bias)
    return dense


# --- layers with Kronecker-sparse factors -----------------------------------------------


def layer_case(place, program, title, make, rows, type_name):
    def setup():
        source = make("kernel", torch.float32)

        def copy(algo, dtype=torch.float32):
            layer = make(algo, dtype)
            layer.load_state_dict(source.state_dict())
            return layer

        x = place.randn(rows, source.in_size, type=type_name)
        gradient = place.randn(rows, source.out_size, type=type_name)
        context = autocast(place, type_name)
        modules = {"kron": lambda: source, "bmm": lambda: copy("bmm"),
                   "einsum": lambda: copy("einsum"), "dense": lambda: copy("dense"),
                   "nn.Linear": lambda: dense_like(source)}
        ways = {name: lambda module=module: training(module(), x, gradient, context)
                for name, module in modules.items()}
        return ways, exact_training(copy("einsum", torch.float64), x, gradient)

    return Case(program, f"{title}, {type_name}, {rows} rows", type_name, setup,
                {"group": title, "rows": rows})


def kslinear(place):
    layers = {"(2,4,8,1) > (1,8,4,2)": [(2, 4, 8, 1), (1, 8, 4, 2)]} if place.quick else LAYERS
    for title, patterns in layers.items():
        def make(algo, dtype, patterns=patterns):
            return knn.KSLinear(patterns, algo=algo, dtype=dtype, device=place.device)
        for type_name in ("f32", *half_types(place)):
            for rows in (1, 5) if place.quick else ROWS:
                yield layer_case(place, "KSLinear", title, make, rows, type_name)


def monarch(place):
    sizes = (16, 32) if place.quick else MONARCH
    title = "{} to {}".format(*sizes)

    def make(algo, dtype):
        return knn.Monarch(*sizes, algo=algo, dtype=dtype, device=place.device)

    for type_name in ("f32", *half_types(place)):
        for rows in (1, 5) if place.quick else ROWS:
            yield layer_case(place, "Monarch", title, make, rows, type_name)


# --- the feed-forward layers of a transformer -------------------------------------------


class FeedForward(torch.nn.Module):
    """What a block of a transformer does beside attention."""

    def __init__(self, linear, width, hidden, dtype, device):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width, dtype=dtype, device=device)
        self.up, self.down = linear(width, hidden), linear(hidden, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Stack:
    """The same stack of layers for every way."""

    def __init__(self, place):
        self.device = place.device
        self.depth, self.width, self.hidden = (2, 16, 32) if place.quick else (12, 768, 3072)
        self.source = self._model("kernel", torch.float32)

    def _model(self, algo, dtype):
        def linear(n, m):
            return knn.Monarch(n, m, algo=algo, dtype=dtype, device=self.device)
        return torch.nn.Sequential(*(
            FeedForward(linear, self.width, self.hidden, dtype, self.device)
            for _ in range(self.depth)))

    def model(self, algo, dtype=torch.float32):
        """A copy with other products, or with layers that have the factors multiplied out."""
        model = self._model("kernel" if algo == "nn.Linear" else algo, dtype)
        model.load_state_dict(self.source.state_dict())
        if algo == "nn.Linear":
            for block in model:
                block.up, block.down = dense_like(block.up), dense_like(block.down)
        return model

    def models(self, dtype=torch.float32):
        return {name: lambda algo=algo: self.model(algo, dtype)
                for name, algo in (("kron", "kernel"), ("bmm", "bmm"),
                                   ("nn.Linear", "nn.Linear"))}


def transformer_training(place, tokens, type_name):
    def setup():
        stack = Stack(place)
        # LayerNorm and the residual keep what lies between blocks in f32.
        x, gradient = (place.randn(tokens, stack.width, type="f32") for _ in range(2))
        context = autocast(place, type_name)
        ways = {name: lambda model=model: training(model(), x, gradient, context,
                                                   torch.optim.AdamW)
                for name, model in stack.models().items()}
        exact = exact_training(stack.model("einsum", torch.float64), x, gradient)
        # Gradients of factors at the inner end go through all that rounding.
        return ways, {name: exact[name] for name in ("y", "dx")}

    return Case("Transformer MLP, training", f"{tokens} tokens, {type_name}", type_name, setup,
                {"group": f"{tokens} tokens"})


def transformer_generation(place, type_name, is_graph):
    def setup():
        stack, dtype = Stack(place), TYPES[type_name]
        x = place.randn(1, stack.width, type=type_name)
        ways = {name: lambda model=model: inference(model(), x, place, is_graph)
                for name, model in stack.models(dtype).items()}
        reference = inference(stack.model("einsum", torch.float64), x.double(), place)
        reference.step()
        return ways, reference.results()

    suffix = ", CUDA graph" if is_graph else ""
    return Case("Transformer MLP, generation", f"1 token, {type_name}{suffix}", type_name,
                setup, {"group": f"1 token{suffix}"})


def transformer(place):
    counts = (6,) if place.quick else (256, 4096) if place.is_cuda else (256,)
    for tokens in counts:
        for type_name in ("f32", *half_types(place)):
            yield transformer_training(place, tokens, type_name)
    for type_name in ("f32", *half_types(place)):
        for is_graph in (False, True) if place.is_cuda else (False,):
            yield transformer_generation(place, type_name, is_graph)


# --- LoKr -------------------------------------------------------------------------------


class LoKr(torch.nn.Module):
    """W x + (A kron B) x with W that is not trained."""

    def __init__(self, way, weight, a, b):
        super().__init__()
        self.register_buffer("weight", weight)
        self.a, self.b = torch.nn.Parameter(a.clone()), torch.nn.Parameter(b.clone())
        self.forward = getattr(self, way)

    def fused(self, x):
        return kron.mkm(x, [self.a, self.b], beta=1, z=F.linear(x, self.weight),
                        trans_factors=True)

    def materialised(self, x):
        return F.linear(x, self.weight + torch.kron(self.a, self.b))

    def shuffled(self, x):
        block = x.view(-1, self.a.shape[1], self.b.shape[1])
        return F.linear(x, self.weight) + (self.a @ (block @ self.b.mT)).flatten(1)


def lokr(place):
    size = 16 if place.quick else 4096 if place.is_cuda else 2048
    # As LyCORIS splits a size with `factor=-1`: nearest to the square root.
    p = 2 ** (int(math.log2(size)) // 2)
    rows = 6 if place.quick else 4096 if place.is_cuda else 512

    def case(type_name):
        def setup():
            weight = place.randn(size, size, type="f32") / math.sqrt(size)
            a, b = (0.1 * place.randn(n, n, type="f32") for n in (p, size // p))
            x, gradient = (place.randn(rows, size, type=type_name) for _ in range(2))
            context = autocast(place, type_name)
            ways = {name: lambda way=way: training(LoKr(way, weight, a, b), x, gradient,
                                                   context)
                    for name, way in (("kron", "fused"), ("materialised", "materialised"),
                                      ("matmul", "shuffled"))}
            exact = exact_training(LoKr("materialised", *(m.double() for m in (weight, a, b))),
                                   x, gradient)
            return ways, exact

        group = f"{rows} rows, {size} = {p} x {size // p}"
        return Case("LoKr", f"{group}, {type_name}", type_name, setup, {"group": group})

    for type_name in ("f32", *half_types(place)):
        yield case(type_name)
