"""PTX as LLVM and inline assembly write it: kernels, basic blocks, instructions.

SPDX-License-Identifier: MIT
"""

import dataclasses
import re


class Unsupported(Exception):
    """PTX that the interpreter does not know."""


@dataclasses.dataclass(frozen=True)
class Instruction:
    """`@[!]predicate op operands;`, names of registers without % and unique in the kernel."""
    op: str
    operands: tuple
    predicate: str | None
    negated: bool
    text: str


@dataclasses.dataclass
class Block:
    """Instructions that are executed one after another, and how it goes on behind them: `end` is a branch, a barrier
    or `ret`, or None where the next block follows."""
    instructions: list
    end: Instruction | None = None
    #: How many threads have to execute it together: those of a warp, or of a warp group.
    collective: int = 1


@dataclasses.dataclass
class Kernel:
    name: str
    #: (name, width in bits) of the parameters.
    params: list
    max_threads: int
    blocks: list
    labels: dict
    #: {name: width in bits}, of predicates 1.
    registers: dict


#: Instructions at which threads may wait or leave the order of the text; each ends its block.
ENDS = ("bra", "mbarrier.try_wait", "bar.sync", "bar.warp.sync", "barrier.cluster", "ret", "exit", "trap")
#: Instructions that all threads of a warp execute together.
COLLECTIVE = ("shfl.", "vote.", "redux.", "mma.", "wgmma.", "ldmatrix.", "match.")
GROUP_THREADS = 128
ENTRY = re.compile(r"\.(?:visible|weak) \.entry (\w+)\(")
PARAM = re.compile(r"\.param \.[a-z]+(\d+)(?: \.ptr[^,\n]*?)? (\w+)\s*[,\n)]")
REGISTER = re.compile(r"\.reg \.(pred|[a-z]+\d+)\s+(.*)", re.S)
STATEMENT = re.compile(r"\s*(?:(\{|\})|([$\w]+):(?!:)|([^;{}]*(?:\{[^{}]*\}[^;{}]*)*);)")
HEAD = re.compile(r"(?:@(!?)(%?\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.S)
OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s|]+")
NAME = re.compile(r"%?[A-Za-z_$][\w.$]*")
SPECIAL = re.compile(r"%(?:n?tid|n?ctaid|laneid|warpid|cluster_\w+)(?:\.[xyz])?$")


def split(text):
    """{name: text} of the kernels of a module."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    if re.search(r"^\s*(?:\.visible |\.extern )?\.(?:global|const|func)\b", text, re.M):
        raise Unsupported("variables in global memory and functions")
    starts = [*ENTRY.finditer(text)]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {start[1]: text[start.end():end] for start, end in zip(starts, ends)}


def parse(name, text):
    """The Kernel of this text."""
    head, _, body = text.partition("{")
    threads = re.search(r"\.maxntid (\d+)", head)
    params = [(name, int(width)) for width, name in PARAM.findall(head)]
    return _Body(name, body).kernel(params, int(threads[1]) if threads else 1024)


class _Body:
    """The statements of a kernel, split into blocks."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.blocks, self.labels, self.registers = [Block([])], {}, {}
        self.ranges = {}
        self.scopes, self.num_scopes = [{}], 0

    def kernel(self, params, threads):
        position = 0
        while self.scopes:
            match = STATEMENT.match(self.text, position)
            if not match:
                raise Unsupported(f"{self.name}: {self.text[position:position + 80].strip()}")
            position = match.end()
            brace, label, statement = match.groups()
            if brace == "{":
                self.scopes.append({})
                self.num_scopes += 1
            elif brace:
                self.scopes.pop()
            elif label:
                if self.blocks[-1].instructions:
                    self.start_block()
                self.labels[label] = len(self.blocks) - 1
            elif statement.strip():
                self.add(" ".join(statement.split()))
        return Kernel(self.name, params, threads, self.blocks, self.labels, self.registers)

    def start_block(self):
        self.blocks.append(Block([]))

    def add(self, text):
        if text.startswith(".pragma") or text.startswith(".loc"):
            return
        if match := REGISTER.fullmatch(text):
            self.declare(match[1], match[2])
            return
        match = HEAD.fullmatch(text)
        if not match:
            raise Unsupported(f"{self.name}: {text}")
        negated, predicate, op, operands = match.groups()
        operands = tuple(NAME.sub(lambda name: self.resolve(name[0]), o) for o in OPERAND.findall(operands))
        made = Instruction(op, operands, self.resolve(predicate) if predicate else None, bool(negated), text)
        block = self.blocks[-1]
        if op.startswith(ENDS):
            before = self.blocks[-2].end if len(self.blocks) > 1 else None
            if op == "bra" and before and before.op.startswith("mbarrier.try_wait") and not block.instructions:
                # A thread waits once, not again and again.
                if (made.predicate, made.negated) != (before.operands[0], True):
                    raise Unsupported(f"{self.name}: {text} behind {before.text}")
                return
            block.end = made
            self.start_block()
            return
        if predicate:
            raise Unsupported(f"{self.name}: a predicate in {text}")
        if op.startswith(COLLECTIVE):
            block.collective = max(block.collective, GROUP_THREADS if op.startswith("wgmma.") else 32)
        block.instructions.append(made)

    def declare(self, type_, names):
        width = 1 if type_ == "pred" else int(re.sub(r"\D", "", type_))
        for name in re.split(r"\s*,\s*", names):
            if match := re.fullmatch(r"(%\w+)<\d+>", name):
                self.ranges[match[1]] = width
            else:
                unique = f"{name.lstrip('%')}_{self.num_scopes}"
                self.scopes[-1][name] = unique
                self.registers[unique] = width

    def resolve(self, name):
        """The register of this name, or the name itself if it is none."""
        for scope in reversed(self.scopes):
            if name in scope:
                return "%" + scope[name]
        if match := re.fullmatch(r"(%[a-z]+)\d+", name):
            if match[1] in self.ranges:
                self.registers[name[1:]] = self.ranges[match[1]]
                return name
        if name.startswith("%") and not SPECIAL.match(name):
            raise Unsupported(f"{self.name}: register {name}")
        return name
