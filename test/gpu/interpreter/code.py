"""A kernel as Python: one function per basic block, on all threads that execute it.

SPDX-License-Identifier: MIT
"""

import numpy as np

from . import arithmetic, phases, tensor
from .operands import FLOATS, SIGNED, UNSIGNED, Operands, integer, width_of
from .parser import Unsupported

#: What says how memory is cached, or that others may access it: all the same here.
HINTS = ("volatile", "nc", "cs", "cg", "ca", "weak", "L2::128B")
#: Instructions without operands, by what they call.
CALLS = {"cp.async.commit_group": "commit_copies", "fence.proxy.async": "fence_proxy", "griddepcontrol.wait": "wait_for_kernel",
         "fence.mbarrier_init.release.cluster": None, "griddepcontrol.launch_dependents": None, "wgmma.fence.sync.aligned": None,
         "wgmma.commit_group.sync.aligned": "commit_matrix"}
WAITS = {"cp.async.wait_group": "wait_copies", "wgmma.wait_group.sync.aligned": "wait_matrix"}


class Code:
    """The functions of a kernel, which use what is in `namespace`: registers, which `allocate` makes for a number of
    threads, and the functions of a machine."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.namespace = {"np": np}
        self.operands = Operands(kernel, self.namespace)
        #: Bytes of the narrowest access of shared memory.
        self.grain = 4
        lines = []
        for number, block in enumerate(kernel.blocks):
            lines.append(f"def block_{number}(m, t):")
            for instruction in block.instructions:
                lines += ["  " + line for line in self.lines(instruction)]
            lines.append("  pass")
        exec(compile("\n".join(lines), f"<{kernel.name}>", "exec"), self.namespace)
        self.blocks = [self.namespace[f"block_{n}"] for n in range(len(kernel.blocks))]
        self.threads = 0

    def allocate(self, threads):
        """Registers of all threads, full of ones: NaN as floating-point numbers."""
        if threads != self.threads:
            self.threads = threads
            for name, width in self.kernel.registers.items():
                if width == 1:
                    self.namespace[name] = np.zeros(threads, bool)
                    continue
                register = np.empty(threads, UNSIGNED[width])
                self.namespace[name] = register
                self.namespace[name + "_s"] = register.view(SIGNED[width])
                if width in FLOATS:
                    self.namespace[name + "_f"] = register.view(FLOATS[width])
        for name, width in self.kernel.registers.items():
            self.namespace[name][...] = width == 1 or np.iinfo(UNSIGNED[width]).max

    # --- instructions -----------------------------------------------------------

    def lines(self, instruction):
        try:
            return self.translate(instruction)
        except (Unsupported, KeyError, ValueError) as error:
            raise Unsupported(f"{self.kernel.name}: cannot run '{instruction.text}': {error}") from None

    def translate(self, instruction):
        op, operands = instruction.op, instruction.operands
        parts = op.split(".")
        text = self.operands.constant(instruction.text)
        if op in CALLS:
            return [f"{CALLS[op]}(t)"] if CALLS[op] else []
        if op in WAITS:
            return [f"{WAITS[op]}(t, {integer(operands[0])})"]
        if op == "cp.async.wait_all":
            return ["commit_copies(t)", "wait_copies(t, 0)"]
        if parts[0] in ("ld", "st"):
            return self.access(parts, operands, text)
        if parts[:3] == ["cp", "async", "bulk"]:
            return phases.emit_bulk_copy(self.operands, parts, operands, text)
        if parts[0] == "mbarrier":
            return phases.emit_barrier(self.operands, parts, operands, text)
        if parts[:2] == ["cp", "async"]:
            return self.copy(parts, operands, text)
        if parts[0] == "prefetch":
            return []
        if parts[0] == "mapa":
            return self.map_address(operands)
        if parts[0] in tensor.INSTRUCTIONS:
            return tensor.INSTRUCTIONS[parts[0]](self.operands, parts, operands, text)
        if parts[0] not in arithmetic.INSTRUCTIONS:
            raise Unsupported("an unknown instruction")
        return arithmetic.INSTRUCTIONS[parts[0]](self.operands, parts, operands)

    def address(self, text):
        base, offset = self.operands.address(text)
        return f"address({base}, {offset}, t)"

    def access(self, parts, operands, text):
        o, is_load = self.operands, parts[0] == "ld"
        space, *rest = [part for part in parts[1:] if part not in HINTS]
        if space == "param":
            return arithmetic.widen(o, operands[0], rest[-1], f"parameter({operands[1][1:-1]!r}, {width_of(rest[-1])})")
        if space not in ("global", "shared", "shared::cluster") or (space == "shared::cluster" and not is_load):
            raise Unsupported(f"memory {space}")
        vector = int(rest[0][1:]) if rest[0].startswith("v") else 1
        type_ = rest[-1]
        if len(rest) != 1 + (vector > 1):
            raise Unsupported(f"modifiers {rest[:-1]}")
        registers, memory = operands if is_load else operands[::-1]
        registers, width = o.list(registers), width_of(type_)
        if len(registers) != vector:
            raise Unsupported(f"{len(registers)} registers")
        if space != "global":
            self.grain = min(self.grain, width // 8)
        place = f"{self.address(memory)}, {width // 8}"
        name = space.replace("::", "_")
        if is_load:
            # A narrow signed value fills a wider register with its sign.
            pairs = [o.register(r) for r in registers]
            signed = type_[0] == "s" and any(w > width for _, w in pairs)
            targets = ", ".join(n + "_s" * signed for n, _ in pairs)
            return [f"loaded = load_{name}(t, {place}, {vector}, {text})",
                    f"assign(m, t, ({targets},), loaded{f'.view(np.int{width})' if signed else ''})"]
        values = ", ".join(o.read(r, f"b{width}") for r in registers)
        return [f"store_{name}(t, {place}, gather(t, np.uint{width}, ({values},)), {text})"]

    def copy(self, parts, operands, text):
        if parts[3:5] != ["shared", "global"] or parts[2] not in ("ca", "cg"):
            raise Unsupported("an unknown copy")
        to, source, size, *count = operands
        sizes = f"gather(t, np.int32, ({self.operands.read(count[0], 's32')},))[:, 0]" if count else "None"
        return [f"begin_copy(t, {self.address(to)}, {self.address(source)}, {integer(size)}, {sizes}, {text})"]

    def map_address(self, operands):
        o = self.operands
        d, a, rank = operands
        name, width = o.register(d)
        return [f"np.copyto({name}, map_address({o.read(a, f'u{width}')}, {o.read(rank, 'u32')}), where=m, "
                "casting='unsafe')"]
