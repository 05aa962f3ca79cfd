"""Groups of modules, one for each folder, and the tests that cover them."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

#: The share of mutants that tests must notice.
GOAL = 0.92

#: The tests of a group, as patterns of paths below `tests/`; those of its own folder are added.
GROUPS: dict[str, tuple[str, ...]] = {
    "account": ("test_cli.py",),
    "api": ("test_client.py", "test_endpoint*.py", "test_contacts.py"),
    "bulk": ("account/test_history.py", "test_contacts.py", "flows/test_resource.py",
             "widgets/plan/test_*.py"),
    "flowjson": ("test_flow_checks.py", "flows/test_*.py"),
    "frames": ("test_contacts.py", "test_endpoint*.py", "bulk/test_*.py"),
    "imports": ("test_contacts_check.py", "test_contacts.py"),
    "inbox": ("test_signature.py", "widgets/inbox/test_*.py"),
    "localization": ("templates/test_*.py", "widgets/content/test_*.py"),
    "resources": ("test_*.py", "flows/test_*.py", "templates/test_*.py", "webhooks/test_*.py",
                  "bulk/test_undo.py", "bulk/test_plan_applied.py"),
    "sandbox": ("contract/test_*.py",),
    "templates": ("test_endpoint*.py", "localization/test_ledger.py"),
    "util": ("sandbox/test_*.py", "bulk/test_plan_stopped.py"),
    "widgets": (),
}  # fmt: skip


def group_of(path: str) -> str | None:
    """Return the group of a module, whose path begins below `chatkit/`; None for commands."""
    folder, slash, _ = path.partition("/")
    if slash:
        return folder if folder in GROUPS else None
    return None if path in ("__init__.py", "__main__.py", "cli.py") else "resources"


def files_of(group: str, tests: Path) -> list[str]:
    """Return the files of tests that cover a group, as paths below `tests`."""
    patterns = (f"{group}/**/test_*.py", *GROUPS[group])
    files = {file for pattern in patterns for file in tests.glob(pattern)}
    return sorted(file.relative_to(tests).as_posix() for file in files)


def own_tests(path: str, files: list[str]) -> list[str]:
    """Choose the tests named after a module: of chatkit/a/b.py, those of tests/a/test_b*.py."""
    module = Path(path)
    pattern = (module.parent / f"test_{module.stem}*.py").as_posix()
    return [file for file in files if fnmatch(file, pattern)]


def in_order(path: str, files: list[str], tests: Path) -> tuple[list[str], list[str]]:
    """Split files of tests: those of a module and those that import it, and all others.

    In both the small ones come first, which most often are the quicker.
    """
    files = sorted(files, key=lambda file: (tests / file).stat().st_size)
    name = "chatkit." + path.removesuffix(".py").replace("/", ".")
    near = own_tests(path, files)
    near += [file for file in files if name in (tests / file).read_text("utf-8")]
    return list(dict.fromkeys(near)), [file for file in files if file not in near]
