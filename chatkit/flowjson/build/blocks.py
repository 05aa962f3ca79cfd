"""The classes of components; `Block.kinds` holds them by name.

They are made from the table. Editors and type checkers read `blocks.pyi`, which
`python tests/flowjson/build/classes.py` writes from the same table.
"""

from chatkit.flowjson.build.piece import component_classes

_CLASSES = component_classes(__name__)
globals().update(_CLASSES)
__all__ = sorted(_CLASSES)
