# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Tensor parallelism for kron's layers, as parallelize_module takes it."""

from torch import nn
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ParallelStyle

from ..nn import KronLinear, KSLinear


def _sharded(array, mesh, placement):
    return nn.Parameter(distribute_tensor(array, mesh, [placement]),
                        requires_grad=array.requires_grad)


class RowsParallel(ParallelStyle):
    """Every rank computes some rows of a layer's input; parameters are the same on all.

    The input may be a DTensor, or a tensor that all ranks have alike. The output is a tensor
    that all ranks have, or, with `use_local_output=False`, a DTensor with sharded rows. `axis`
    is the input's and the output's axis that is divided (1 for a layer with bs_last=True).
    Gradients of parameters are summed over ranks."""

    def __init__(self, axis=0, use_local_output=True):
        super().__init__()
        self.axis, self.use_local_output = axis, use_local_output

    def _parameter_placement(self, module, name, parameter, mesh):
        return Replicate()

    def _input_placement(self, module):
        return Shard(self.axis)

    def _apply(self, module, device_mesh):
        if not isinstance(module, (KronLinear, KSLinear)):
            raise TypeError(f"expects a KronLinear, KSLinear or Monarch, but got "
                            f"{type(module).__name__}")

        def prepare_input(_, inputs, mesh):
            x, *rest = inputs
            if not isinstance(x, DTensor):
                x = DTensor.from_local(x, mesh, [Replicate()] * mesh.ndim, run_check=False)
            return x.redistribute(placements=[self._input_placement(module)]), *rest

        def prepare_output(_, output, mesh):
            if not self.use_local_output:
                return output
            return output.redistribute(placements=[Replicate()]).to_local()

        def divide(name, part, mesh):
            for key, parameter in list(part.named_parameters(recurse=False)):
                whole = f"{name}.{key}" if name else key
                placement = self._parameter_placement(module, whole, parameter, mesh)
                part.register_parameter(key, _sharded(parameter, mesh, placement))

        return distribute_module(module, device_mesh, divide, prepare_input, prepare_output)


class BlocksParallel(RowsParallel):
    """Every rank has some blocks of a layer's factors, and computes all rows with them.

    Divided are, by axis 0, those factors (a, b, c, d) of a KSLinear or Monarch layer of which
    the number of ranks divides a, and, of factors with a = 1 behind one that is divided, c, if
    it can be: the sums over c are added up over ranks. So a Monarch layer whose number of blocks
    the ranks divide takes one reduction. All else is the same on all ranks, and so is a
    KronLinear layer. Input and output are as with RowsParallel, all features on all ranks."""

    def __init__(self, use_local_output=True):
        super().__init__(use_local_output=use_local_output)

    def _input_placement(self, module):
        return Replicate()

    def _parameter_placement(self, module, name, parameter, mesh):
        if not isinstance(module, KSLinear) or not name.startswith("factors."):
            return Replicate()
        return _block_placements(module.patterns, mesh.size())[int(name.rpartition(".")[2])]


def _block_placements(patterns, ranks):
    """Of the factors of a chain."""
    result, is_divided = [], False
    for a, _, c, _ in patterns:
        if a % ranks == 0:
            result.append(Shard(0))
            is_divided = True
        elif a == 1 and is_divided and c % ranks == 0:
            result.append(Shard(2))
            is_divided = False
        else:
            result.append(Replicate())
            is_divided = False
    return result
