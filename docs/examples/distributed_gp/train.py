"""A Gaussian process on a 4-D grid, trained on several processes or GPUs.

usage: torchrun --nproc-per-node 4 train.py [--device cpu|cuda] [--size N N N N] [--steps N]
           [--out FILE.json]
       python train.py ...          one process

The data is a smooth function of four variables on a regular grid, with noise. The covariance is a
Kronecker product of one Matern kernel per axis, whose length scales are learned with the scale of
the function and the noise. Each process has a part of the grid: values are a DTensor with its first
mode sharded.
"""

import argparse
import json
import math
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

import kron.distributed as kd


def matern(points, length):
    """The Matern kernel with nu = 3/2 of all pairs."""
    distance = math.sqrt(3) * (points[:, None] - points[None, :]).abs() / length
    return (1 + distance) * torch.exp(-distance)


def data(sizes):
    """(points of every axis, noisy values on the grid); the same in every process."""
    generator = torch.Generator().manual_seed(0)
    axes = [torch.linspace(0, 1, n, dtype=torch.float64) for n in sizes]
    grid = torch.meshgrid(*axes, indexing="ij")
    values = sum(torch.sin((3 + k) * axis) for k, axis in enumerate(grid)) * torch.cos(2 * grid[0])
    return axes, values + 0.1 * torch.randn(sizes, generator=generator, dtype=torch.float64)


class Model(torch.nn.Module):
    """Logarithms of a length scale per axis, of the scale and of the noise."""

    def __init__(self, axes):
        super().__init__()
        self.axes = axes
        self.lengths = torch.nn.Parameter(torch.zeros(len(axes), dtype=torch.float64) - 1)
        self.scale = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.noise = torch.nn.Parameter(torch.zeros((), dtype=torch.float64) - 2)

    # [loss]
    def loss(self, values):
        """The negative logarithm of the marginal likelihood, by point. `values` is a DTensor of
        shape [1, P1, ..., PN]."""
        factors = [matern(axis, length) for axis, length in zip(self.axes, self.lengths.exp())]
        factors[0] = factors[0] * self.scale.exp()
        form, logdet = kd.inv_quad_logdet(values, factors, self.noise.exp())
        points = values.numel()
        return 0.5 * (form + logdet + points * math.log(2 * math.pi)) / points
    # [/loss]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", type=int, nargs="+", default=[8, 9, 10, 7])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--out", help="a JSON file for what rank 0 found")
    options = parser.parse_args()
    alone = "WORLD_SIZE" not in os.environ
    if alone:
        dist.init_process_group("gloo" if options.device == "cpu" else "nccl",
                                store=dist.HashStore(), rank=0, world_size=1)
    else:
        if options.device == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        dist.init_process_group("gloo" if options.device == "cpu" else "nccl")
    # [mesh]
    mesh = init_device_mesh(options.device, (dist.get_world_size(),))
    axes, values = data(options.size)
    values = distribute_tensor(values.unsqueeze(0).to(options.device), mesh, [Shard(1)])
    # [/mesh]
    model = Model([axis.to(options.device) for axis in axes]).to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(options.steps):
        optimizer.zero_grad()
        loss = model.loss(values)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if dist.get_rank() == 0:
        result = {"processes": dist.get_world_size(), "losses": losses,
                  "parameters": [p.tolist() for p in model.parameters()]}
        print(f"{values.numel()} points on {result['processes']} processes: loss "
              f"{losses[0]:.6f} -> {losses[-1]:.6f} in {len(losses)} steps, noise "
              f"{math.sqrt(model.noise.exp().item()):.4f}")
        if options.out:
            with open(options.out, "w") as file:
                json.dump(result, file)
    # No rank leaves while another one still talks to it.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
    # DTensor's caches keep Gloo's threads alive. If one of them frees the tensors of its last
    # collective after Python's finalisation has begun, the process aborts, so this one skips it.
    sys.stdout.flush()
    os._exit(0)
