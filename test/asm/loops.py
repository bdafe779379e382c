"""Innermost loops of x86 assembly (AT&T), and what is in them.

SPDX-License-Identifier: MIT
"""

import re
from dataclasses import dataclass

LABEL = re.compile(r"^([.\w$]+):")
JUMP = re.compile(r"^j\w+\s+([.\w$]+)$")
VECTOR = re.compile(r"%[xyz]mm\d+")
REGISTER = re.compile(r"%[xyzt]mm\d+")
MEMORY = re.compile(r"-?\w*\([^)]*\)")
# Without an index: panels of X lie on the stack, too.
STACK = re.compile(r"\(%rsp\)")
MULTIPLY_ADD = re.compile(r"vfn?m(add|sub)\d*|vpmull[dq]|pmulld|vdpbf16ps|tdpbf16ps|v?mulp[sd]")
SCALAR = re.compile(r"v?(fn?m(add|sub)\d*|add|sub|mul|div)s[sdh]\s")
SHUFFLE = re.compile(r"v?(perm|unpck|shuf|punpck|pshuf|insert|extract|align|blend|gather|scatter)")


@dataclass
class Loop:
    """Instructions of one innermost loop, label to jump."""

    function: str
    label: str
    lines: list

    def count(self, pattern):
        return sum(bool(pattern.match(line)) for line in self.lines)

    @property
    def multiply_adds(self):
        """Vector ones; without FMA instructions, products."""
        return self.count(MULTIPLY_ADD)

    @property
    def loads(self):
        """Vector and tile registers filled from memory, operands of arithmetic included."""
        return sum(1 for line in self.lines if REGISTER.search(line) and self._reads(line))

    @staticmethod
    def _reads(line):
        if line.startswith("prefetch"):
            return False
        operands = line.split(None, 1)[1]
        place = MEMORY.search(operands)
        # AT&T: the destination comes last, so a store ends with its memory operand.
        stores = place and re.fullmatch(r"\s*({%k\d})?\s*", operands[place.end():])
        return bool(place) and not stores

    @property
    def spills(self):
        """Vector registers that go to the stack or come from it."""
        return sum(1 for line in self.lines if VECTOR.search(line) and STACK.search(line))

    @property
    def scalars(self):
        """Floating-point arithmetic on single elements."""
        return self.count(SCALAR)

    @property
    def shuffles(self):
        return self.count(SHUFFLE)


def functions(text):
    """{name: its lines}, comments and directives left out."""
    found, name = {}, None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        label = LABEL.match(line)
        if label and not label[1].startswith("."):
            name = label[1]
            found[name] = []
        elif name and line and (label or not line.startswith(".")):
            found[name].append(line)
    return found


def innermost(text):
    """All innermost loops: from a label to the last jump back to it, with no such loop
    inside."""
    loops = []
    for name, lines in functions(text).items():
        labels = {LABEL.match(l)[1]: i for i, l in enumerate(lines) if LABEL.match(l)}
        ends = {}
        for i, line in enumerate(lines):
            jump = JUMP.match(line)
            if jump and labels.get(jump[1], i) < i:
                ends[jump[1]] = i
        spans = {label: (labels[label], end) for label, end in ends.items()}
        for label, (begin, end) in spans.items():
            if not any(begin <= b and e <= end and (b, e) != (begin, end)
                       for b, e in spans.values()):
                body = [l for l in lines[begin + 1:end + 1] if not LABEL.match(l)]
                loops.append(Loop(name, label, body))
    return loops
