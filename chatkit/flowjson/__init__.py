"""Flow documents: write, check, compare and upgrade them, without an account.

>>> from chatkit import flowjson
>>> done = flowjson.Footer("Done", flowjson.Complete())
>>> flow = flowjson.Flow([flowjson.Screen("BYE", "Good-bye", [done], terminal=True)])
>>> flow["BYE"].title
'Good-bye'
"""

# Names are loaded when they are first used: `import chatkit.flowjson` costs next to nothing. The
# classes of components are those of `build`, which are made from the table; a type
# checker reads the stub beside this file.
import sys
from importlib import import_module
from types import ModuleType

_BUILD = "chatkit.flowjson.build"
_HOME = {
    name: f"chatkit.{home}"
    for home, names in {
        "report": "Finding",
        "flowjson.build": "Complete DataExchange Flow Navigate OpenUrl Range Screen UpdateData"
        " parse to_code",
        "flowjson.build.piece": "Action Block example",
        "flowjson.diff": "Diff diff",
        "flowjson.graph": "Graph graph",
        "flowjson.lint": "Findings lint",
        "flowjson.texts": "texts with_texts",
        "flowjson.upgrade": "Upgrade upgrade",
    }.items()
    for name in names.split()
}


class _Package(ModuleType):
    """The package; its `lint` stays the function when the module of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and _HOME.get(name) == f"{__name__}.{name}":
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name == "__all__":
        value: object = sorted([*_HOME, *import_module(_BUILD).CLASSES])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name[:1].isupper() and name in (classes := import_module(_BUILD).CLASSES):
        value = classes[name]
    else:
        from chatkit.flowjson.nodes import find_closest_name

        known = classes if name[:1].isupper() else _HOME
        like = find_closest_name(name, known) if name[:1].isalpha() else ""
        better = f"; did you mean {like}?" if like else ""
        raise AttributeError(f"module 'chatkit.flowjson' has no attribute {name!r}{better}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
