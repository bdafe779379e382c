# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Whether all ranks have called with the same arguments, before any of them sends an array.

A rank that is wrong alone would leave the others waiting, or give them parts of another array.
So ranks compare a digest of what their arguments look like, along every dimension of the mesh
that a call communicates on. Ranks with CPUs do so in every call, where that takes little beside
an exchange; ranks with GPUs when a digest is new, since the host has to wait for it.
"""

import hashlib

import torch
import torch.distributed as dist

#: (names of groups, digest) of calls that all ranks have agreed on.
_agreed = set()


def _digest(signature):
    text = repr(signature).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little", signed=True)


def _gathered(values, group, device):
    own = torch.tensor(values, dtype=torch.int64, device=device)
    every = own.new_empty(dist.get_world_size(group) * len(values))
    dist.all_gather_into_tensor(every, own, group=group)
    return every.view(-1, len(values)).tolist()


def _differences(signatures, ranks):
    """What the first rank that differs has otherwise than the first rank."""
    first = signatures[0]
    for signature, rank in zip(signatures, ranks):
        for (name, mine), (_, theirs) in zip(first, signature):
            if mine != theirs:
                return (f"expects the same arguments on all ranks, but {name} is {theirs} on rank "
                        f"{rank} and {mine} on rank {ranks[0]}")
        if len(first) != len(signature):
            return (f"expects the same arguments on all ranks, but rank {rank} has "
                    f"{len(signature)} and rank {ranks[0]} {len(first)} of them")
    return None


def check(signature, error, groups, device):
    """Raises ValueError on all ranks of the groups unless all have the same `signature`, a list
    of (name of an argument, what it is), and no `error`, an exception that this rank has found
    in its own arguments and that is raised here."""
    digest = _digest(signature)
    key = tuple(group.group_name for group in groups), digest
    if error is None and device.type != "cpu" and key in _agreed:
        return
    problem = None if error is None else f"rank {dist.get_rank()}: {error}"
    for group in groups:
        states = _gathered([digest, int(problem is not None)], group, device)
        if all(state == states[0] for state in states) and not states[0][1]:
            continue
        every = [None] * len(states)
        dist.all_gather_object(every, (signature, problem), group=group)
        problem = problem or next((other for _, other in every if other), None) or _differences(
            [other for other, _ in every], dist.get_process_group_ranks(group))
    if error is not None:
        raise error
    if problem is not None:
        raise ValueError(problem)
    _agreed.add(key)
