"""kron from Python in five minutes: every line below runs in the tests.

usage: python quickstart.py        (needs the kron package; PyTorch for its second half)
"""

import numpy as np

import kron

# --- NumPy --------------------------------------------------------------------------
# X times a Kronecker product of matrices, which is never formed.
rng = np.random.default_rng(0)
x = rng.standard_normal((5, 8 * 4 * 3))
factors = [rng.standard_normal((8, 6)), rng.standard_normal((4, 4)),
           rng.standard_normal((3, 5))]
y = kron.mkm(x, factors)
assert y.shape == (5, 6 * 4 * 5)
np.testing.assert_allclose(y, x @ np.kron(np.kron(*factors[:2]), factors[2]))

# The product from the left, on transposed factors, scaled and added to z.
z = np.ones((6 * 4 * 5, 5))
y2 = kron.kmm(x.T, factors, trans_factors=True, alpha=2.0, beta=0.5, z=z)
np.testing.assert_allclose(y2, 2 * y.T + 0.5)

# A Kronecker-sparse factor with pattern (a, b, c, d): block-diagonal, strided blocks.
weights = rng.standard_normal((2, 3, 4, 5))
v = kron.ksmm(rng.standard_normal((7, 2 * 4 * 5)), weights, (2, 3, 4, 5))
assert v.shape == (7, 2 * 3 * 5)

# --- PyTorch ------------------------------------------------------------------------
try:
    import torch
except ImportError:
    raise SystemExit("PyTorch is not installed: that was all")

# The same functions take tensors, and are differentiable.
tx = torch.from_numpy(x).requires_grad_()
tf = [torch.from_numpy(f).requires_grad_() for f in factors]
loss = kron.mkm(tx, tf).square().sum()
loss.backward()
np.testing.assert_allclose(loss.item(), (y ** 2).sum())
np.testing.assert_allclose(tx.grad.numpy(), 2 * kron.mkm(y, factors, trans_factors=True))

# They go through torch.compile without a graph break.
step = torch.compile(lambda x: torch.relu(kron.mkm(x, tf)).sum(), fullgraph=True,
                     backend="aot_eager")
torch.testing.assert_close(step(tx), torch.relu(kron.mkm(tx, tf)).sum())

# Layers: a drop-in for torch.nn.Linear with a Kronecker-sparse weight.
from kron import nn as knn

layer = knn.KSLinear([(6, 64, 64, 1), (1, 768, 192, 2)])
assert layer(torch.randn(10, 384)).shape == (10, 1536)
dense, sparse = 384 * 1536, sum(f.numel() for f in layer.factors)
print(f"KSLinear has {sparse} weights where Linear has {dense}")
