"""The account under test: a sandbox, or the one that --account names."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from contract.account import Account
from contract.targets import TARGETS, target

import chatkit
from chatkit.api.call import Call
from chatkit.util.display import visible

STATES = {"passed": "holds", "failed": "DIFFERS", "skipped": "unknown"}
ROWS = pytest.StashKey[list[tuple[int, str, str, str]]]()
NOTES = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--account", help="a connection of yours, by its name")
    parser.addoption("--writes", action="store_true", help="create records, and remove them")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "account" in metafunc.fixturenames:
        name = metafunc.config.getoption("account", None)
        metafunc.parametrize("account", [name] if name else TARGETS, indirect=True, scope="session")


@pytest.fixture(scope="session")
def account(request: pytest.FixtureRequest) -> Iterator[Account]:
    """The account under test. What was created there is removed at the end of the run."""
    config = request.config
    if config.getoption("account", None) is None:
        with target(request.param) as account:
            yield account
        assert not account.remaining
        return
    try:
        client = chatkit.connect(request.param)
        client.transport.send_raw(Call("GET", ("contacts",)))
    except chatkit.ChatkitError as error:
        pytest.exit(str(error), returncode=2)
    with client, Account(client, writes=config.getoption("writes")) as account:
        yield account
    remaining = [f"Remove it yourself: {text}" for text in account.remaining.values()]
    config.stash[NOTES] = account.notes + remaining
    if remaining:
        pytest.fail("\n".join(remaining), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]) -> Any:
    """Note a row of the table."""
    report = yield
    if call.when == "call" and item.config.getoption("account", None):
        fact, reason = item.callspec.params["fact"], ""
        if call.excinfo is not None:
            error = call.excinfo.value
            expected = isinstance(error, pytest.fail.Exception | pytest.skip.Exception)
            reason = str(error.msg) if expected else f"the check failed with {type(error).__name__}"
        rows = item.config.stash.setdefault(ROWS, [])
        rows.append((fact.number, STATES[report.outcome], fact.sentence, reason))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print a row for each fact: its number, whether it holds, the sentence and the reason."""
    rows = sorted(config.stash.get(ROWS, []))
    for number, state, sentence, reason in rows:
        first, *more = textwrap.wrap(sentence, 80)
        terminalreporter.write_line(f"{number:>4}  {state:<7}  {first}")
        for line in [
            *more,
            *(textwrap.wrap(f"-> {visible(reason)}", 80) if reason else ()),
        ]:
            terminalreporter.write_line(f"{'':15}{line}")
    for note in config.stash.get(NOTES, []):
        terminalreporter.write_line(visible(note))
    if rows:
        states = [state for _, state, _, _ in rows]
        counts = (f"{states.count(state)} {state}" for state in STATES.values())
        terminalreporter.write_line(f"{len(rows)} facts of the API document: {', '.join(counts)}")
