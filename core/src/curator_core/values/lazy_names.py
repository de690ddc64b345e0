"""Names of a package that are loaded from their modules when first used, so that importing the package is cheap."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["lazy_names"]


def lazy_names(
    module: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a module whose names live elsewhere in its package.

    The ``__init__`` of a package calls it like this::

        _HOMES = {"batch": ("ImageBatch",), "tables": ("ReadParquet", "WriteParquet")}
        __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)

    >>> _, _, names = lazy_names(__name__, {"batch": ("ImageBatch",), "tables": ("ReadParquet", "WriteParquet")})
    >>> names
    ['ImageBatch', 'ReadParquet', 'WriteParquet']

    Args:
        module: Name of the module.
        homes: Modules below the module's package, and the names that each of them defines.
    """
    spec = sys.modules[module].__spec__
    package = module if spec is None else spec.parent
    home_of = {name: home for home, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: sorted({*vars(sys.modules[module]), *home_of}), sorted(home_of)
