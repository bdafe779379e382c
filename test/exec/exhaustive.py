"""The exhaustive list of cases over small shapes: every operation, type and op()
combination, all kinds of scalars, destinations, layouts and epilogues.

SPDX-License-Identifier: MIT
"""

import functools
import itertools

import numpy as np

from builder import (ADDENDS, ALL_OPS, ALPHA_KINDS, BETA_KINDS, MEMREF_LAYOUTS, OPS,
                     PRODUCTS)
from dtypes import REAL_FLOATS, TYPES


def _cycle(i):
    """The choices that every case makes beside what it is about; `i` counts
    through them so that neighbours differ and all pairs come up."""
    return {
        "form": ("tensor", "memref")[i % 2],
        "memref_layout": MEMREF_LAYOUTS[i // 2 % 3],
        "alpha": ALPHA_KINDS[i % 5],
        "beta": BETA_KINDS[i // 5 % 6],
        "addend": ADDENDS[i // 3 % 3],
        "init_argument": i % 9 == 0,
        "dynamic": [("rows",), (), ("rows", "batch"), (), ("factors",), ("rows",), (), ()][i // 2 % 8],
        "attributes": ["precision = #kron.precision<ieee>"] if i % 11 == 0 else [],
    }


_PRODUCT_SHAPES = (
    dict(sizes=[(2, 3), (4, 2)], rows=3, x_batch=(), f_batches=((), ())),
    dict(sizes=[(8, 8), (8, 8)], rows=5, x_batch=(), f_batches=((), ())),
    dict(sizes=[(3, 5), (1, 7)], rows=2, x_batch=(2,), f_batches=((), (2,))),
    dict(sizes=[(16, 4), (5, 16)], rows=17, x_batch=(), f_batches=((), ())),
    dict(sizes=[(4, 1), (3, 3)], rows=1, x_batch=(1, 3), f_batches=((2, 1), ())),
    dict(sizes=[(12, 8), (1, 2)], rows=20, x_batch=(), f_batches=((), ())),
    dict(sizes=[(7, 2), (2, 9)], rows=0, x_batch=(), f_batches=((3,), ())),
)


def _exhaustive_products(count):
    for op, element in itertools.product(PRODUCTS, TYPES):
        for op_x, *ops in itertools.product(OPS, OPS, OPS):
            i = next(count)
            yield _cycle(i) | dict(op=op, type=element, op_x=op_x, ops=ops,
                                   **_PRODUCT_SHAPES[i % 7])


def _exhaustive_scaling(count):
    """Every pair of alpha and beta, destination and form, on every operation."""
    for alpha, beta, addend, form in itertools.product(
            ALPHA_KINDS, BETA_KINDS, ADDENDS, ("tensor", "memref")):
        if (beta == "absent" and addend != "outs") or (form == "tensor" and addend == "same"):
            continue
        i = next(count)
        op = ALL_OPS[i % len(ALL_OPS)]
        p = _cycle(i) | dict(op=op, type=list(TYPES)[i // len(ALL_OPS) % len(TYPES)])
        p |= dict(alpha=alpha, beta=beta, addend=addend, form=form)
        if op == "ksmm":
            p |= _ksmm_parameters(i)
        elif op == "ksmm_grad":
            p |= _grad_parameters(i)
        elif op == "factor_grad":
            p |= _factor_grad_parameters(i)
        elif op == "bias_grad":
            p |= _bias_grad_parameters(i)
        elif op == "mode_product":
            p |= _mode_parameters(i)
        else:
            p |= dict(op_x="N", ops=["N", "N"], **_PRODUCT_SHAPES[i % 3])
        yield p


def _ksmm_parameters(i):
    return dict(
        pattern=[(2, 3, 4, 5), (1, 8, 8, 16), (3, 1, 2, 1), (2, 16, 4, 1), (1, 5, 7, 3)][i % 5],
        rows=(3, 16, 1, 0, 9)[i // 2 % 5], op_x="N", op_weights="N", layout="batch_first",
        activation="identity", bias=False, residual=False, scale=False)


def _exhaustive_ksmm(count):
    for element, op_x, op_weights, layout in itertools.product(
            TYPES, OPS, OPS, ("batch_first", "batch_last")):
        i = next(count)
        p = _cycle(i) | _ksmm_parameters(i)
        yield p | dict(op="ksmm", type=element, op_x=op_x, op_weights=op_weights, layout=layout,
                       bias=i % 3 == 0, residual=i % 4 == 0, scale=i % 5 == 0)
    for element, activation, bias, residual, scale, layout in itertools.product(
            TYPES, ("identity", "relu", "gelu", "silu"), (False, True), (False, True),
            (False, True), ("batch_first", "batch_last")):
        if activation != "identity" and TYPES[element].is_complex:
            continue
        if activation in ("gelu", "silu") and element not in REAL_FLOATS:
            continue
        i = next(count)
        if i % 2 and element not in ("f32", "f64"):
            continue
        p = _cycle(i) | _ksmm_parameters(i)
        yield p | dict(op="ksmm", type=element, activation=activation, bias=bias,
                       residual=residual, scale=scale, layout=layout)


#: Factors that are contiguous along p in vectors, in parts of one and in periods of several,
#: and some that are not.
_FEW_ROWS_PATTERNS = ((2, 32, 64, 1), (1, 24, 64, 4), (1, 21, 24, 3), (2, 13, 8, 1),
                      (1, 8, 16, 32), (3, 6, 4, 2))


def _exhaustive_few_rows(count):
    """So few rows, of a known number, that factors are used as they lie, which has to be
    known, too."""
    for element, layout, pattern in itertools.product(
            TYPES, ("batch_first", "batch_last"), _FEW_ROWS_PATTERNS):
        # Weights of bf16 are read in pairs if there is one row.
        for rows in (None, 1) if element == "bf16" else (None,):
            i = next(count)
            yield _cycle(i) | _ksmm_parameters(i) | dict(
                op="ksmm", type=element, pattern=pattern, layout=layout, dynamic=(),
                form="memref", memref_layout=MEMREF_LAYOUTS[0],
                rows=rows or (7, 1, 2, 8, 4, 3, 5)[i % 7])


def _exhaustive_few_results(count):
    """So few results that lanes run over what is contracted for any number of rows, in
    blocks of four and those that are left; and short inner axes that they run over alone."""
    for element, pattern, rows in itertools.product(
            TYPES, ((2, 1, 40, 1), (3, 2, 37, 1), (2, 3, 66, 1), (3, 1, 19, 2), (2, 2, 50, 4),
                    (2, 5, 7, 6), (3, 4, 9, 3), (2, 3, 12, 8)), (14, 31)):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout="batch_first", op_weights="N",
            dynamic=("rows",) if i % 2 else (), form="memref",
            memref_layout=MEMREF_LAYOUTS[0], rows=rows)


def _exhaustive_fibres(count):
    """Rows of an unknown number that share vectors, added to the array that they are taken
    from: none may be computed twice."""
    for element, sizes, rows in itertools.product(
            ("f32", "f64", "i32"), ([(5, 5)], [(3, 3)], [(6, 6)], [(2, 2), (3, 3)]), (7, 37, 100)):
        i = next(count)
        yield _cycle(i) | dict(op="mkm", type=element, sizes=sizes, ops=["N"] * len(sizes),
                               op_x="NT"[i % 2], x_batch=(), f_batches=((),) * len(sizes),
                               rows=rows, dynamic=("rows",), form="memref",
                               memref_layout=MEMREF_LAYOUTS[0], beta="operand", addend="same")


def _exhaustive_empty(count):
    """Arrays without columns or rows, of several factors."""
    for op, element, sizes in itertools.product(
            ("kmm", "mkm"), ("f32", "c64", "i64"),
            ([(3, 3), (5, 5)], [(3, 3), (2, 2), (5, 5), (7, 6)], [(4, 4), (4, 4), (64, 64)])):
        i = next(count)
        yield _cycle(i) | dict(op=op, type=element, sizes=sizes, ops=["N"] * len(sizes),
                               op_x="N", x_batch=(), f_batches=((),) * len(sizes), rows=0,
                               dynamic=())


def _exhaustive_many_rows(count):
    """Large factors that depend on an innermost axis that does not divide a register, and so
    many rows that this is put outside of the others."""
    for element, pattern, dynamic in itertools.product(
            TYPES, ((1, 97, 100, 3), (2, 96, 99, 5)), ((), ("rows",))):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout="batch_first",
            dynamic=dynamic, rows=(128, 131)[i % 2])


def _exhaustive_streamed_blocks(count):
    """Blocks of sparse factors that end within a cache line, of which tiles take several, or
    all columns, so that results are copied with non-temporal stores."""
    for element, pattern, layout, dynamic in itertools.product(
            TYPES, ((8, 12, 8, 1), (16, 5, 16, 1), (4, 3, 4, 4)), ("batch_first", "batch_last"),
            ((), ("rows",))):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout=layout, dynamic=dynamic,
            rows=(28, 37, 100, 12)[i % 4], streamed=True)


def _exhaustive_8_bits(count):
    """X, weights or both of 8 bits, beside results of all types."""
    pairs = (("e4m3", "e4m3"), ("e5m2", None), (None, "e4m3"), ("e4m3", "e5m2"))
    for element, pair, layout in itertools.product(
            REAL_FLOATS, pairs, ("batch_first", "batch_last")):
        for op_weights in "NT":
            i = next(count)
            yield _cycle(i) | _ksmm_parameters(i) | dict(
                op="ksmm", type=element, of_8_bits=pair, layout=layout, op_weights=op_weights,
                bias=i % 3 == 0, residual=i % 4 == 0, scale=i % 5 == 0,
                activation=("identity", "relu", "gelu")[i % 3])


def _grad_parameters(i):
    """Batches that leave something over from blocks of 64 and of 8, and do not."""
    return dict(
        pattern=[(2, 3, 4, 5), (1, 8, 8, 16), (3, 1, 2, 1), (2, 16, 4, 1), (1, 5, 7, 3),
                 (1, 4, 1, 8)][i % 6],
        rows=(3, 64, 1, 73, 0, 16, 138)[i % 7], layout=("batch_first", "batch_last")[i // 3 % 2],
        conj=(False, False))


def _exhaustive_grads(count):
    for element, layout, conj_input, conj_grad in itertools.product(
            TYPES, ("batch_first", "batch_last"), (False, True), (False, True)):
        for _ in range(3):
            i = next(count)
            yield _cycle(i) | _grad_parameters(i) | dict(
                op="ksmm_grad", type=element, layout=layout, conj=(conj_input, conj_grad))


def _factor_grad_parameters(i):
    """Factors that are applied to X, to the gradient or to neither, before and behind."""
    sizes = [[(4, 3)], [(3, 5), (4, 2)], [(2, 3), (5, 4), (3, 3)], [(8, 8), (8, 8), (8, 8)],
             [(1, 2), (3, 1)], [(2, 2), (7, 5), (16, 32)]][i % 6]
    return dict(sizes=sizes, index=i // 2 % len(sizes), ops=["N"] * (len(sizes) - 1),
                rows=(3, 16, 1, 0, 70)[i // 3 % 5], x_batch=((), (2,), (3, 2))[i // 4 % 3],
                layout=("batch_first", "batch_last")[i // 5 % 2], conj=(False, False))


def _bias_grad_parameters(i):
    return dict(features=(1, 7, 64, 300)[i % 4], rows=(3, 64, 1, 0, 73, 1000)[i % 6],
                layout=("batch_first", "batch_last")[i // 3 % 2], wide=bool(i % 2))


def _exhaustive_factor_grads(count):
    for element, layout, conj, op in itertools.product(
            TYPES, ("batch_first", "batch_last"),
            ((False, False), (True, False), (True, True)), OPS):
        for _ in range(2):
            i = next(count)
            p = _cycle(i) | _factor_grad_parameters(i)
            yield p | dict(op="factor_grad", type=element, layout=layout, conj=conj,
                           ops=[op] * len(p["ops"]))
    for element, layout in itertools.product(TYPES, ("batch_first", "batch_last")):
        for _ in range(4):
            i = next(count)
            yield _cycle(i) | _bias_grad_parameters(i) | dict(
                op="bias_grad", type=element, layout=layout)
    for element, layout, shared in itertools.product(
            TYPES, ("batch_first", "batch_last"), ((True, False), (False, True), (True, True))):
        for _ in range(2):
            i = next(count)
            p = _cycle(i) | _grad_parameters(i) | dict(op="ksmm_grad", type=element)
            yield p | dict(layout=layout, shared=shared,
                           pattern=[(2, 3, 4, 5), (3, 8, 8, 16), (4, 1, 2, 96)][i % 3])


def _mode_parameters(i):
    return dict(axis=1, shape=(3, 4, 5), q=6, factor_dims="pq", stretched=(),
                factor_stretched=(), dynamic_axes=(0,) if i % 3 else (), conj=(False, False),
                wide=(False, False))


def _exhaustive_modes(count):
    shapes = ((5,), (4, 6), (3, 8, 16), (2, 3, 4, 5))
    for element, shape in itertools.product(TYPES, shapes):
        for axis in range(len(shape)):
            others = [str(a) for a in range(len(shape)) if a != axis]
            for extra in ([], others[:1], others[-1:], others):
                i = next(count)
                dims = ["p", "q", *extra]
                np.random.default_rng(i).shuffle(dims)
                yield _cycle(i) | _mode_parameters(i) | dict(
                    op="mode_product", type=element, axis=axis, shape=shape, q=(7, 4, 1)[i % 3],
                    factor_dims=dims, conj=(i % 2 == 1, i % 4 >= 2),
                    stretched=tuple(int(o) for o in others[:1]) if i % 5 == 0 else (),
                    factor_stretched=tuple(map(int, extra[:1])) if i % 3 == 0 else (),
                    dynamic_axes=(0, 2) if i % 4 else (), wide=(i % 4 in (1, 3), i % 4 in (2, 3)))


def _exhaustive_open_batches(count):
    """Arrays of an unknown number, each with a factor of its own."""
    for element, op, sizes in itertools.product(
            REAL_FLOATS, PRODUCTS, ([(31, 31)], [(12, 12), (2, 2), (16, 5)])):
        i = next(count)
        yield _cycle(i) | dict(
            op=op, type=element, sizes=sizes, rows=(3, 64, 200)[i % 3], x_batch=(2, 3)[: 1 + i % 2],
            f_batches=[(2, 3)[: 1 + i % 2] if k == i % len(sizes) else () for k in range(len(sizes))],
            op_x="N" if i % 3 else "T", ops=["N"] * len(sizes), alpha=ALPHA_KINDS[i % 3],
            dynamic=("batch", "rows") if i % 4 < 2 else ("batch",))


def _exhaustive_strided_addends(count):
    """Z with strides of its own behind factors of 1, which leave few elements in a vector."""
    for element, sizes, _ in itertools.product(
            ("f32", "f64", "c32", "c64"), ([(3, 1), (1, 3), (3, 5), (1, 5)], [(2, 2), (1, 4)]),
            range(6)):
        i = next(count)
        yield _cycle(i) | dict(
            op="mkm", type=element, sizes=sizes, rows=1, x_batch=(), f_batches=[()] * len(sizes),
            op_x="N", ops=["N"] * len(sizes), dynamic=(), form="memref", memref_layout="mixed",
            alpha=ALPHA_KINDS[i % 3], beta="const", addend="operand")


def _exhaustive_padded_rows(count):
    """Rows of whole cache lines with gaps between them, some of which are stored with non-temporal stores."""
    for element, last, _ in itertools.product(("f32", "f64"), (7, 16), range(10)):
        i = next(count)
        yield _cycle(i) | dict(
            op="mkm", type=element, sizes=[(3, 3), (8, 8), (5, 5), (last, last)], rows=2 + i % 3,
            x_batch=(), f_batches=[()] * 4, op_x="N", ops=["N"] * 4, dynamic=(), form="memref",
            memref_layout="rows", alpha="absent", beta="absent")


def _exhaustive_shared_rows(count):
    """One or two rows of so much work that several threads share them."""
    for element, (sizes, op_x), rows in itertools.product(
            ("f32", "f64", "c32", "i64"),
            (([(8, 8)] * 5, "N"), ([(31, 34), (33, 31), (34, 29)], "T"), ([(4, 4)] * 8, "N"),
             ([(128, 100), (96, 128)], "N")), (1, 2)):
        i = next(count)
        yield _cycle(i) | dict(op=("mkm", "kmm")[i // 2 % 2], type=element, sizes=sizes,
                               ops=["NT"[(i + k) % 2] for k in range(len(sizes))], op_x=op_x,
                               x_batch=(), f_batches=[()] * len(sizes), rows=rows, dynamic=())


def _exhaustive_small_epilogues(count):
    """What follows small factors, which several kernels of a GPU may take without it."""
    for element, pattern, layout, form in itertools.product(
            REAL_FLOATS, ((1, 3, 3, 1), (2, 8, 8, 1), (1, 4, 2, 3)),
            ("batch_first", "batch_last"), ("tensor", "memref")):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout=layout, form=form,
            activation=("relu", "gelu", "identity")[i % 3], bias=bool(i % 2),
            residual=i % 3 > 0, scale=i % 5 == 0,
            attributes=["precision = #kron.precision<ieee>"] if i % 4 < 3 else [])


def _exhaustive_register_tiles(count):
    """Rows that share vectors, lanes that are taken with several results, and factors and rows
    that are copied to panels."""
    for element, (op, size, rows), dynamic in itertools.product(
            ("f32", "f64", "i32"),
            (("mkm", 24, 100), ("mkm", 12, 37), ("mkm", 96, 100), ("kmm", 16, 24), ("kmm", 64, 300)),
            ((), ("rows",))):
        i = next(count)
        yield _cycle(i) | dict(
            op=op, type=element, sizes=[(size, size)], ops=["N"], op_x="N", x_batch=(),
            f_batches=[()], rows=rows, dynamic=dynamic, form="memref",
            memref_layout=MEMREF_LAYOUTS[0], alpha=ALPHA_KINDS[i % 3], beta="absent")


@functools.lru_cache
def exhaustive():
    count = itertools.count()
    return [*_exhaustive_products(count), *_exhaustive_scaling(count),
            *_exhaustive_ksmm(count), *_exhaustive_few_rows(count),
            *_exhaustive_modes(count), *_exhaustive_grads(count),
            *_exhaustive_factor_grads(count), *_exhaustive_8_bits(count),
            *_exhaustive_many_rows(count), *_exhaustive_fibres(count),
            *_exhaustive_empty(count), *_exhaustive_open_batches(count),
            *_exhaustive_strided_addends(count), *_exhaustive_padded_rows(count),
            *_exhaustive_shared_rows(count), *_exhaustive_small_epilogues(count),
            *_exhaustive_streamed_blocks(count), *_exhaustive_register_tiles(count),
            *_exhaustive_few_results(count)]
