"""A Gaussian process on a 4-D grid, trained on 4 processes by torchrun, and on one.

Checks that both find the same losses and parameters, and the noise that the data has. Runs
with the PyTorch of BUILD/venv-torch, where the PyTorch tests have installed it.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np

RANKS = 4


def run(environment, *command):
    process = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=environment, timeout=600)
    if process.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{process.stdout}")
    print("\n".join(line for line in process.stdout.splitlines() if "points on" in line))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    options = common.parse_options(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--python", help="an interpreter that has PyTorch"))
    python = pathlib.Path(options.python or options.build / "venv-torch/bin/python")
    if not python.exists():
        print(f"not run: PyTorch is not installed in {options.build / 'venv-torch'}")
        sys.exit(77)
    folder = common.output_folder(options, "distributed_gp")
    # A process that crashes says where.
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONFAULTHANDLER="1",
                       PYTHONPATH=str(options.build / "python"))
    single, several = folder / "single.json", folder / "several.json"
    run(environment, python, HERE / "train.py", "--out", single)
    run(environment, python, "-m", "torch.distributed.run", "--nproc-per-node", RANKS,
        "--master-addr", "127.0.0.1", "--master-port", free_port(),
        HERE / "train.py", "--out", several)
    one, more = (json.loads(path.read_text()) for path in (single, several))
    checks = common.Checks()
    checks.below("processes beside 4", abs(more["processes"] - RANKS), 0)
    losses, others = (np.array(result["losses"]) for result in (one, more))
    checks.below("largest difference of losses", np.abs(losses - others).max(), 1e-9)
    parameters, others = (np.concatenate([np.ravel(p) for p in result["parameters"]])
                          for result in (one, more))
    checks.below("largest difference of parameters", np.abs(parameters - others).max(), 1e-6)
    checks.below("noise beside 0.1", abs(np.exp(parameters[-1] / 2) - 0.1), 0.02)
    checks.done()


if __name__ == "__main__":
    main()
