"""Operations of a function that is being built, and what they become before they are
printed: unused ones go, elementwise arithmetic is done in one loop, and multiples and
sums of Kronecker products become their alpha, beta and addend, so that no pass over
memory is spent on them.

SPDX-License-Identifier: MIT
"""

from kron import _build


class Dim:
    """A size that is known when the function runs."""

    def __init__(self, name, value):
        self.name, self.value = name, value
        #: The argument and axis that say it.
        self.source = None

    def __repr__(self):
        return self.name


def tensor_type(shape, element):
    sizes = "".join("?x" if isinstance(size, Dim) else f"{size}x" for size in shape)
    return f"tensor<{sizes}{element}>"


# --- operations ----------------------------------------------------------------------


class Node:
    """An operation with one result. `render(names, types)` is its text, in which
    `{init}` is its destination and `{type}` the type of both."""

    def __init__(self, operands, render):
        self.operands, self._render = list(operands), render

    def with_operands(self, operands):
        return Node(operands, self._render)

    def render(self, names, result):
        return self._render(names, [operand.mlir_type for operand in self.operands])


class Product(Node):
    """mkm, kmm, batched or ksmm. `alpha` and `beta` are numbers or runtime scalars,
    `z` is the addend; `render(names, types, scaling)` is the text."""

    def __init__(self, operands, render, alpha=1, beta=0, z=None, is_linear=True,
                 multiply_adds=0):
        super().__init__([*operands, *([] if z is None else [z])], render)
        self.alpha, self.beta, self.has_addend = alpha, beta, z is not None
        #: Whether the result is a multiple of the product alone.
        self.is_linear = is_linear
        #: Per element of the result.
        self.multiply_adds = multiply_adds

    @property
    def z(self):
        return self.operands[-1] if self.has_addend else None

    def with_operands(self, operands):
        inputs, z = operands, None
        if self.has_addend:
            inputs, z = operands[:-1], operands[-1]
        return Product(inputs, self._render, self.alpha, self.beta, z, self.is_linear,
                       self.multiply_adds)

    def scaled(self, scalar, factor, beta=None, z=None):
        """factor times this plus, instead of its own addend, beta * z, where constants are
        of type `scalar`; None where that is no such operation."""
        if factor != 1 and not all(isinstance(number, (int, float, complex))
                                   for number in (self.alpha, self.beta)):
            return None
        inputs = self.operands[:-1] if self.has_addend else self.operands
        alpha = self.alpha if factor == 1 else self.alpha * factor
        if z is None:
            beta, z = self.beta if factor == 1 else self.beta * factor, self.z
        if factor != 1 and (alpha == 0 or not all(
                _build.has_range_for(number, scalar) for number in (alpha, beta))):
            return None
        return Product(inputs, self._render, alpha, beta, z, self.is_linear,
                       self.multiply_adds)

    def render(self, names, result):
        scalar = _build.scalar_type(result.element)
        text = ""
        for name, value, default in (("alpha", self.alpha, 1), ("beta", self.beta, 0)):
            if not isinstance(value, (int, float, complex)):
                text += f" {name}({value.name} : {value.element})"
            elif value != default:
                text += f" {name}({_build.attribute(wrapped(value, result.dtype), scalar)})"
        types = [operand.mlir_type for operand in self.operands]
        if self.has_addend:
            text += f" addend({names[-1]} : {types[-1]})"
        return self._render(names, types, text)


