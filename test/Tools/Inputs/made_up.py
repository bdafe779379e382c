"""Made-up rows of result files, for the tests of the tables and plots.

The programs that use it get docs/benchmarks as their first argument, from where they
import.
"""

import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True


def row(case, ms, **fields):
    """A case as kron-bench names it, half a millisecond above its floor of bandwidth."""
    op, element, rows, _, factors = case.split()[:5]
    common = {"case": case, "op": op, "type": element, "rows": int(rows), "factors": factors,
              "trans": "NN", "error": 1e-7, "ms": ms, "floor_ms": 0.5, "of_floor": 0.5 / ms,
              "flops": 10**9, "bytes": 10**8}
    return common | fields


def result(title, rows, machine, **fields):
    return {"title": title, "command": "kron-bench", "date": "2026-01-01T00:00",
            "commit": "0123456789abcdef", "machine": machine, "samples": 9, "rows": rows} | fields
