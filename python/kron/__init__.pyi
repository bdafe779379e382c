from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeVar, overload

from kron import cache as cache
from kron import ir as ir
from kron import kernels as kernels
from kron import rotations as rotations
from kron._errors import CompileError as CompileError
from kron._explain import Explanation as Explanation
from kron._explain import explain as explain
from kron._jit import Jitted as Jitted
from kron._jit import Library as Library
from kron._jit import Spec as Spec
from kron._quantize import quantize as quantize

__version__: str

# NumPy arrays, tensors, traced values: the result is what x is.
_Array = TypeVar("_Array")
_Transpose = bool | Literal["N", "T", "C"]
_Precision = Literal["full", "ieee", "tf32"]
_Layout = Literal["batch_first", "batch_last"]
_Pattern = Sequence[int]

def mkm(x: _Array, factors: Sequence[_Array], *, alpha: Any = 1, beta: Any = 0,
        z: _Array | None = None, out: _Array | None = None, trans_x: _Transpose = False,
        trans_factors: _Transpose | Sequence[_Transpose] = False,
        precision: _Precision = "full") -> _Array: ...
def kmm(x: _Array, factors: Sequence[_Array], *, alpha: Any = 1, beta: Any = 0,
        z: _Array | None = None, out: _Array | None = None, trans_x: _Transpose = False,
        trans_factors: _Transpose | Sequence[_Transpose] = False,
        precision: _Precision = "full") -> _Array: ...
def batched(x: _Array, factors: Sequence[_Array], *, alpha: Any = 1, beta: Any = 0,
            z: _Array | None = None, out: _Array | None = None, trans_x: _Transpose = False,
            trans_factors: _Transpose | Sequence[_Transpose] = False,
            precision: _Precision = "full") -> _Array: ...
def ksmm(x: _Array, weights: _Array, pattern: _Pattern | None = None,
         layout: _Layout = "batch_first", *, bias: _Array | None = None,
         z: _Array | None = None, epilogue: str | Mapping[str, Any] | None = None,
         alpha: Any = 1, beta: Any = 0, out: _Array | None = None, scale: float | None = None,
         residual: _Array | None = None, trans_weights: _Transpose = False,
         precision: _Precision = "full") -> _Array: ...
def ksmm_chain(x: _Array, weights: Sequence[_Array],
               pattern: Sequence[_Pattern] | None = None, layout: _Layout = "batch_first", *,
               bias: _Array | None = None, z: _Array | None = None,
               epilogue: str | Mapping[str, Any] | None = None, alpha: Any = 1, beta: Any = 0,
               out: _Array | None = None, scale: float | None = None,
               residual: _Array | None = None,
               trans_weights: _Transpose | Sequence[_Transpose] = False,
               precision: _Precision = "full") -> _Array: ...
def get_num_threads() -> int: ...
def set_num_threads(count: int) -> None: ...
def release_memory() -> int: ...
def allow_cublas(allowed: bool = True) -> None: ...
def is_cublas_allowed() -> bool: ...
def tune(function: Callable[..., Any], *arguments: Any, seconds: float = 10.0) -> list[Any]: ...
def tuning(mode: str | None = None, *, seconds: float | None = None) -> str: ...
def compile(source: ir.Module | str | Callable[..., Any], *arguments: Any,
            target: str = "cpu", row_major: bool = False) -> Library: ...
def load(path: str | PathLike[str]) -> Library: ...
@overload
def jit(function: Callable[..., Any], *, dynamic: Mapping[str, Any] | None = None,
        target: str | None = None) -> Jitted: ...
@overload
def jit(function: None = None, *, dynamic: Mapping[str, Any] | None = None,
        target: str | None = None) -> Callable[[Callable[..., Any]], Jitted]: ...