class Elementwise(Node):
    """Arithmetic on arrays that broadcast. `tree` is a value, a number, or a tuple
    (operation, left, right)."""

    def __init__(self, tree):
        self.tree = tree
        super().__init__(leaves(tree), None)

    def with_operands(self, operands):
        return Elementwise(substituted(self.tree, dict(zip(self.operands, operands))))

    def render(self, names, result):
        element, compute = result.element, _build.scalar_type(result.element)
        rank = len(result.shape)
        maps = [broadcast_map(operand.shape, result.shape) for operand in self.operands]
        maps.append(broadcast_map(result.shape, result.shape))
        types = ", ".join(operand.mlir_type for operand in self.operands)
        block = ", ".join(f"%in{i}: {element}" for i in range(len(names)))
        lines = [f"^bb0({block}, %out: {element}):"]
        known = {operand: f"%in{i}" for i, operand in enumerate(self.operands)}
        # Narrow types compute in f32 and round once.
        if compute != element:
            for i, operand in enumerate(self.operands):
                known[operand] = f"%w{i}"
                lines.append(f"  %w{i} = arith.extf %in{i} : {element} to {compute}")
        final = _render_tree(self.tree, known, result, compute, lines)
        if compute != element:
            lines.append(f"  %n = arith.truncf {final} : {compute} to {element}")
            final = "%n"
        body = "\n    ".join([*lines, f"  linalg.yield {final} : {element}"])
        parallel = ", ".join(['"parallel"'] * rank)
        return (f"linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                f"iterator_types = [{parallel}]}} ins({', '.join(names)} : {types}) "
                f"outs({{init}} : {{type}}) {{\n    {body}\n    }} -> {{type}}")


def _render_tree(tree, known, result, compute, lines):
    """The name of the tree's value; adds the lines that compute it."""
    values = []
    for entry in postorder(tree):
        name = f"%v{len(lines)}"
        if isinstance(entry, tuple):
            right, left = values.pop(), values.pop()
            lines.append(f"  {name} = {_operation(compute, entry[0])} {left}, {right} : "
                         f"{compute}")
        elif isinstance(entry, (int, float, complex)):
            lines.append(f"  {name} = {_constant(wrapped(entry, result.dtype), compute)}")
        else:
            name = known[entry]
        values.append(name)
    return values[0]


def _operation(element, name):
    if element.startswith("complex"):
        return f"complex.{name}"
    return f"arith.{name}i" if element in ("i32", "i64") else f"arith.{name}f"


def _constant(number, scalar):
    texts, kind = _build.literals(number, scalar)
    if scalar.startswith("complex"):
        return f"complex.constant [{', '.join(f'{text} : {kind}' for text in texts)}] : {scalar}"
    return f"arith.constant {texts[0]} : {kind}"


