"""Names that stand for PTX's operands in NumPy statements.

A register is an array with one element per thread, under its own name as an unsigned integer, with
_s and _f behind it as a signed integer and as a floating-point number. Immediates are constants
of the namespace that the statements are compiled in.

SPDX-License-Identifier: MIT
"""

import re

import numpy as np

from .parser import Unsupported

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
KINDS = {"u": UNSIGNED, "b": UNSIGNED, "s": SIGNED, "f": FLOATS}
TYPE = re.compile(r"([busf])(8|16|32|64)")
ADDRESS = re.compile(r"\[\s*(%?[\w.]+)\s*(?:\+\s*(-?\w+))?\s*\]")
#: Where shared memory starts in its window: not at 0, so that a null pointer is outside.
SHARED_BASE = 0x400
#: Distance of the shared memories of a cluster in their window; a CTA's own is number 0 in its own.
CLUSTER_STRIDE = 1 << 24
SHARED_SYMBOL = "kron_smem"


def dtype_of(type_):
    match = TYPE.fullmatch(type_)
    if not match or int(match[2]) not in KINDS[match[1]]:
        raise Unsupported(f"type {type_}")
    return KINDS[match[1]][int(match[2])]


def width_of(type_):
    return int(re.sub(r"\D", "", type_))


def integer(text):
    """The value of an immediate integer."""
    return int(text.rstrip("Uu"), 0)


class Operands:
    def __init__(self, kernel, namespace):
        self.kernel, self.namespace = kernel, namespace
        self.constants = {}

    def constant(self, value, key=None):
        """A name for a value."""
        key = key or (type(value), value)
        if key not in self.constants:
            self.constants[key] = f"constant_{len(self.constants)}"
            self.namespace[self.constants[key]] = value
        return self.constants[key]

    def is_register(self, text):
        return text[1:] in self.kernel.registers

    def register(self, text):
        """(name, width) of a register."""
        if not self.is_register(text):
            raise Unsupported(f"operand {text}, expects a register")
        return text[1:], self.kernel.registers[text[1:]]

    def predicate(self, text):
        name, width = self.register(text)
        if width != 1:
            raise Unsupported(f"operand {text}, expects a predicate")
        return name

    def view(self, text, type_):
        """A register, of the type's width, as that type."""
        name, width = self.register(text)
        if width != width_of(type_):
            raise Unsupported(f"register {text} of {width} bits as {type_}")
        return name + {"s": "_s", "f": "_f"}.get(type_[0], "")

    def read(self, text, type_):
        """An operand as a type that is not wider."""
        if text.startswith("%"):
            if not self.is_register(text):
                return text[1:].replace(".", "_")
            name, width = self.register(text)
            if width == width_of(type_):
                return self.view(text, type_)
            if width < width_of(type_):
                raise Unsupported(f"register {text} of {width} bits as {type_}")
            # The low bits, of which the type may be any of that width.
            unsigned = UNSIGNED[width_of(type_)].__name__
            return f"{name}.astype(np.{unsigned}).view(np.{dtype_of(type_).__name__})"
        return self.constant(self.immediate(text, type_))

    @staticmethod
    def immediate(text, type_):
        width = width_of(type_)
        unsigned, wanted = UNSIGNED[width], dtype_of(type_)
        if text[:2] in ("0f", "0d"):
            given = (np.uint32 if text[1] == "f" else np.uint64)(int(text[2:], 16))
            if given.itemsize * 8 != width:
                raise Unsupported(f"immediate {text} as {type_}")
            return np.array([given]).view(wanted)[0]
        if text == SHARED_SYMBOL:
            value = SHARED_BASE
        elif re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)[Uu]?", text):
            value = integer(text)
        else:
            raise Unsupported(f"operand {text}")
        return np.array([value & (1 << width) - 1], np.uint64).astype(unsigned).view(wanted)[0]

    def address(self, text):
        """(expression of the register or None, offset) of an address in brackets."""
        match = ADDRESS.fullmatch(text)
        if not match:
            raise Unsupported(f"address {text}")
        offset = integer(match[2]) if match[2] else 0
        if match[1].startswith("%"):
            return self.register(match[1])[0], offset
        if match[1] != SHARED_SYMBOL:
            raise Unsupported(f"address {text}")
        return "None", offset + SHARED_BASE

    def list(self, text):
        """The operands of a vector in braces, or the one without them."""
        return re.findall(r"[^\s,{}]+", text) if text.startswith("{") else [text]

    def names(self, text, type_=None):
        """Python's tuple of the registers of a vector."""
        names = [self.view(r, type_) if type_ else self.register(r)[0] for r in self.list(text)]
        return f"({', '.join(names)},)"
