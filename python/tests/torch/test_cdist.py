# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron.kernels.cdist of tensors: values, derivatives, torch.compile, vmap and torch.func."""

import pytest
import torch
from torch.func import grad, jacrev, vmap

from kron.kernels import cdist
from kron.kernels._distance import distance_text

EXPONENTS = [0.5, 1, 1.3, 2, 3, float("inf")]
GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def array(*shape, dtype=torch.float64, requires_grad=False, device="cpu"):
    return torch.randn(*shape, dtype=dtype, requires_grad=requires_grad, device=device)


@pytest.mark.parametrize("p", [0, *EXPONENTS])
def test_agrees_with_pytorch(p):
    a, b = array(2, 1, 7, 5), array(3, 4, 5)
    for given in ((a, b), (a.mT.contiguous().mT, b.expand(2, 3, 4, 5)), (a[..., :3], b[..., ::2])):
        torch.testing.assert_close(cdist(*given, p), torch.cdist(*given, p))
    for shape in ((0, 5), (4, 0)):
        empty = torch.zeros(shape, dtype=torch.float64)
        torch.testing.assert_close(cdist(empty, empty, p), torch.cdist(empty, empty, p))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types(dtype):
    a, b = array(9, 5, dtype=dtype, requires_grad=True), array(4, 5, dtype=dtype)
    result = cdist(a, b)
    assert result.dtype == dtype
    torch.testing.assert_close(result.float(), torch.cdist(a.float(), b.float()), rtol=2e-2, atol=1e-3)
    result.sum().backward()
    assert a.grad.dtype == dtype and a.grad.shape == a.shape


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=GPU)])
def test_derivatives(p, device):
    a, b = (array(*shape, requires_grad=True, device=device) for shape in ((1, 3, 2), (2, 4, 2)))
    assert torch.autograd.gradcheck(lambda a, b: cdist(a, b, p), (a, b))
    assert torch.autograd.gradgradcheck(lambda a, b: cdist(a, b, p), (a, b))




def test_derivatives_of_rows_with_themselves():
    x = array(5, 3, requires_grad=True)
    for p in EXPONENTS:
        loss = cdist(x, x, p).square().sum()
        gradient, = torch.autograd.grad(loss, x, create_graph=True)
        wanted, = torch.autograd.grad(torch.cdist(x, x, p).square().sum(), x)
        torch.testing.assert_close(gradient, wanted)
        second, = torch.autograd.grad(gradient.sum(), x)
        assert second.isfinite().all()


def test_third_derivatives_are_refused():
    a, b = array(3, 2, requires_grad=True), array(4, 2)
    first, = torch.autograd.grad(cdist(a, b, 3).sum(), a, create_graph=True)
    second, = torch.autograd.grad(first.square().sum(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="up to the second, but a third one was asked for"):
        second.sum().backward()


def test_transforms():
    b, many = array(4, 3), array(6, 5, 3)
    torch.testing.assert_close(vmap(cdist, (0, None))(many, b), torch.cdist(many, b))
    torch.testing.assert_close(vmap(cdist, (2, 1))(many.movedim(0, 2), array(4, 6, 3).zero_()),
                               many.norm(dim=2)[:, :, None].expand(6, 5, 4))
    # Mapped arrays of different ranks.
    torch.testing.assert_close(vmap(cdist)(many, array(6, 2, 4, 3).zero_()),
                               many.norm(dim=2)[:, None, :, None].expand(6, 2, 5, 4))

    def plain(a, b):
        return (a[:, None] - b).square().sum(-1).sqrt()

    def loss(function):
        return lambda a, b: (function(a, b) ** 3).sum()

    for transform in (lambda f: vmap(grad(f, (0, 1)), (0, None)), lambda f: vmap(jacrev(jacrev(f)), (0, None)),
                      lambda f: vmap(jacrev(grad(f, 1), 1), (0, None))):
        given = transform(loss(cdist))(many, b), transform(loss(plain))(many, b)
        torch.testing.assert_close(*given)
    a = many.clone().requires_grad_()
    vmap(loss(cdist), (0, None))(a, b).sum().backward()
    torch.testing.assert_close(a.grad, vmap(grad(loss(plain)), (0, None))(many, b))


def test_compiles_as_one_graph():
    a, b = array(5, 3, requires_grad=True), array(4, 3)
    compiled = torch.compile(lambda a, b: 2 * cdist(a, b, 1.3) + 1, fullgraph=True)
    result = compiled(a, b)
    torch.testing.assert_close(result, 2 * torch.cdist(a, b, 1.3) + 1)
    result.sum().backward()
    wanted, = torch.autograd.grad(2 * torch.cdist(a, b, 1.3).sum(), a)
    torch.testing.assert_close(a.grad, wanted)


def samples():
    """Arguments of opcheck."""
    g = {"requires_grad": True}
    text = distance_text(2.0, True)
    pair = [array(2, 3, 4, **g), array(5, 4, **g)]
    along = [array(2, 3, 4, **g), array(5, 4, **g)]
    yield "pairwise", (pair, [], text)
    yield "pairwise", (pair, along, text)
    for values in (array(5, 6, **g), array(2, 5, 1, **g)):
        yield "pairwise_apply", (pair, values, [], text)
        yield "pairwise_apply", (pair, values, along, text)
        yield "pairwise_grad", (pair, [array(2, 3, values.shape[-1], **g), values], [], [True, True], text)
    yield "pairwise_grad", (pair, [array(2, 3, 5, **g)], [], [False, True], text)


@pytest.mark.parametrize("name, arguments", list(samples()))
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.kron, name).default, arguments)


def test_bad_tensors():
    a = array(4, 3)
    for message, b in (("expects b to be a tensor as a, but got ndarray", a.numpy()),
                       ("expects b to have dtype torch.float64 as a, but got torch.float32", a.float())):
        with pytest.raises(TypeError, match=message):
            cdist(a, b)
    with pytest.raises(TypeError, match="expects b to be a NumPy array as a, but got Tensor"):
        cdist(a.numpy(), a)
    with pytest.raises(ValueError, match="expects b on cpu as a, but it is on meta"):
        cdist(a, a.to("meta"))
    with pytest.raises(TypeError, match="expects a to have dtype .*, but got torch.int64"):
        cdist(a.long(), a.long())
