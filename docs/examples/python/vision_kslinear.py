"""A classifier of handwritten digits with Kronecker-sparse layers.

usage: python vision_kslinear.py [--epochs N] [--json FILE]

The data is scikit-learn's 1797 images of 8 x 8 pixels. The same network is trained with
kron's kernel, with the einsum implementation of the same layers and with dense layers.
"""

import argparse
import json
import time

import torch
from sklearn.datasets import load_digits

from kron import nn as knn

CHAINS = {"64 -> 1024": [(4, 16, 16, 1), (1, 64, 4, 16)],
          "1024 -> 1024": [(32, 32, 32, 1), (1, 32, 32, 32)]}
BATCH, TRAINING_IMAGES = 256, 1280


def network(algo):
    torch.manual_seed(1)
    layers = []
    for chain in CHAINS.values():
        if algo == "dense":
            sizes = knn.KSLinear(chain)
            layers.append(torch.nn.Linear(sizes.in_size, sizes.out_size))
        else:
            layers.append(knn.KSLinear(chain, algo=algo))
        layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10))


def run(algo, images, labels, epochs):
    model = network(algo)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(2)
    split = TRAINING_IMAGES
    model(images[:BATCH]).sum().backward()  # compiles
    steps = []
    for _ in range(epochs):
        for batch in torch.randperm(split, generator=generator).split(BATCH):
            start = time.perf_counter()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            steps.append(time.perf_counter() - start)
    with torch.no_grad():
        right = model(images[split:]).argmax(1) == labels[split:]
    return {"parameters": sum(p.numel() for p in model.parameters()),
            "loss": loss.item(), "accuracy": right.double().mean().item(),
            "step_ms": 1e3 * sorted(steps)[len(steps) // 2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--json")
    options = parser.parse_args()
    digits = load_digits()
    images = torch.from_numpy(digits.data).float() / 16
    labels = torch.from_numpy(digits.target)
    result = {algo: run(algo, images, labels, options.epochs)
              for algo in ("kernel", "einsum", "dense")}
    for algo, row in result.items():
        print(f"{algo:7} {row['parameters']:8} parameters  test accuracy "
              f"{100 * row['accuracy']:.1f} %  {row['step_ms']:.2f} ms per step")
    ours, stock = result["kernel"], result["einsum"]
    assert ours["accuracy"] > 0.9, "the classifier has learnt"
    assert abs(ours["accuracy"] - stock["accuracy"]) < 0.02
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
