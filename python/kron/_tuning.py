"""Finding the fastest plans by measuring, and whether what was found is used.

SPDX-License-Identifier: MIT
"""

from dataclasses import dataclass

from kron import _compile, _jit, _records, ir


@dataclass(frozen=True)
class Tuned:
    """What kron.tune found for one operation."""

    #: The operation as records have it: name, shapes, flags.
    operation: str
    #: The plan; "" where what kron chooses by itself is the fastest.
    plan: str
    #: Of one call of the function, with the plan and without.
    seconds: float
    default_seconds: float

    def __repr__(self):
        if not self.plan:
            return f"<{self.operation}: the default is the fastest, {self.seconds * 1e3:.4g} ms>"
        return (f"<{self.operation}: {self.default_seconds * 1e3:.4g} ms, "
                f"tuned {self.seconds * 1e3:.4g} ms>")


def tune(function, *arguments, seconds=10.0):
    """Finds the fastest plan of each operation of a function on arguments like these, by
    measuring for `seconds` each, and adds records to the user's cache, where kernels that
    are compiled later find them. Returns a list of kron.Tuned. An interrupt keeps what was
    found."""
    seconds = _records.check_seconds(seconds)
    traced = function if isinstance(function, _jit.Jitted) else _jit.Jitted(function)
    values = traced._values(arguments, {})
    arrays = []
    for name, value in zip(traced._names, values):
        traced._flatten(traced._dynamic.get(name), value, arrays, [])
    module, captured = traced._trace(values)
    arrays = [*arrays, *captured]
    specs = []
    for array in arrays:
        element = ir.element_of(_jit._dtype_of(array))[0]
        specs.append(f"random:{'x'.join(map(str, array.shape))}:{element}")
    device = max(map(_jit._device_of, arrays), default=-1)
    output = _records.output(_compile.compiler())
    with _compile.translated() as compiler:
        found = compiler.tune(str(module), specs, [], device, seconds, output)
    return [Tuned(*one) for one in found]


def tuning(mode=None, *, seconds=None):
    """Whether kernels that are compiled from now on get the plans of tuning records: "use",
    as at the start unless the environment variable KRON_TUNE says something else, "off", or
    "online": operations without a record are tuned when they are first called, on arrays of
    the same shapes, for `seconds` each (2 at the start). Returns the mode that held before."""
    before = _records.mode()
    if mode is not None:
        _records.check_mode(mode)
    if mode == "online":
        _records.output(_compile.compiler())
    if seconds is not None:
        _records.set_online_seconds(seconds)
    if mode is not None:
        _records.set_mode(mode)
    return before
