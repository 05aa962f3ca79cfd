"""Flow documents: write, check, compare and upgrade them, without an account.

>>> from chatkit import flowjson
>>> done = flowjson.Footer("Done", flowjson.Complete())
>>> flow = flowjson.Flow([flowjson.Screen("BYE", "Good-bye", [done], terminal=True)])
>>> flow["BYE"].title
'Good-bye'
"""

# Names are loaded when they are first used: `import chatkit.flowjson` costs next to nothing.
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit.flowjson.build.actions import (
        Action,
        Complete,
        DataExchange,
        Navigate,
        OpenUrl,
        UpdateData,
    )
    from chatkit.flowjson.build.block import Block
    from chatkit.flowjson.build.blocks.choice import (
        CheckboxGroup,
        Chip,
        ChipsSelector,
        Dropdown,
        Option,
        RadioButtonsGroup,
    )
    from chatkit.flowjson.build.blocks.container import Form, If, Switch
    from chatkit.flowjson.build.blocks.day import CalendarPicker, DatePicker
    from chatkit.flowjson.build.blocks.entry import OptIn, TextArea, TextInput
    from chatkit.flowjson.build.blocks.media import (
        DocumentPicker,
        Image,
        ImageCarousel,
        PhotoPicker,
        Picture,
    )
    from chatkit.flowjson.build.blocks.tap import (
        EmbeddedLink,
        End,
        Footer,
        ListItem,
        MainContent,
        NavigationList,
        Start,
    )
    from chatkit.flowjson.build.blocks.text import (
        RichText,
        TextBody,
        TextCaption,
        TextHeading,
        TextSubheading,
    )
    from chatkit.flowjson.build.code import to_code
    from chatkit.flowjson.build.example import example
    from chatkit.flowjson.build.flow import Flow, parse
    from chatkit.flowjson.build.range import Range
    from chatkit.flowjson.build.screen import Screen
    from chatkit.flowjson.diff import Diff, diff
    from chatkit.flowjson.finding import Finding, Findings
    from chatkit.flowjson.graph import Graph, graph
    from chatkit.flowjson.lint import lint
    from chatkit.flowjson.texts import texts, with_texts
    from chatkit.flowjson.upgrade import Upgrade, upgrade

__all__ = [
    "Action",
    "Block",
    "CalendarPicker",
    "CheckboxGroup",
    "Chip",
    "ChipsSelector",
    "Complete",
    "DataExchange",
    "DatePicker",
    "Diff",
    "DocumentPicker",
    "Dropdown",
    "EmbeddedLink",
    "End",
    "Finding",
    "Findings",
    "Flow",
    "Footer",
    "Form",
    "Graph",
    "If",
    "Image",
    "ImageCarousel",
    "ListItem",
    "MainContent",
    "Navigate",
    "NavigationList",
    "OpenUrl",
    "OptIn",
    "Option",
    "PhotoPicker",
    "Picture",
    "RadioButtonsGroup",
    "Range",
    "RichText",
    "Screen",
    "Start",
    "Switch",
    "TextArea",
    "TextBody",
    "TextCaption",
    "TextHeading",
    "TextInput",
    "TextSubheading",
    "UpdateData",
    "Upgrade",
    "diff",
    "example",
    "graph",
    "lint",
    "parse",
    "texts",
    "to_code",
    "upgrade",
    "with_texts",
]

_HOME = {
    name: home
    for home, names in {
        "build.blocks.choice": "CheckboxGroup Chip ChipsSelector Dropdown Option RadioButtonsGroup",
        "build.blocks.container": "Form If Switch",
        "build.blocks.day": "CalendarPicker DatePicker",
        "build.blocks.entry": "OptIn TextArea TextInput",
        "build.blocks.media": "DocumentPicker Image ImageCarousel PhotoPicker Picture",
        "build.blocks.tap": "EmbeddedLink End Footer ListItem MainContent NavigationList Start",
        "build.blocks.text": "RichText TextBody TextCaption TextHeading TextSubheading",
        "build.actions": "Action Complete DataExchange Navigate OpenUrl UpdateData",
        "build.block": "Block",
        "build.code": "to_code",
        "diff": "Diff diff",
        "build.example": "example",
        "finding": "Finding Findings",
        "build.flow": "Flow parse",
        "graph": "Graph graph",
        "lint": "lint",
        "build.range": "Range",
        "build.screen": "Screen",
        "texts": "texts with_texts",
        "upgrade": "Upgrade upgrade",
    }.items()
    for name in names.split()
}


class _Package(ModuleType):
    """Lets `flowjson.lint` be the function: importing `flowjson/lint.py` would put itself there."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and _HOME.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'chatkit.flowjson' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"chatkit.flowjson.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
