"""Print the size of the project: code lines, statements and modules.

A code line holds code: blank lines, comments and docstrings do not count. `make check` prints
the sums; with paths it prints a line for each file below them.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def measure(path: Path) -> tuple[int, int]:
    """Return the code lines and the statements of a module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstrings = [
        node.body[0]
        for node in ast.walk(tree)
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
    ]
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in docstrings:
        lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - len(docstrings)
    return len(lines), statements


def modules(folder: Path) -> list[Path]:
    """Return the modules below a folder, or the file itself."""
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


def summary(folder: Path) -> str:
    """Return the sums of a folder in one line."""
    sizes = [measure(path) for path in modules(folder)]
    lines, statements = (sum(column) for column in zip(*sizes, strict=True))
    return f"{folder}: {lines:,} code lines, {statements:,} statements, {len(sizes)} modules"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for each in modules(Path(name)):
            print(f"{measure(each)[0]:6,}  {each}")
    defaults = ("chatkit", "tests", "tests/qa")
    print("\n".join(summary(Path(name)) for name in sys.argv[1:] or defaults))
