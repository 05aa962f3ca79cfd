"""Kills pulls with SIGKILL, each at another touch of a file, and tells what the folders hold then.

`python pull_kills.py FOLDER [EACH]` prints JSON: how many of the folders hold the account as it
was (`old`), as it is (`new`), how many say that a pull was `interrupted`, and what else was found
(`half`). Each pull runs in a fork of this process, which has read the account before: a kill is a
matter of milliseconds.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import chatkit
from chatkit.account import reading
from chatkit.account.reading import AccountState, format_name, read_account
from chatkit.bulk.stores import get_journal_folder


def touches(path: Path, kill_at: int) -> None:
    """Kill this process at the n-th touch of a file of a folder or of the user's data.

    Files of a folder are opened relative to it: their names are no absolute paths.
    """
    count, data = 0, str(get_journal_folder(passing=False))

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and arguments:
            place = arguments[0]
            if isinstance(place, str | os.PathLike) and (
                str(place).startswith((str(path), data)) or not os.path.isabs(place)
            ):
                count += 1
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def held(state: AccountState) -> str:
    """Return what a state holds as one text."""
    records = {
        noun: {format_name(noun, name): fields for name, fields in state.get(noun).items()}
        for noun in state.records
    }
    return json.dumps(records, sort_keys=True)


def main(top: Path, each: int) -> dict[str, Any]:
    """Pull an account, change it, and pull it again until no kill comes in time."""
    sandbox = chatkit.Sandbox(seed="demo")
    result: dict[str, Any] = {"old": 0, "new": 0, "interrupted": 0, "half": []}
    codes = [*sandbox._template_codes]
    with chatkit.connect(sandbox) as client:
        chatkit.Folder(top / "0").pull(client, codes=codes, contacts=True)
        old = held(chatkit.Folder(top / "0").state(contacts=True))
        client.templates("order_ready").update("en", footer="Moved")
        client.templates("order_ready").delete("ja")
        client.templates("brand_new").create(lang_code="en", text="Hello there.")
        client.webhooks.create(url="https://new.example/hook", events=["*"])
        client.contacts.create(country_code="+44", number="2079469999", name="New One")
        codes.append("brand_new")
        state = read_account(client, codes, contacts=True)
        reading.read_account = lambda *_, **__: state  # type: ignore[assignment]
        new, kill_at, ended = held(state), 1, False
        while not ended:
            place = top / str(kill_at)
            shutil.copytree(top / "0", place)
            pid = os.fork()
            if pid == 0:
                touches(place, kill_at)
                chatkit.Folder(place).pull(client, codes=codes, contacts=True)
                os._exit(0)
            _, status = os.waitpid(pid, 0)
            ended = not os.WIFSIGNALED(status)
            if ended and os.WEXITSTATUS(status):
                raise RuntimeError("a pull that was not killed has failed")
            try:
                now = held(chatkit.Folder(place).state(contacts=True))
            except chatkit.errors.InputError as error:
                now = str(error)
            result["old"] += now == old
            result["new"] += now == new
            result["interrupted"] += "was interrupted" in now
            if now not in (old, new) and "was interrupted" not in now:
                result["half"].append(kill_at)
            chatkit.Folder(place).pull(client, codes=codes, contacts=True)
            again = chatkit.Folder(place)
            strays = [str(each) for each in place.rglob("*") if each.name.endswith(".chatkit")]
            strays = [each for each in strays if Path(each) != place / ".chatkit"]
            strays += [str(each) for each in get_journal_folder(passing=False).rglob("*.zip")]
            if held(again.state(contacts=True)) != new or strays:
                result["half"].append(f"{kill_at} after the next pull: {strays}")
            shutil.rmtree(place)
            kill_at += each
    return result


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        report = main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    json.dump(report, sys.stdout)
