"""Rules of the architecture, each with its reason.

A new folder or top-level module needs a place in ORDER.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import size
import wording

ROOT = Path(__file__).parents[1]
FILES = {path.relative_to(ROOT): path for path in sorted(ROOT.glob("chatkit/**/*.py"))}

# Top to bottom: a line may import itself and what stands below it.
ORDER = [
    ("__main__",),
    ("cli",),
    ("chatkit",),
    ("account", "inbox", "widgets"),
    ("client",),
    ("contacts", "flows", "templates", "webhooks"),
    ("resource",),
    ("localization",),
    ("imports",),
    ("bulk",),
    ("frames",),
    ("settings",),
    ("api",),
    ("numbers", "profile", "report", "signature"),
    ("util",),
    ("errors",),
]
RANK = {package: rank for rank, line in enumerate(ORDER) for package in line}
RESOURCES = {"contacts", "flows", "templates", "webhooks"}

# Who may import a library at run time: a successor is then a change of one file.
IMPORTERS = {
    "aiohttp": ("util/webhook_sender", "api/wire"),
    "httpx": ("api/wire",),
    "pandas": (
        *("imports/", "account/", "frames/", "localization/table", "report", "widgets/sheet"),
        *("bulk/planner", "bulk/plan_input", "bulk/comparison", "bulk/matching", "bulk/rendering"),
        "errors",  # what is wrong, as a table
    ),
    "pyarrow": ("account/layout", "frames/", "imports/"),
    "openpyxl": ("imports/tables/workbook",),
    "phonenumbers": ("numbers",),
    "babel": (
        *("localization/language", "localization/files", "numbers"),
        "imports/tables/delimited",
    ),
    "filelock": ("util/files",),
    "ipywidgets": ("widgets",),
    "anywidget": ("widgets",),
    "keyring": ("settings",),
    "sqlalchemy": ("bulk/journal", "inbox/store"),
    "sqlite3": ("sandbox/", "bulk/journal", "bulk/changes"),
    "dask": ("account/fleet_plan",),
    "distributed": ("account/fleet_plan",),
    "uvicorn": ("util/asgi_server",),
    "tomlkit": ("settings",),
    "tqdm": ("util/progress",),
}

# Words that mean the same as one of ours (design §9): one concept has one name.
WORDS = {
    "api_key": "access token",
    "dto": "record",
    "emulator": "sandbox",
    "mock": "sandbox",
    "msisdn": "number",
    "simulate": "plan (showing it is the dry run)",
    "dry_run": "plan (showing it is the dry run)",
    "tenant": "account",
    "undelete": "restore",
    "workspace": "account",
}


class Import(NamedTuple):
    """One import of one name, `typing` when only a type checker sees it."""

    file: Path
    line: int
    name: str
    typing: bool
    inside_function: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name}"


def imports_of(file: Path, node: ast.AST, typing: bool, inside: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, typing, inside)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{file}:{child.lineno} write imports in full"
            for alias in child.names:
                name = f"{child.module}.{alias.name}"
                yield Import(file, child.lineno, name, typing, inside)
        else:
            checked = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports_of(file, child, typing or checked, inside or function)


@cache
def parsed(path: Path) -> ast.Module:
    """The code of a file, read once."""
    return ast.parse(path.read_bytes())


@cache
def imports() -> list[Import]:
    """Return all imports of the package, read when a test first needs them."""
    return [
        each
        for file, path in FILES.items()
        for each in imports_of(file, parsed(path), typing=False, inside=False)
    ]


def package_of(name: str) -> str:
    """Return the folder or top-level module that a dotted name or a file belongs to."""
    parts = name.removesuffix(".py").replace("/", ".").split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__init__" else "chatkit"


def internal_imports(*packages: str) -> list[Import]:
    """Return the imports of chatkit by these folders or modules, or by all."""
    return [
        each
        for each in imports()
        if each.name.split(".")[0] == "chatkit"
        and (not packages or package_of(str(each.file)) in packages)
    ]


#: Imports that point up, and why.
UPWARD = {
    "chatkit/errors.py imports chatkit.api.call.Call": "the type of an attribute of CallError",
}


def test_imports_point_down() -> None:
    """A folder knows nothing of those above it, so it can be read alone.

    Resources never import each other.
    """
    wrong = []
    for each in internal_imports():
        source, target = package_of(str(each.file)), package_of(each.name)
        if {source, target} & {"flowjson", "sandbox"} or source == target:
            continue  # tests of their own below
        assert source in RANK, f"{each.file}: give it a place in ORDER"
        siblings = {source, target} <= RESOURCES
        if RANK.get(target, -1) < RANK[source] or siblings:
            wrong.append(f"{each.file} imports {each.name}")
    assert set(wrong) == {*UPWARD}


def test_flow_documents_stand_alone() -> None:
    """A flow document can be checked without an account, so flowjson knows of none."""
    allowed = ("flowjson", "util", "errors", "report")
    wrong = [i for i in internal_imports("flowjson") if package_of(i.name) not in allowed]
    assert not wrong, list(map(str, wrong))


def test_the_sandbox_shares_no_code_with_the_client() -> None:
    """Client and sandbox may not share a mistake: each reads the API document for itself.

    What the platform publishes about flow documents and contents is no fact of that document: it
    stands once, in flowjson and in localization's checks of one content, and an oracle in
    tests/qa/oracles checks each. What a notebook shows when a file cannot be used is an exception
    of the one tree, and the server of an ASGI application, the sender of deliveries and the
    reader of JSON know nothing of the API.
    """
    allowed = ("sandbox", "profile", "signature", "util", "flowjson")
    single = ("chatkit.errors.StoreError", "chatkit.localization.audit.check_content")
    wrong = [
        i
        for i in internal_imports("sandbox")
        if package_of(i.name) not in allowed and i.name not in single
    ]
    assert not wrong, list(map(str, wrong))


def test_the_sandbox_is_opened_only_when_it_is_needed() -> None:
    """A live account never loads the sandbox: its imports are inside functions."""
    wrong = [
        each
        for each in internal_imports()
        if package_of(each.name) == "sandbox"
        and package_of(str(each.file)) != "sandbox"
        and not each.typing
        and not (each.inside_function and package_of(str(each.file)) in ("client", "cli"))
    ]
    assert not wrong, list(map(str, wrong))


def test_each_outside_library_has_one_importer() -> None:
    """A library that ends, or is replaced by a better one, is a change of one file."""
    wrong = [
        str(each)
        for each in imports()
        if (importers := IMPORTERS.get(each.name.split(".")[0]))
        and not each.typing
        and not any(str(each.file).startswith(f"chatkit/{importer}") for importer in importers)
    ]
    assert not wrong


def test_each_folder_has_its_tests() -> None:
    """Tests of chatkit/bulk/ are in tests/bulk/, and so on.

    Tests speak to public behaviour, so they mirror folders and not files: a merge moves none.
    """
    folders = {file.parts[1] for file in FILES if len(file.parts) > 2}
    without = [
        folder
        for folder in sorted(folders)
        if not any((ROOT / "tests" / folder).rglob("test_*.py"))
    ]
    assert not without


def texts() -> Iterator[tuple[str, str]]:
    """Everything a person reads: code, the two pages, the cells of the notebooks."""
    for path in [*FILES.values(), ROOT / "README.md", ROOT / ".github/CONTRIBUTING.md"]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line
    for path in ROOT.glob("notebooks/*.ipynb"):
        for number, cell in enumerate(json.loads(path.read_text())["cells"]):
            yield f"{path.relative_to(ROOT)}, cell {number}", "".join(cell["source"])


def test_one_concept_has_one_name() -> None:
    """A second word for the same thing makes a reader look for the difference."""
    forms = {
        rf"(?<![a-z]){re.sub('_', '[ _-]?', word)}s?(?![a-z])": ours for word, ours in WORDS.items()
    }
    one_of_them = re.compile("|".join(forms), re.IGNORECASE)
    wrong = [
        f"{place}: say {ours!r}"
        for place, text in texts()
        if one_of_them.search(text)
        for form, ours in forms.items()
        if re.search(form, text, re.IGNORECASE)
    ]
    assert not wrong


def test_no_name_and_no_docstring_begins_with_a_retired_word() -> None:
    """Names are the terms of the field; tests/retired.txt lists those that were ours alone."""
    assert [*chain.from_iterable(map(wording.places, FILES.values()))] == []


# --- small enough to read -----------------------------------------------------------------

#: Two halves of one thought are two files to open: a new module needs a reason here.
MODULES = 170
#: A module of fewer code lines with a single importer is a part of that importer.
SLIVER = 80
SLIVERS: dict[str, str] = {}
#: Class names that stand in two modules, and why.
TWICE = {
    "Flow": "flowjson builds a document, flows reads a record: both are the word of the API",
    "Form": "a component of a flow document is called so by the platform, and so is a form",
}


def module_of(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


MODULE_NAMES = {module_of(file) for file in FILES}


def needs() -> dict[str, set[str]]:
    """Return the modules that each module imports, at the top or inside a function."""
    modules: dict[str, set[str]] = {name: set() for name in MODULE_NAMES}
    for each in internal_imports():
        source, name = module_of(each.file), each.name
        target = name if name in MODULE_NAMES else name.rpartition(".")[0]
        if not each.typing and target in MODULE_NAMES and target != source:
            modules[source].add(target)
    return modules


def test_the_package_is_small_enough_to_read() -> None:
    """A person can look at the name of each module and know what it is for."""
    assert len(FILES) <= MODULES


def test_no_module_needs_itself() -> None:
    """Modules that need each other, even by a late import, can only be read together."""
    circles = []
    try:
        TopologicalSorter(needs()).prepare()
    except CycleError as error:
        circles = error.args[1]
    assert not circles


#: What one record of a resource is called, and what a client calls the resource.
RESOURCE_NAMES = {
    *("contact", "flow", "content", "webhook", "contacts", "flows", "contents", "webhooks"),
    "templates",
}
#: Where these words are compared with, and why.
RESOURCE_BRANCHES = {
    "contacts.py": "a resource",
    "flows.py": "a resource",
    "webhooks.py": "a resource",
    "templates/": "a resource",
    "sandbox/": "it has declarations of its own",
    "widgets/editor/": "a flow is the root of the document that is edited",
    "imports/columns.py": "contact is a word in the heading of a column",
    "bulk/rendering.py": "a result knows the noun of a row, and no resource: one key is no id",
}


def resource_branches(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that compare with the name of a resource, or choose by it from a dict."""
    for node in ast.walk(tree):
        compared: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp):  # of sets
            compared = [node.left, node.right]
        elif isinstance(node, ast.MatchValue):
            compared = [node.value]
        elif isinstance(node, ast.Dict) and len(node.keys) == len(
            [key for key in node.keys if getattr(key, "value", None) in RESOURCE_NAMES]
        ):
            compared = [*node.keys]
        parts = [part for each in compared for part in getattr(each, "elts", [each])]
        texts = {part.value for part in parts if isinstance(part, ast.Constant)}
        if any(isinstance(text, str) and text in RESOURCE_NAMES for text in texts):
            yield getattr(node, "lineno", 0)


