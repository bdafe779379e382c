"""Time of what surrounds kernels in Python: import, first call, cached call.

usage: PYTHONPATH=build/python python docs/benchmarks/python_calls.py [OUTPUT.json]

Each start is a process of its own with an empty cache; the best of several counts,
since other work on the machine only adds to it.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import timeit

START = """
import time, json
start = time.perf_counter()
import numpy as np
numpy_done = time.perf_counter()
import kron
kron_done = time.perf_counter()
kron.mkm(np.ones((5, 24)), [np.ones((2, 3)), np.ones((3, 2)), np.ones((4, 5))])
print(json.dumps([kron_done - numpy_done, time.perf_counter() - kron_done]))
"""


def measure_start():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, KRON_CACHE_DIR=folder)
        output = subprocess.run([sys.executable, "-c", START], env=environment, check=True,
                                text=True, capture_output=True).stdout
    return json.loads(output)


def measure_call(statement, names):
    number = 20000
    return min(timeit.repeat(statement, globals=names, number=number, repeat=7)) / number


def commit():
    folder = os.path.dirname(os.path.abspath(__file__))
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, text=True,
                          capture_output=True).stdout.strip()


def main():
    import numpy as np

    import kron

    starts = [measure_start() for _ in range(5)]
    results = {"import kron (ms)": min(s[0] for s in starts) * 1e3,
               "first call, no cache (ms)": min(s[1] for s in starts) * 1e3}
    names = {"kron": kron, "np": np, "x": np.zeros((1, 4)), "factors": [np.eye(2)] * 2,
             "v": np.zeros((1, 2)), "weights": np.zeros((1, 2, 2, 1))}
    for statement in ("kron.mkm(x, factors)", "kron.mkm(x, factors, alpha=2.0, trans_x=False)",
                      "kron.ksmm(v, weights, (1, 2, 2, 1))", "x @ x.T", "np.empty((1, 4))"):
        results[statement + " (us)"] = measure_call(statement, names) * 1e6
    for name, value in results.items():
        print(f"{name:52} {value:7.2f}")
    if len(sys.argv) > 1:
        machine = {"python": platform.python_version(), "numpy": np.__version__,
                   "threads": kron.get_num_threads(), "commit": commit()}
        with open(sys.argv[1], "w") as file:
            json.dump({"command": "docs/benchmarks/python_calls.py",
                       "date": datetime.datetime.now().isoformat(timespec="minutes"),
                       "machine": machine, "results": results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
