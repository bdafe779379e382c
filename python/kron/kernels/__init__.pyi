from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

# NumPy arrays or PyTorch tensors.
_Array = TypeVar("_Array")
_Name = Literal["gaussian", "laplace", "matern12", "matern32", "matern52", "rational_quadratic",
                "periodic"]

def cdist(a: _Array, b: _Array, p: float = 2, *, root: bool = True) -> _Array: ...

class Kernel(Generic[_Array]):
    a: _Array
    b: _Array
    shape: tuple[int, ...]
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> int: ...
    @property
    def mT(self) -> Kernel[_Array]: ...
    def to_dense(self) -> _Array: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

def kernel(a: _Array, b: _Array | None = None, function: _Name | Callable[..., Any] = "gaussian", /,
           **parameters: Any) -> Kernel[_Array]: ...
