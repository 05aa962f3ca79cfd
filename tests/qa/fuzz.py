"""Fuzz: spoil every file that chatkit reads, and look for raw exceptions, hangs, memory and files.

    python tests/qa/fuzz.py --mutations 2000 --seed 1 [KIND …]

Each kind runs in a process of its own. Its files are made by chatkit itself, then spoiled: bytes,
tokens, lines and members of archives. Whatever is read may end in an error of chatkit or in a
frame; in anything else, in more than 2 s, in more than 300 MB, or in a file that is written
outside the folders of the run, it is a finding. A finding names its seed, which repeats it.

The 2 s are of the processor, twice in a row, and the 300 MB what one file adds to the process:
a busy machine makes no finding. What waits for something that never comes is found as well.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

SECONDS, MEGABYTES = 2, 300
#: What has waited so many seconds, and used less of the processor than this, waits for ever.
WAITING, IDLE = 60, 0.1
TOKENS = (
    *(b"[" * 50_000, b'{"a":' * 5000, b"]", b"}", b'"', b"'", b"\\", b"\\u0000", b"\\ud800"),
    *(b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"9" * 400, b"1" * 5000, b"\0", b"\xff"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n\n", b"\t", b",", b";", b"=", b"../../x", b"/etc/x"),
    *(b"%s", b"{{1}}", b"{{" * 200, b"<!DOCTYPE a>", b"&a;", b"<x>", b"]]>", b"[[a]]", b"a.b.c=1"),
    *("٣é\u202e👋".encode(), b"x" * 100_000, b"(" * 2000, b"2026-13-45T99:99", b"__proto__", b"#"),
)
VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?|\btrue\b|\bfalse\b|\bnull\b')


class Kind(NamedTuple):
    """Files of one kind: what is spoiled, and what reads them."""

    samples: dict[str, bytes]
    read: Callable[[Path], object]


def spoiled(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Spoil a file, most often in one place."""
    if data[:2] == b"PK" and rng.random() < 0.8:
        return _archive(data, rng, others)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        match rng.randrange(9):
            case 0 if data:
                at = rng.randrange(len(data))
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:place] + rng.choice(TOKENS) + data[place:]
            case 2 | 3 if values := list(VALUE.finditer(data)):
                value = rng.choice(values)
                new = rng.choice((*TOKENS, b"[]", b"{}", b'""', b'"x"', rng.choice(values)[0]))
                data = data[: value.start()] + new + data[value.end() :]
            case 4:
                data = data[:place] + data[min(end, place + rng.choice((1, 10, 10_000))) :]
            case 5:
                data = data[:end] + data[place:end][:10_000] * rng.choice((1, 3, 50)) + data[end:]
            case 6:
                lines = data.split(b"\n")
                rng.shuffle(lines) if rng.random() < 0.3 else lines.insert(
                    rng.randrange(len(lines) + 1), rng.choice(rng.choice(others).split(b"\n"))
                )
                data = b"\n".join(lines)
            case 7:
                data = data[:place]
            case _:
                other = rng.choice(others)
                start = rng.randrange(len(other) + 1)
                data = data[:place] + other[start : start + 2000] + data[place:]
    return data[:2_000_000]


