"""Locked files, texts for people, progress, strict JSON and one server, for every folder."""

from collections.abc import Callable, Mapping
from importlib import import_module


def make_lazy_exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports its names when they are used.

    Args:
        package: Its `__name__`.
        homes: The module of each name, below the package.
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return get, lambda: [*homes]
