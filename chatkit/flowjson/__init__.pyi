# What a type checker and an editor see: at run time names are loaded when they are first used.
from chatkit.flowjson.build import Complete as Complete
from chatkit.flowjson.build import DataExchange as DataExchange
from chatkit.flowjson.build import Flow as Flow
from chatkit.flowjson.build import Navigate as Navigate
from chatkit.flowjson.build import OpenUrl as OpenUrl
from chatkit.flowjson.build import Range as Range
from chatkit.flowjson.build import Screen as Screen
from chatkit.flowjson.build import UpdateData as UpdateData
from chatkit.flowjson.build import parse as parse
from chatkit.flowjson.build import to_code as to_code
from chatkit.flowjson.build.classes import *  # noqa: F403
from chatkit.flowjson.build.piece import Action as Action
from chatkit.flowjson.build.piece import Block as Block
from chatkit.flowjson.build.piece import example as example
from chatkit.flowjson.diff import Diff as Diff
from chatkit.flowjson.diff import diff as diff
from chatkit.flowjson.graph import Graph as Graph
from chatkit.flowjson.graph import graph as graph
from chatkit.flowjson.lint import Findings as Findings
from chatkit.flowjson.lint import lint as lint
from chatkit.flowjson.texts import texts as texts
from chatkit.flowjson.texts import with_texts as with_texts
from chatkit.flowjson.upgrade import Upgrade as Upgrade
from chatkit.flowjson.upgrade import upgrade as upgrade
from chatkit.report import Finding as Finding

__all__: list[str]
