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
    from chatkit.finding import Finding
    from chatkit.flowjson.build.blocks import (
        CalendarPicker,
        CheckboxGroup,
        Chip,
        ChipsSelector,
        DatePicker,
        DocumentPicker,
        Dropdown,
        EmbeddedLink,
        End,
        Footer,
        Form,
        If,
        Image,
        ImageCarousel,
        ListItem,
        MainContent,
        NavigationList,
        OptIn,
        Option,
        PhotoPicker,
        Picture,
        RadioButtonsGroup,
        RichText,
        Start,
        Switch,
        TextArea,
        TextBody,
        TextCaption,
        TextHeading,
        TextInput,
        TextSubheading,
    )
    from chatkit.flowjson.build.flow import Flow, Screen, parse, to_code
    from chatkit.flowjson.build.kinds import example
    from chatkit.flowjson.build.piece import (
        Action,
        Block,
        Complete,
        DataExchange,
        Navigate,
        OpenUrl,
        Range,
        UpdateData,
    )
    from chatkit.flowjson.diff import Diff, diff
    from chatkit.flowjson.finding import Findings
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
        "build.blocks": "CalendarPicker CheckboxGroup Chip ChipsSelector DatePicker DocumentPicker "
        "Dropdown EmbeddedLink End Footer Form If Image ImageCarousel ListItem MainContent "
        "NavigationList OptIn Option PhotoPicker Picture RadioButtonsGroup RichText Start Switch "
        "TextArea TextBody TextCaption TextHeading TextInput TextSubheading",
        "build.flow": "Flow Screen parse to_code",
        "build.kinds": "example",
        "build.piece": "Action Block Complete DataExchange Navigate OpenUrl Range UpdateData",
        "diff": "Diff diff",
        "finding": "Finding Findings",
        "graph": "Graph graph",
        "lint": "lint",
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