def _archive(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Spoil one member of an archive, or its name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    if rng.random() < 0.1:
        members[rng.choice(("../x.xml", "/x.xml", name.upper(), "x"))] = members.pop(name)
    else:
        members[name] = spoiled(members[name], rng, list(members.values()))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return out.getvalue()


# --- the files, and what reads them -------------------------------------------------------


def kinds(home: Path) -> dict[str, Kind]:
    """Make the files of each kind with chatkit itself, below a folder."""
    import pandas as pd

    import chatkit
    from chatkit import cli, flowjson, settings
    from chatkit.account.folder import Folder
    from chatkit.api.connection import Connection
    from chatkit.bulk.plan import _compute_hash
    from chatkit.bulk.stores import open_store
    from chatkit.inbox.delivery import DeliveryInspector
    from chatkit.inbox.store import InboxStore
    from chatkit.localization.files import read_units
    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger

    client = chatkit.connect(chatkit.Sandbox(seed="demo"))
    contacts = client.contacts.frame()
    connection = Connection(base_url="https://a.example", account_id="1", token="t")
    settings.save("a", connection, "nowhere")
    settings.save_templates("a", ["order_ready"])
    profile = {"search_param": "q", "page_base": 0, "content_requires": ["text"], "rate_limit": 20}

    def read_settings(path: Path) -> None:
        os.environ["CHATKIT_CONFIG"] = str(path)
        for name in settings.names():
            settings.stored(name)
            settings.save_templates(name, ["b"])

    edited = contacts.reset_index().head(5).assign(name="Bo")
    plan = client.contacts.plan(edited, delete=contacts.index[-2:])
    plan.save(home / "plan.json")

    def read_plan(path: Path) -> None:
        data = path.read_bytes()
        try:  # half of them with the right hash
            if len(data) % 2:
                kept = json.loads(data)
                del kept["hash"]
                path.write_text(json.dumps({"hash": _compute_hash(kept)} | kept))
        except (ValueError, LookupError, TypeError, RecursionError):
            pass
        with suppressed():
            cli._find_connection(path)
        outcome = client.load_plan(path)
        repr(outcome), outcome.frame(), outcome.refused

    plan.apply(many=True)
    journals, applied = open_store(passing=True).path, plan.id
    with closing(sqlite3.connect(journals)) as database:
        header = database.execute("SELECT header FROM chatkit_run").fetchone()[0]
        bodies = [body for (body,) in database.execute("SELECT body FROM chatkit_change")]
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    whole = journals.read_bytes()

    def read_journal(path: Path) -> None:
        folder = path.with_name("runs")
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        file, data = folder / journals.name, path.read_bytes()
        if data[:6] == b"SQLite":
            path.rename(file)
        else:  # header and changes with the right digest
            head, *texts = data.decode("utf-8", "replace").split("\n")
            file.write_bytes(whole)
            digest = hashlib.sha256("\n".join([head, *texts]).encode()).hexdigest()
            with closing(sqlite3.connect(file)) as database, database:
                database.execute("DELETE FROM chatkit_event")
                database.execute("DELETE FROM chatkit_change")
                database.execute("UPDATE chatkit_run SET header = ?, digest = ?", (head, digest))
                database.executemany(
                    "INSERT INTO chatkit_change SELECT run, ?, ? FROM chatkit_run",
                    enumerate(texts),
                )
        readers = [partial(read, applied) for read in (chatkit.account.journal, chatkit.undo)]
        one_of(data, chatkit.runs, *readers)(at=folder)

    def read_ledger(path: Path) -> None:
        str(Ledger.from_text(path.read_bytes().decode("utf-8", "replace")))

    codes = ["order_ready"]
    client.templates.accept(codes=codes)
    exported = {}
    for name in ("a.xlf", "a.po", "a.csv", "a.xlsx"):
        folder = home / name[2:]
        folder.mkdir()
        client.templates.export(folder / name, codes, only="all")
        exported[name[2:]] = next(folder.iterdir()).read_bytes()
    terms = pd.DataFrame(
        {"term": ["order"], "language": ["de"], "use": ["Bestellung"], "never": [""]}
    )
    persons = contacts.head(20)
    persons.chatkit.to_csv(home / "people.csv")
    persons.chatkit.to_xlsx(home / "people.xlsx")
    vcard = "BEGIN:VCARD\nVERSION:{}\nN:Cruz;Ana;;;\nFN:Ana Cruz\n{}:+34 600 000 000\nEND:VCARD\n"

    store = InboxStore(home / "inbox.sqlite")
    inbox = chatkit.Inbox(home / "inbox.sqlite")
    inspector = DeliveryInspector(client.profile)

    def read_delivery(path: Path) -> None:
        store.write_deliveries([inspector.inspect("/", [("a", "b")], path.read_bytes())])
        if (last := store.read_last_id()) % 8:
            return
        since = last - 8
        for read in (inbox.messages, inbox.statuses, inbox.raw, inbox.reactions, inbox.media):
            read(since=since, verified=None)
        list(inbox._read_events(since=since, verified=None))
        if last % 48 == 0:
            inbox.prune(before="0 days").apply()

    # A few records of each kind: to plan even these takes 50 ms.
    few = chatkit.connect(chatkit.Sandbox(seed="demo"))
    for records, count in ((few.contacts, 4), (few.flows, 2), (few.webhooks, 1)):
        for id in records.frame().index[count:]:
            records.delete(id)
    for code in few.templates(codes[0]).frame().index[3:]:
        few.templates(codes[0]).delete(code)
    shop = Folder(home / "shop")
    shop.pull(few, contacts=True, codes=codes)
    in_folder = {
        str(path.relative_to(shop.path)): path.read_bytes()
        for path in shop.path.rglob("*")
        if path.is_file() and path.name != "folder.lock"
    }

    def plan_folder(folder: Folder) -> object:
        return folder.plan(few)

    def read_folder(path: Path) -> None:
        name = path.name.replace("!", "/")
        in_file = path.read_bytes()
        (shop.path / name).write_bytes(in_file)
        try:
            one_of(in_file, repr, Folder.check, Folder.check, plan_folder)(shop)
        finally:
            (shop.path / name).write_bytes(in_folder[name])

    message = {
        "event": "chat.message.status",
        "data": {"id": "m1", "to": "4915112345678", "status": "sent", "timestamp": 1795600000},
    }
    envelope = {
        "object": "whatsapp_business_account",
        "entry": [
            {
                "id": "1",
                "changes": [
                    {
                        "field": "messages",
                        "value": {
                            "messages": [
                                {
                                    "from": "4915112345678",
                                    "id": "m",
                                    "type": "text",
                                    "text": {"body": "Hi"},
                                    "timestamp": "1795600000",
                                }
                            ],
                            "contacts": [{"wa_id": "4915112345678", "profile": {"name": "Ana"}}],
                            "metadata": {"phone_number_id": "1"},
                        },
                    }
                ],
            }
        ],
    }
    access = {"base_url": "http://127.0.0.1:1", "account_id": "1001", "token": "t" * 40}
    flow = json.loads(next((home / "shop" / "flows").glob("*.json")).read_text("utf-8"))
    return {
        "settings": Kind({"c.toml": settings.get_config_file().read_bytes()}, read_settings),
        "access": Kind(
            {"a.access": json.dumps(access | {"profile": profile}).encode()},
            lambda path: settings.read_access_file(str(path)),
        ),
        "profile": Kind(
            {
                "p.json": json.dumps(profile).encode(),
                "p.toml": b'search_param = "q"\npage_base = 0\ncontent_requires = ["text"]\n',
            },
            cli._read_profile,
        ),
        "plan": Kind({"plan.json": (home / "plan.json").read_bytes()}, read_plan),
        "journal": Kind(
            {"j.db": whole, "j.txt": "\n".join([header, *bodies]).encode()},
            read_journal,
        ),
        "ledger": Kind({"l.jsonl": str(client.templates.ledger.read()).encode()}, read_ledger),
        "glossary": Kind({"g.csv": terms.to_csv(index=False).encode()}, Glossary),
        "contacts": Kind(
            {
                "p.csv": (home / "people.csv").read_bytes(),
                "p.xlsx": (home / "people.xlsx").read_bytes(),
                "p.vcf": (vcard.format("3.0", "TEL;TYPE=CELL") * 3).encode(),
                "q.vcf": (vcard.format("2.1", "TEL;ENCODING=QUOTED-PRINTABLE") * 3).encode(),
            },
            chatkit.read_contacts,
        ),
        "translations": Kind(
            {f"t.{ending}": data for ending, data in exported.items()}, read_units
        ),
        "flow": Kind({"f.json": json.dumps(flow).encode()}, lambda p: repr(flowjson.lint(p))),
        "webhook": Kind(
            {"m.json": json.dumps(message).encode(), "w.json": json.dumps(envelope).encode()},
            read_delivery,
        ),
        "folder": Kind({n.replace("/", "!"): d for n, d in in_folder.items()}, read_folder),
    }  # fmt: skip


def one_of(data: bytes, *readers: Callable[..., object]) -> Callable[..., object]:
    """Choose the reader of a file by its bytes, so that each gets its share of them."""
    return readers[zlib.crc32(data) % len(readers)]


class suppressed:
    """Ignore errors of chatkit."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        from chatkit.errors import ChatkitError

        return kind is not None and issubclass(kind, ChatkitError)


# --- the run ------------------------------------------------------------------------------


class Hang(BaseException):
    """A file took too long to read."""


def _late(number: int, frame: FrameType | None) -> None:
    global _looked
    used, _looked = time.process_time() - _looked, time.process_time()
    if number == signal.SIGALRM and used > IDLE:
        return  # it works, but other programs do too
    where = traceback.extract_stack(frame)
    ours = [each for each in where if "/chatkit/" in each.filename] or where
    raise Hang(f"{Path(ours[-1].filename).name}:{ours[-1].lineno}")


_looked = 0.0  # time of the processor when the file was begun, or looked after last


def attempt(kind: Kind, path: Path, data: bytes) -> str:
    """Read one spoiled file; return what is wrong, empty for nothing."""
    global _looked
    path.write_bytes(data)
    _looked = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAITING, WAITING)
    try:
        with suppressed(), redirect_stdout(io.StringIO()):
            kind.read(path)
    except Hang as hang:
        return f"hang in {hang.args[0]}"
    except Exception as error:  # noqa: BLE001
        last = traceback.extract_tb(error.__traceback__)
        ours = [each for each in last if "/chatkit/" in each.filename] or last
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return f"{type(error).__name__} at {place}: {str(error)[:100]!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def fuzz(name: str, kind: Kind, mutations: int, seed: int, box: Path) -> Iterator[str]:
    """Spoil the files of one kind so often; yield what was found."""
    outside: Counter[str] = Counter()
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def hook(event: str, args: tuple[Any, ...]) -> None:
        paths = ()
        if event == "open" and isinstance(args[2], int) and args[2] & writing:
            paths = args[:1]
        elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil.rmtree"):
            paths = args[:2] if event == "os.rename" else args[:1]
        for path in paths:
            if isinstance(path, str | bytes) and os.path.isabs(path):
                real = os.path.realpath(os.fsdecode(path))
                if not real.startswith((str(box), "/dev/", "/proc/")):
                    outside[real] += 1

    sys.addaudithook(hook)
    signal.signal(signal.SIGALRM, _late)
    signal.signal(signal.SIGPROF, _late)
    samples = list(kind.samples.items())
    for file, data in samples:  # whole, so that what they need is loaded
        path = box / "work" / file
        path.write_bytes(data)
        with suppressed(), redirect_stdout(io.StringIO()):
            kind.read(path)
    start, peak = _memory(), _peak()
    outcome: Counter[str] = Counter()
    for n in range(mutations):
        rng = random.Random(f"{name} {seed} {n}")
        file, sample = rng.choice(samples)
        path = box / "work" / file
        data = spoiled(sample, rng, [other for _, other in samples])
        before = _memory()
        finding = attempt(kind, path, data)
        if finding.startswith("hang"):  # once may be the machine: caches, other programs
            finding = attempt(kind, path, data)
        if finding:
            outcome[key := finding.partition(": ")[0]] += 1
            if outcome[key] == 1:
                yield f"{name}: {finding} ({file}, seed {seed}, number {n})"
        if _peak() > peak:
            peak = _peak()
            if peak > before + MEGABYTES:
                yield f"{name}: {peak - before:.0f} MB ({file}, seed {seed}, number {n})"
    if _memory() > start + MEGABYTES:
        yield f"{name}: {_memory() - start:.0f} MB are kept after all files"
    for key, count in outcome.items():
        if count > 1:
            yield f"{name}: {count:,} times {key}"
    yield from (f"{name}: wrote outside: {path}" for path in outside)


def _memory() -> float:
    """Return the megabytes that the process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _peak() -> float:
    """Return the most megabytes that the process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mutations", type=int, default=2000, help="so many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("kinds", nargs="*", help="all, if none is named")
    options = parser.parse_args(arguments)
    outcome = 0
    with tempfile.TemporaryDirectory() as folder:
        box = Path(folder).resolve()
        tempfile.tempdir = str(box)
        (box / "work").mkdir()
        os.environ |= {
            "CHATKIT_CONFIG": str(box / "connections.toml"), "CHATKIT_DATA": str(box / "data"),
            "CHATKIT_USER": "Ana", "TMPDIR": str(box),
        }  # fmt: skip
        with redirect_stdout(io.StringIO()):
            every = kinds(box)
        for name in options.kinds or every:
            began = time.monotonic()
            sys.stdout.flush()
            if not (child := os.fork()):
                try:
                    code = 0
                    for line in fuzz(name, every[name], options.mutations, options.seed, box):
                        print(line, flush=True)
                        code = 1
                except BaseException:  # noqa: BLE001
                    traceback.print_exc()
                    code = 2
                finally:
                    os._exit(code)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            outcome |= status != 0
            seconds = time.monotonic() - began
            result = "findings" if status == 1 else f"ended with {status}" if status else "clean"
            print(f"{name}: {options.mutations:,} in {seconds:.0f} s, {result}", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
