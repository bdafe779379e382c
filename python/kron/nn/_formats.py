# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Weights of Kronecker-sparse factors in other formats, to and fro."""


def _support(matrix, pattern):
    """The view [a, b, c, d] of a dense matrix's elements inside of the support."""
    a, b, c, d = pattern
    blocks = matrix.reshape(a, b, d, a, c, d)
    return blocks.diagonal(dim1=0, dim2=3).diagonal(dim1=1, dim2=3).permute(2, 0, 1, 3)


def to_dense(weights):
    """The matrix [a*b*d, a*c*d] of a factor; differentiable."""
    a, b, c, d = weights.shape
    matrix = weights.new_zeros(a * b * d, a * c * d)
    _support(matrix, weights.shape).copy_(weights)
    return matrix


def _from_blocks(blocks, pattern):
    """From [a*d, b, c], one block per (i, t)."""
    a, b, c, d = pattern
    return blocks.reshape(a, d, b, c).permute(0, 2, 3, 1)


def _from_block_diagonal(matrix, pattern):
    """From the block-diagonal matrix of those blocks."""
    a, b, c, d = pattern
    blocks = matrix.reshape(a * d, b, a * d, c).diagonal(dim1=0, dim2=2)
    return _from_blocks(blocks.permute(2, 0, 1), pattern)


def _from_columns(matrix, pattern):
    """From [a*d*c, b], the kernel's format of the KSMM project."""
    a, b, c, d = pattern
    return matrix.reshape(a, d, c, b).permute(0, 3, 2, 1)


def convert(weights, pattern, algo):
    """`weights` as [a, b, c, d]; `algo` decides where shapes alone do not. Whatever
    is in no known format is returned as it is."""
    a, b, c, d = pattern
    layout = str(weights.layout)
    if layout == "torch.sparse_bsr":
        return _from_block_diagonal(weights.to_dense(), pattern)
    if layout != "torch.strided":
        return _support(weights.to_dense(), pattern)
    shape = tuple(weights.shape)
    if shape == (a * d, b, c):
        return _from_blocks(weights, pattern)
    is_columns, is_dense = shape == (a * d * c, b), shape == (a * b * d, a * c * d)
    if is_columns and not (is_dense and algo == "dense"):
        return _from_columns(weights, pattern)
    return _support(weights, pattern) if is_dense else weights


def convert_state(module, state, prefix, *_):
    """Converts the entries of a KSLinear in a state dictionary that is being loaded."""
    for k, pattern in enumerate(module.patterns):
        key = f"{prefix}factors.{k}"
        if key in state and tuple(state[key].shape) != pattern:
            state[key] = convert(state[key], pattern, module.algo)
    bias = state.get(prefix + "bias")
    if bias is not None and tuple(bias.shape) == (module.out_size, 1):
        state[prefix + "bias"] = bias.squeeze(-1)
