"""Programs (programs.py) as users of the Python package write them: traced by kron.jit, or
built with kron.ir and compiled.

Reads one JSON object from standard input, writes a line of JSON before and after each
program, as worker.py does.

SPDX-License-Identifier: MIT
"""

import json
import sys

import numpy as np

import cases
from compare import check

import kron

OPEN = "m"


def number(value):
    """A scalar as a user writes it."""
    value = complex(value)
    if value.imag:
        return value
    return int(value.real) if value.real == int(value.real) else value.real


class Evaluation:
    """A program's steps on arrays, or on values that stand for them."""

    def __init__(self, program, arrays):
        self.program, self.arrays, self.results = program, arrays, [arrays["x"]]
        for index, step in enumerate(program.steps):
            x = self.results[step["source"]]
            method = getattr(self, "_" + step["kind"], self._elementwise)
            self.results.append(method(index, step, x))

    def given(self, index, prefixes):
        return [self.arrays[n] for n in self.program.given[index] if n[0] in prefixes]

    def operand(self, index, value):
        return self.results[value] if value is not None else self.given(index, "zd")[0]

    def scaling(self, index, step):
        options = {"alpha": number(step["alpha"])}
        if "beta" in step:
            options |= {"beta": number(step["beta"]), "z": self.operand(index, step["addend"])}
        return options

    def _mkm(self, index, step, x):
        return getattr(kron, step["kind"])(x, self.given(index, "f"), trans_factors=step["ops"],
                                           **self.scaling(index, step))

    _kmm = _mkm

    def _batched(self, index, step, x):
        inputs, outputs = zip(*step["sizes"])
        options = self.scaling(index, step)
        if "z" in options:
            options["z"] = options["z"].reshape(x.shape[0], *outputs)
        y = kron.batched(x.reshape(x.shape[0], *inputs), self.given(index, "f"),
                         trans_factors=step["ops"], **options)
        return y.reshape(x.shape[0], int(np.prod(outputs)))

    def _ksmm(self, index, step, x):
        options = self.scaling(index, step)
        if step["bias"]:
            options["bias"] = self.given(index, "b")[0]
        if step["activation"] != "identity":
            options["epilogue"] = step["activation"]
        return kron.ksmm(x, self.given(index, "k")[0], layout=step["layout"],
                         trans_weights=step["op"], **options)

    def _transpose(self, index, step, x):
        return x.T

    def _elementwise(self, index, step, x):
        if step["kind"] == "scale":
            return x * number(step["factor"])
        if step["kind"] == "row":
            return x + self.given(index, "r")[0]
        other = self.operand(index, step.get("other"))
        if step["kind"] == "add":
            return x + other
        if step["kind"] == "sub":
            return x - other
        return x * other if step["kind"] == "mul" else x / other


def open_axes(program):
    """{argument: {axis: name}} of sizes that the function leaves open."""
    axes = {}
    for arg in program.args:
        if arg.role == "in" and "?" in arg.mlir:
            sizes = arg.mlir[arg.mlir.index("<") + 1:].split("x")
            axes[arg.name] = {sizes.index("?"): OPEN}
    return axes


def as_array(arg, stored):
    """NumPy's array of the storage that a case has."""
    if arg.element.name != "bf16":
        return stored
    import ml_dtypes

    return stored.view(ml_dtypes.bfloat16)


def jitted(program, arrays):
    names = list(arrays)
    scope = {"evaluate": lambda *values: Evaluation(program, dict(zip(names, values))).results[-1]}
    exec(f"def program({', '.join(names)}):\n    return evaluate({', '.join(names)})", scope)
    return kron.jit(scope["program"], dynamic=open_axes(program))(*arrays.values())


def built(program, arrays):
    axes = open_axes(program)
    module = kron.ir.Module()
    function = module.function("program")
    values = {}
    for name, array in arrays.items():
        shape = tuple(axes.get(name, {}).get(axis, size) for axis, size in enumerate(array.shape))
        values[name] = function.argument(name, array.dtype, shape)
    function.returns(Evaluation(program, values).results[-1])
    return kron.compile(module)["program"](*arrays.values())


def run_program(program):
    """What is wrong with the program, or None."""
    values = program.data()
    arrays = {a.name: as_array(a, values[a.name]) for a in program.args if a.role == "in"}
    evaluate = built if program.index % 2 else jitted
    result = np.asarray(evaluate(program, arrays))
    stored = result.view(np.uint16) if program.element.name == "bf16" else result
    if stored.dtype != program.element.storage:
        return f"{evaluate.__name__}: result has dtype {result.dtype}"
    problem = check(program, stored, program.expected_of(values))
    return problem and f"{evaluate.__name__}: {problem}"


def main():
    job = json.load(sys.stdin)
    for index in job["cases"]:
        print(json.dumps({"start": index}), flush=True)
        try:
            error = run_program(cases.make(job["seed"], index))
        except Exception as problem:  # of one program
            error = f"{type(problem).__name__}: {problem}"
        print(json.dumps({"done": index, "error": error}), flush=True)


if __name__ == "__main__":
    main()
