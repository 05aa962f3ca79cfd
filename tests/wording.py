"""Print names and docstrings of the package and its tests that use retired words.

A name is what it holds, in the term of the field. Docstrings begin with an imperative or a noun
phrase. Names of test functions are sentences: they may use plain prose, but no metaphors.
`make check` prints the sums; with paths it prints each place below them.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: Metaphors, and words that are retired but plain prose, as in the names of tests.
METAPHORS, PROSE = (
    frozenset(words.split())
    for words in Path(__file__).with_name("retired.txt").read_text("utf-8").split("\n\n")
)
#: Names of the platform, of a library, or of what a user reads, and why they stay.
ALLOWED = {
    "NotFound": "404 is called so by HTTP",
    "not_found_status": "and in the profile",
}
FIRST_WORDS = re.compile(
    r"(Tell|Say|What|Whether|Who|Whose|Whom|Which|When|Why|How|Where|Let|Had|Has|Is|Are|It|So"
    r"|All that|And)\b"
)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each name that a module binds."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.arg():
                yield node.lineno, node.arg
            case ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def places(path: Path) -> Iterator[str]:
    """Yield each retired name, and each docstring that does not begin as it should."""
    tree = ast.parse(path.read_text("utf-8"))
    for line, name in [(1, path.stem), *sorted(names(tree))]:
        words = {word.lower() for word in WORDS.findall(name)}
        retired = METAPHORS if name.startswith("test_") else METAPHORS | PROSE
        if name not in ALLOWED and words & retired:
            yield f"{path}:{line} name {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            if FIRST_WORDS.match(text):
                yield f"{path}:{getattr(node, 'lineno', 1)} docstring {text.splitlines()[0]}"


def main(paths: list[str]) -> None:
    """Print each place below the paths, or the sums of the package and of its tests."""
    for folder in map(Path, paths or ("chatkit", "tests")):
        modules = sorted(folder.rglob("*.py")) or [folder]
        lines = [line for module in modules for line in places(module)]
        if paths:
            print(*lines, sep="\n")
        kinds = [line.split(" ")[1] for line in lines]
        print(
            f"{folder}: retired words in {kinds.count('name')} names, "
            f"at the beginning of {kinds.count('docstring')} docstrings"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