def wrapped(number, dtype):
    """An integer modulo the type's range, any other number as it is."""
    if dtype.kind != "i":
        return number
    bits = 8 * dtype.itemsize
    return (int(number) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def broadcast_map(shape, result):
    dims = ", ".join(f"d{axis}" for axis in range(len(result)))
    entries = []
    for axis, size in enumerate(shape, len(result) - len(shape)):
        stretched = isinstance(size, int) and size == 1 and result[axis] != 1
        entries.append("0" if stretched else f"d{axis}")
    return f"affine_map<({dims}) -> ({', '.join(entries)})>"


# --- trees ---------------------------------------------------------------------------


def postorder(tree):
    """Entries of a tree, operands before their operation; trees may be deep."""
    stack, result = [tree], []
    while stack:
        entry = stack.pop()
        result.append(entry)
        if isinstance(entry, tuple):
            stack += [entry[1], entry[2]]
    return reversed(result)


def occurrences(tree):
    """How often each value stands in a tree."""
    counts = {}
    for entry in postorder(tree):
        if not isinstance(entry, (tuple, int, float, complex)):
            counts[entry] = counts.get(entry, 0) + 1
    return counts


def leaves(tree):
    """The values of a tree."""
    return list(occurrences(tree))


def substituted(tree, replacements):
    """The tree with values, or trees, for values."""
    values = []
    for entry in postorder(tree):
        if isinstance(entry, tuple):
            right, left = values.pop(), values.pop()
            entry = (entry[0], left, right)
        elif not isinstance(entry, (int, float, complex)):
            entry = replacements.get(entry, entry)
        values.append(entry)
    return values[0]


def linear_form(tree):
    """{value: coefficient} if the tree is such a sum, else None."""
    forms = []
    for entry in postorder(tree):
        if not isinstance(entry, tuple):
            is_number = isinstance(entry, (int, float, complex))
            forms.append({None: entry} if is_number else {entry: 1})
            continue
        right, left = forms.pop(), forms.pop()
        form = _combine(entry[0], left, right)
        if form is None:
            return None
        forms.append(form)
    form = forms[0]
    if form.get(None) == 0:
        del form[None]
    return None if None in form else form


def _combine(name, left, right):
    if name in ("add", "sub"):
        sign = 1 if name == "add" else -1
        return {key: left.get(key, 0) + sign * right.get(key, 0)
                for key in {**left, **right}}
    if name == "mul" and list(left) == [None]:
        left, right = right, left
    number = right.get(None)
    if list(right) != [None] or (name == "div" and number == 0):
        return None
    if name == "mul":
        return {key: value * number for key, value in left.items()}
    return {key: value / number for key, value in left.items()}


# --- before printing -----------------------------------------------------------------


def _live(nodes, results):
    """The values among `nodes` that results need, in order."""
    needed, live = set(results), []
    for value in reversed(nodes):
        if value in needed:
            live.append(value)
            needed.update(value.node.operands)
    return live[::-1]


def simplify(nodes, results, make):
    """(values in order, results) of an equal function. `make(node, like)` is a new value
    with the type of another."""
    nodes = _live(nodes, results)
    uses = {}
    for value in nodes:
        tree = getattr(value.node, "tree", None)
        counts = occurrences(tree) if tree is not None else dict.fromkeys(value.node.operands, 1)
        for operand, count in counts.items():
            uses[operand] = uses.get(operand, 0) + count
    for value in results:
        uses[value] = uses.get(value, 0) + 1
    replaced, order = {}, []

    def add(node, like):
        new = make(node, like)
        order.append(new)
        return new

    for value in nodes:
        node = value.node.with_operands([replaced.get(o, o) for o in value.node.operands])
        if isinstance(node, Elementwise):
            node = _inlined(node, value, uses)
            node = _folded(node, value, uses, add) or node
        new = add(node, value)
        replaced[value], uses[new] = new, uses[value]
    results = [replaced.get(value, value) for value in results]
    return _live(order, results), results


def _inlined(node, value, uses):
    """With the arithmetic of operands that nothing else needs."""
    counts = occurrences(node.tree)
    trees = {operand: operand.node.tree for operand, count in counts.items()
             if isinstance(operand.node, Elementwise) and count == 1 == uses[operand]
             and operand.shape == value.shape}
    return Elementwise(substituted(node.tree, trees)) if trees else node


def _folded(node, value, uses, add):
    """The sum as a product with alpha, beta and addend, or None."""
    form = linear_form(node.tree)
    scalar = _build.scalar_type(value.element)
    if form is None or not all(_is_coefficient(number, scalar) for number in form.values()):
        return None
    counts = occurrences(node.tree)
    for operand, factor in form.items():
        product = operand.node
        if not (isinstance(product, Product) and product.is_linear
                and operand.shape == value.shape and counts[operand] == uses[operand]):
            continue
        others = {other: own for other, own in form.items() if other is not operand}
        if not others:
            return product.scaled(scalar, factor)
        if product.has_addend:
            if not isinstance(product.beta, (int, float, complex)):
                continue
            others[product.z] = others.get(product.z, 0) + product.beta * factor
        if not all(_is_coefficient(number, scalar) for number in others.values()) \
                or any(other.shape != value.shape for other in others) \
                or product.scaled(scalar, factor) is None:
            continue
        (z, beta), *more = others.items()
        if more:
            rest = Elementwise(_sum_of(others.items()))
            beta, z = 1, add(_folded(rest, value, uses, add) or rest, value)
            uses[z] = 1
        return product.scaled(scalar, factor, beta, z)
    return None


def _is_coefficient(number, scalar):
    return number != 0 and _build.has_range_for(number, scalar)


def _sum_of(terms):
    tree = None
    for value, factor in terms:
        term = value if factor == 1 else ("mul", value, factor)
        tree = term if tree is None else ("add", tree, term)
    return tree


def render(nodes, name_of, fresh):
    """Lines of text; `name_of` maps values to names and is extended."""
    lines = []
    for value in nodes:
        kind = tensor_type(value.shape, value.element)
        text = value.node.render([name_of[operand] for operand in value.node.operands], value)
        init = ""
        if "{init}" in text:
            init = fresh()
            sizes = ", ".join(size.value for size in value.shape if isinstance(size, Dim))
            lines.append(f"{init} = tensor.empty({sizes}) : {kind}")
        name_of[value] = fresh()
        text = text.replace("{init}", init).replace("{type}", kind)
        lines.append(f"{name_of[value]} = {text}")
    return lines