def test_no_branch_names_a_resource() -> None:
    """Resources are data to everything else: a fifth one is a declaration, and no `if`."""
    lines = [
        f"{file}:{line}"
        for file, path in FILES.items()
        if not file.as_posix().removeprefix("chatkit/").startswith(tuple(RESOURCE_BRANCHES))
        for line in resource_branches(parsed(path))
    ]
    assert not lines
    assert [*resource_branches(ast.parse('noun == "flow"'))] == [1]


def test_a_small_part_of_one_module_is_in_that_module() -> None:
    """A module with one importer and few lines is half of a thought, unless it says why."""
    importers: dict[str, set[str]] = {}
    for source, targets in needs().items():
        for target in targets:
            importers.setdefault(target, set()).add(source)
    paths = {module_of(file): path for file, path in FILES.items()}
    slivers = {
        name
        for name, by in importers.items()
        if len(by) == 1 and not paths[name].name.startswith("__")
        if size.measure(paths[name])[0] < SLIVER
    }
    assert slivers <= {*SLIVERS}


def test_one_class_name_means_one_class() -> None:
    """A name like `Listing` in a traceback is one class; the exceptions have a reason."""
    places: dict[str, set[str]] = {}
    for file, path in FILES.items():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, set()).add(str(file))
    assert {name for name, where in places.items() if len(where) > 1} <= {*TWICE}
    assert len(TWICE) <= 8


#: What renders itself without being a report, and why.
RENDERS = {
    "chatkit/flowjson/build/__init__.py": "a document as a tree of its screens",
    "chatkit/flowjson/lint.py": "the source of a document, with findings under its lines",
    "chatkit/webhooks.py": "three steps for a person to take",
}


def test_a_report_is_rendered_in_one_place() -> None:
    """Only `chatkit.report` escapes and folds what strangers wrote; no module copies that."""
    renderers = {str(f) for f, path in FILES.items() if "def _repr_html_" in path.read_text()}
    assert renderers <= {"chatkit/report.py", *RENDERS}
