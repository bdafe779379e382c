"""NumPy statements for instructions that compute a register from others.

In them `m` is True or the mask of the threads that execute the block, and `t` their numbers.

SPDX-License-Identifier: MIT
"""

import numpy as np

from . import values
from .operands import SIGNED, UNSIGNED, dtype_of, integer, width_of
from .parser import Unsupported

#: Functions of two operands by operation; for floating-point types `rn` alone.
BINARY = {"add": "add", "sub": "subtract", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
LOGICAL = {"and": "logical_and", "or": "logical_or", "xor": "logical_xor", "not": "logical_not"}
COMPARE = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
#: Those of floating-point numbers that hold where an operand is NaN too, by what they are the opposite of.
UNORDERED = {"ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}
ROUNDINGS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def _binary(o, function, operands, type_):
    d, a, b = operands
    return [f"np.{function}({o.read(a, type_)}, {o.read(b, type_)}, out={o.view(d, type_)}, where=m)"]


def _helper(o, name, *arguments):
    return f"{o.constant(getattr(values, name), name)}({', '.join(arguments)})"


def _halves(o, function, operands):
    d, *rest = (o.read(x, "b32") for x in operands)
    return _put(d, _helper(o, "on_halves", f"np.{function}", *rest))


def _put(target, expression):
    return [f"np.copyto({target}, {expression}, where=m, casting='unsafe')"]


def binary(o, parts, operands):
    type_, modifiers = parts[-1], parts[1:-1]
    if type_ == "pred":
        a, b = (o.predicate(x) for x in operands[1:])
        return [f"np.{LOGICAL[parts[0]]}({a}, {b}, out={o.predicate(operands[0])}, where=m)"]
    if modifiers not in ([], ["rn"]):
        raise Unsupported(f"modifiers {modifiers}")
    if type_ == "f16x2":
        return _halves(o, BINARY[parts[0]], operands)
    return _binary(o, BINARY[parts[0]], operands, type_)


def unary(o, parts, operands):
    type_ = parts[-1]
    d, a = operands
    if type_ == "pred":
        return [f"np.logical_not({o.predicate(a)}, out={o.predicate(d)}, where=m)"]
    function = {"neg": "negative", "not": "bitwise_not", "abs": "absolute"}[parts[0]]
    return [f"np.{function}({o.read(a, type_)}, out={o.view(d, type_)}, where=m)"]


def extreme(o, parts, operands):
    """min and max: of a number and NaN the number, unless NaN is asked for."""
    type_, modifiers = parts[-1], parts[1:-1]
    if modifiers not in ([], ["NaN"]):
        raise Unsupported(f"modifiers {modifiers}")
    name = {"min": ("fmin", "minimum"), "max": ("fmax", "maximum")}[parts[0]]
    return _binary(o, name[type_[0] != "f" or bool(modifiers)], operands, type_)


def multiply(o, parts, operands):
    form, type_ = parts[1], parts[-1]
    if type_ == "f16x2":
        return _halves(o, "multiply", operands)
    d, a, b = operands
    if form in ("lo", "rn"):
        return _binary(o, "multiply", operands, type_)
    a, b = o.read(a, type_), o.read(b, type_)
    if form == "wide":
        wide = type_[0] + str(2 * width_of(type_))
        return [f"np.multiply({a}, {b}, out={o.view(d, wide)}, where=m, dtype=np.{dtype_of(wide).__name__})"]
    if form == "hi":
        return _put(o.view(d, type_), _helper(o, "multiply_high", a, b))
    raise Unsupported(f"modifier {form}")


def multiply_add(o, parts, operands):
    form, type_ = parts[1], parts[-1]
    d, *factors = operands
    if parts == ["fma", "rn", "bf16"]:
        return _put(o.view(d, "b16"), _helper(o, "fma_bf16", *(o.read(x, "b16") for x in factors)))
    a, b, c = (o.read(x, type_) for x in factors)
    if parts[0] == "fma" and parts[1:] in (["rm", "f32"], ["rn", "sat", "f32"]):
        return _put(o.view(d, type_), _helper(o, "fma_down" if form == "rm" else "fma_saturated", a, b, c))
    if (parts[0], form) not in (("mad", "lo"), ("fma", "rn")) or len(parts) != 3:
        raise Unsupported(f"modifiers {parts[1:-1]}")
    if parts[0] == "fma":
        return _put(o.view(d, type_), _helper(o, "fma", a, b, c))
    return [f"np.add(np.multiply({a}, {b}), {c}, out={o.view(d, type_)}, where=m)"]


def divide(o, parts, operands):
    type_ = parts[-1]
    if type_[0] == "f":
        if parts[1:-1] != ["rn"]:
            raise Unsupported(f"modifiers {parts[1:-1]}")
        return _binary(o, "divide", operands, type_)
    d, a, b = operands
    return _put(o.view(d, type_), _helper(o, "divide", o.read(a, type_), o.read(b, type_), str(parts[0] == "rem")))


def reciprocal(o, parts, operands):
    if parts[1:-1] != ["rn"]:
        raise Unsupported(f"modifiers {parts[1:-1]}")
    d, a = operands
    one = o.constant(dtype_of(parts[-1])(1))
    return [f"np.divide({one}, {o.read(a, parts[-1])}, out={o.view(d, parts[-1])}, where=m)"]


def square_root(o, parts, operands):
    if parts[1:-1] not in (["rn"], ["approx"], ["approx", "ftz"]):
        raise Unsupported(f"modifiers {parts[1:-1]}")
    d, a = operands
    return [f"np.sqrt({o.read(a, parts[-1])}, out={o.view(d, parts[-1])}, where=m)"]


def copy_sign(o, parts, operands):
    """The second operand with the sign of the first."""
    d, sign, a = operands
    return _binary(o, "copysign", (d, a, sign), parts[-1])


def power_of_two(o, parts, operands):
    d, a = operands
    return [f"np.exp2({o.read(a, 'f32')}, out={o.view(d, 'f32')}, where=m)"]


def logarithm(o, parts, operands):
    d, a = operands
    return [f"np.log2({o.read(a, 'f32')}, out={o.view(d, 'f32')}, where=m)"]


def shift(o, parts, operands):
    type_ = parts[-1]
    if parts[0] == "shl":
        type_ = "u" + type_[1:]
    d, a, count = operands
    if not o.is_register(count) and integer(count) < width_of(type_):
        function = "left_shift" if parts[0] == "shl" else "right_shift"
        bits = o.constant(dtype_of(type_)(integer(count)))
        return [f"np.{function}({o.read(a, type_)}, {bits}, out={o.view(d, type_)}, where=m)"]
    moved = _helper(o, "shift", o.read(a, type_), o.read(count, "u32"), str(parts[0] == "shl"))
    return _put(o.view(d, type_), moved)


def extract_bits(o, parts, operands):
    """bfe, with places that are known."""
    type_ = parts[-1]
    d, a, first, count = operands
    first, count, width = integer(first), integer(count), width_of(type_)
    if not 0 < count <= width - first:
        raise Unsupported(f"bits {first} to {first + count}")
    left, right = (o.constant(dtype_of(type_)(n)) for n in (width - first - count, width - count))
    return _put(o.view(d, type_), f"({o.read(a, type_)} << {left}) >> {right}")


def permute(o, parts, operands):
    d, *rest = operands
    return _put(o.view(d, "b32"), _helper(o, "permute_bytes", *(o.read(x, "b32") for x in rest)))


def compare(o, parts, operands):
    if len(parts) != 3 or len(operands) != 3:
        raise Unsupported("setp with another predicate")
    _, how, type_ = parts
    d, a, b = operands
    d, a, b = o.predicate(d), o.read(a, type_), o.read(b, type_)
    if how in ("nan", "num"):
        found = f"np.isnan({a}) | np.isnan({b})"
        return _put(d, found if how == "nan" else f"~({found})")
    # lo, ls, hi and hs are older names of comparisons of unsigned integers.
    how = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
    if how == "ne" and type_[0] == "f":
        return _put(d, f"({a} < {b}) | ({a} > {b})")
    if how == "neu":
        how = "ne"
    elif how == "equ":
        return _put(d, f"~(({a} < {b}) | ({a} > {b}))")
    elif how in UNORDERED:
        return _put(d, f"~np.{COMPARE[UNORDERED[how]]}({a}, {b})")
    return [f"np.{COMPARE[how]}({a}, {b}, out={d}, where=m)"]


def select(o, parts, operands):
    d, a, b, which = operands
    type_ = parts[-1]
    return _put(o.view(d, type_), f"np.where({o.predicate(which)}, {o.read(a, type_)}, {o.read(b, type_)})")


def move(o, parts, operands):
    d, a = operands
    type_ = parts[-1]
    if type_ == "pred":
        return _put(o.predicate(d), o.predicate(a) if o.is_register(a) else o.constant(bool(integer(a))))
    width = width_of(type_)
    if d.startswith("{"):
        pieces = o.list(d)
        part = width // len(pieces)
        # The first register may be the source itself.
        lines = [f"source = {o.read(a, f'b{width}')}.copy()"]
        for i, piece in enumerate(pieces):
            if piece != "_":
                lines += _put(o.view(piece, f"b{part}"), f"source >> {o.constant(UNSIGNED[width](i * part))}")
        return lines
    if a.startswith("{"):
        pieces = o.list(a)
        part = width // len(pieces)
        name = np.dtype(UNSIGNED[width]).name
        terms = []
        for i, piece in enumerate(pieces):
            bits = o.constant(UNSIGNED[width](i * part))
            term = o.read(piece, f"b{part}")
            terms.append(f"({term}.astype(np.{name}) << {bits})")
        return _put(o.view(d, f"b{width}"), " | ".join(terms))
    return _put(o.view(d, f"b{width}"), o.read(a, f"b{width}"))


def convert(o, parts, operands):
    *modifiers, to, source = parts[1:]
    d, rest = operands[0], operands[1:]
    modifiers = [x for x in modifiers if x != "rn"]
    if to in ("f16x2", "bf16x2") and source == "f32" and not modifiers:
        halves = [o.read(x, "f32") for x in rest]
        if to == "f16x2":
            halves = [f"{h}.astype(np.float16).view(np.uint16)" for h in halves]
        else:
            halves = [_helper(o, "bf16_of_float", h) for h in halves]
        return _put(o.view(d, "b32"), _helper(o, "pair", *halves))
    if to in values.FLOAT8 and source == "f32" and modifiers == ["satfinite"]:
        return _put(o.view(d, "b16"), _helper(o, "float8_pair", *(o.read(x, "f32") for x in rest), repr(to)))
    if to == "f16x2" and source in values.FLOAT8 and not modifiers:
        return _put(o.view(d, "b32"), _helper(o, "halves_of_float8", o.read(rest[0], "b16"), repr(source)))
    if to == "bf16" and source == "f32" and not modifiers:
        return _put(o.view(d, "b16"), _helper(o, "bf16_of_float", o.read(rest[0], "f32")))
    if to in ("f32", "f64") and source == "bf16" and not modifiers:
        return _put(o.view(d, to), _helper(o, "float_of_bf16", o.read(rest[0], "b16")))
    value = o.read(rest[0], source)
    if source[0] == "f" and to[0] != "f":
        rounding = o.constant(ROUNDINGS[modifiers.pop()])
        value = _helper(o, "integer_of_float", value, rounding, f"np.{dtype_of(to).__name__}")
    elif to == source and modifiers and modifiers[0] in ROUNDINGS:
        value = f"{o.constant(ROUNDINGS[modifiers.pop()])}({value})"
    if modifiers:
        raise Unsupported(f"modifiers {modifiers}")
    return widen(o, d, to, value)


def widen(o, register, type_, value):
    """Puts a value of a type in a register that may be wider."""
    name, width = o.register(register)
    if width == width_of(type_):
        return _put(o.view(register, type_), value)
    wide = (SIGNED if type_[0] == "s" else UNSIGNED)[width]
    target = name + ("_s" if type_[0] == "s" else "")
    return _put(target, f"np.asarray({value}).astype(np.{dtype_of(type_).__name__}).astype(np.{wide.__name__})")


def full_mask(text):
    if integer(text) & 0xFFFFFFFF != 0xFFFFFFFF:
        raise Unsupported(f"members {text}, expects all threads of a warp")


def shuffle(o, parts, operands):
    *targets, a, b, c, members = operands
    full_mask(members)
    mode = parts[2]
    lines = [f"shuffled = {_helper(o, 'shuffle', repr(mode), o.read(a, 'b32'), o.read(b, 'b32'), o.read(c, 'b32'))}"]
    lines += _put(o.view(targets[0], "b32"), "shuffled[0]")
    if len(targets) > 1:
        lines += _put(o.predicate(targets[1]), "shuffled[1]")
    return lines


def vote(o, parts, operands):
    d, a, members = operands
    full_mask(members)
    target = o.view(d, "b32") if parts[2] == "ballot" else o.predicate(d)
    # Of threads that do not take part nothing is known, but warps do so as a whole.
    return _put(target, _helper(o, "vote", repr(parts[2]), o.predicate(a)))


INSTRUCTIONS = {
    **dict.fromkeys(BINARY, binary), **dict.fromkeys(("neg", "not", "abs"), unary),
    **dict.fromkeys(("min", "max"), extreme), "mul": multiply, "mad": multiply_add, "fma": multiply_add,
    **dict.fromkeys(("div", "rem"), divide), "rcp": reciprocal, "sqrt": square_root, "copysign": copy_sign,
    "ex2": power_of_two, "lg2": logarithm,
    **dict.fromkeys(("shl", "shr"), shift), "bfe": extract_bits, "prmt": permute, "setp": compare, "selp": select,
    "mov": move, "cvt": convert, "shfl": shuffle, "vote": vote,
}
