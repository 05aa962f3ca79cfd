"""Folder: an account as files for git, with a three-way merge.

A pull holds three sides together, record by record and field by field: the account as it was
when it was pulled last, the files, and the account now. What was edited in files is kept, what
has moved in the account is taken, and where both have moved it is a conflict, which is told.
`read_state` reads what a folder or a revision of it holds, or an account, whichever is named.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import pandas as pd

from chatkit.account import layout, reading
from chatkit.account.directory import Directory
from chatkit.account.layout import FolderContents, FolderFiles, Records
from chatkit.account.pending import GIT_FILES, IGNORE, PRIVATE, PendingPull, compute_digest
from chatkit.account.planning import Named, plan_state, require_client
from chatkit.account.reading import AccountState, Fields
from chatkit.api.connection import Connection, describe_account
from chatkit.bulk.endpoints import ACCOUNT
from chatkit.bulk.stores import read_changes_since
from chatkit.client import Client, open_sandbox_client
from chatkit.errors import InputError, JournalError, Problem, format_command, safe_repr
from chatkit.localization.ledger import Ledger, LedgerFile
from chatkit.report import Report, ReportPart, html_list, marked
from chatkit.templates.codes import Codes, template_codes
from chatkit.util.display import MISSING, many, values, visible
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan
    from chatkit.sandbox import Sandbox

#: What becomes of a field that was changed both in a file and in the account.
Conflicts = Literal["refuse", "files", "account"]

_GIT_MAX_SIZE = 1 << 20  #: bytes of a file of git settings
_ROUNDS = 5  #: so often a pull merges again what is saved while it runs
_NO_CODES = (
    "No contents were pulled: the API has no list of templates. Pass their codes with codes=, or "
    "keep them with client.templates.remember(codes)."
)


class FieldConflict(NamedTuple):
    """A field, or a whole record, that both sides changed, with base, file and account values."""

    noun: str
    name: Any
    field: str  #: empty for a whole record
    base: Any
    file: Any
    account: Any


def merge_records(
    noun: str,
    base: Mapping[Any, Fields],
    files: Mapping[Any, Fields],
    account: Mapping[Any, Fields],
    prefer: Conflicts = "refuse",
) -> tuple[dict[Any, dict[str, Any]], list[FieldConflict]]:
    """Merge the records of one kind, field by field.

    Args:
        noun: The noun of the records.
        base: The records when the two sides were the same.
        files: One side.
        account: The other side.
        prefer: The side that wins where both changed a field; "refuse" makes it a conflict.

    Returns:
        The merged records, and the conflicts.
    """
    conflicts: list[FieldConflict] = []

    def merge_value(name: Any, field_name: str, base_value: Any, edited: Any, live: Any) -> Any:
        """Merge one value three ways, and a record field by field; note a conflict."""
        if edited == live or live == base_value:
            return edited
        if edited == base_value:
            return live
        if field_name == "" and isinstance(edited, Mapping) and isinstance(live, Mapping):
            before = base_value if isinstance(base_value, Mapping) else {}
            fields = {
                each: merge_value(
                    name, each, *(record.get(each, MISSING) for record in (before, edited, live))
                )
                for each in dict.fromkeys((*edited, *live))
            }
            return {each: value for each, value in fields.items() if value is not MISSING}
        if prefer == "refuse":
            conflicts.append(FieldConflict(noun, name, field_name, base_value, edited, live))
        return live if prefer == "account" else edited

    records = {
        name: merge_value(name, "", *(known.get(name, MISSING) for known in (base, files, account)))
        for name in sorted({*files, *account})
    }
    return {name: dict(each) for name, each in records.items() if each is not MISSING}, conflicts


class Folder:
    """An account as a folder of files: flows, template contents, webhooks, and contacts if asked.

    `pull` writes it and brings what has moved in the account; what you edit in the files is
    kept, and `plan` shows what it would change. `chatkit.compare` holds it against an account,
    another folder or a revision of one. The folder never holds a token, a signing secret or an
    id: records go by name, code and language, address, or number.

    Args:
        path: Where it is; `pull` makes it.

    >>> folder = chatkit.Folder("shop")
    >>> client.templates.remember(["order_ready"])
    This client remembers 1 template code until the kernel ends: the sandbox keeps no settings.
    >>> folder.pull(client)
    Pulled account 1001 of the sandbox into shop: 5 flows, 8 contents, 3 webhooks.
      new: account.json, 5 in flows/, 8 in templates/, 3 in webhooks/
    """

    #: The account that was pulled last into each folder by this process: that of a sandbox in
    #: memory has another name in the files.
    _pulled: ClassVar[dict[Path, str]] = {}

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()

    @safe_repr
    def __repr__(self) -> str:
        if not self.path.is_dir():
            return f"<folder {self.path}, which does not exist yet>"
        try:
            return f"<folder {repr(self.state())[1:-1]}>"
        except InputError as error:
            return f"<folder {self.path}: {str(error).partition(':')[0].rstrip('.')}>"

    @property
    def _pull_command(self) -> str:
        """The command line that pulls into this folder."""
        return format_command(f"pull {shlex.quote(str(self.path))} NAME")

    # --- read and plan --------------------------------------------------------------

    def state(
        self,
        revision: str | None = None,
        *,
        contacts: bool | None = None,
        codes: Codes | None = None,
    ) -> AccountState:
        """Read the records that the files of the folder hold.

        Args:
            revision: One of git, like "HEAD~3", a tag or a branch; without it the files as they
                are now.
            contacts: Read `contacts.csv`; without it if that is there.
            codes: The templates to read; without it all.

        Raises:
            InputError: Some files cannot be read: `problems` has each, with line and column. Or
                the folder holds no account, or git does not know the revision.
        """
        return self._read_state(revision, codes, contacts=contacts)[0]

    def _read_state(
        self,
        revision: str | None = None,
        codes: Codes | None = None,
        *,
        contacts: bool | None = None,
    ) -> tuple[AccountState, FolderContents]:
        """Read the records in the files as a state, and the raw contents of the folder."""
        files = (
            self._read_files(contacts=contacts)
            if revision is None
            else read_revision_files(self.path, revision)
        )
        if contacts is False:
            files.files.pop(layout.CONTACTS, None)
        contents = layout.FolderReader(files).read()
        if contents.account is None and not contents.paths:
            raise InputError(f"{files.name} holds no account: `{self._pull_command}` writes one.")
        names = {*contents.codes} if codes is None else {*template_codes(codes)}
        notes = []
        if contacts and reading.CONTACT not in contents.records:
            notes.append(f"{files.name} has no {layout.CONTACTS}: a pull with contacts writes it.")
        state = AccountState(
            origin=files.name,
            records={
                noun: {
                    name: records[name]
                    for name in sorted(records)
                    if "template_code" not in reading.DECLARED[noun].account_key or name[0] in names
                }
                for noun, records in _restore_name_parts(contents).items()
                if not contents.flows_only or noun in (*reading.FLOWS_ONLY, reading.CONTACT)
            },
            codes=tuple(sorted(names)),
            not_carried=[*notes, reading.NOT_CARRIED],
        )
        return state, contents

    def plan(
        self,
        client: Client,
        revision: str | None = None,
        *,
        contacts: bool | None = None,
        delete: Iterable[Named] = (),
        restore: bool = False,
        broken: bool = False,
        skip_invalid: bool = False,
    ) -> Plan:
        """Plan to bring an account to what the files hold. Nothing is sent before `apply()`.

        The account may be another one than was pulled: records go by their names. What changed in
        the pulled one since, and not in the files, is left and noted; what changed in both is
        refused.

        Args:
            client: The account. It is read.
            revision: One of git, to restore what was; without it the files as they are now.
            restore: Set back what changed in the account since the pull, too.
            contacts: Plan the contacts of `contacts.csv`; without it if that is there.
            delete: What is to be deleted, each by resource and name: `"flow Order survey"`,
                `("content", "order_ready/de")`. What the files do not have stays otherwise.
            broken: Plan what has errors, too: documents and contents that will be refused.
            skip_invalid: Plan the good rows although others cannot be planned.

        Raises:
            InputError: Some files cannot be read: `problems` has each, with line and column.
            CallError: The account cannot be read.
        """
        require_client(client)
        state, contents = self._read_state(revision, contacts=contacts)
        base, account = contents.base, client.connection.account
        known: Records = {}
        accounts = (base.account, self._pulled.get(self.path.absolute())) if base else ()
        folder = "" if revision else _identify_folder(self.path)
        if base is not None and account in accounts and revision is None and not restore:
            known = _add_own_writes(base, contents, account, folder)
        return plan_state(
            state,
            client,
            base=known,
            delete=delete,
            broken=broken,
            skip_invalid=skip_invalid,
            folder=folder,
        )

    def _read_files(self, *, contacts: bool | None) -> FolderFiles:
        """Read the bytes of all files of the folder, while no pull writes them.

        Args:
            contacts: Read the files of contacts, too; False leaves them out.

        Raises:
            InputError: There is no such folder, or a pull was interrupted.
        """
        if not self.path.is_dir():
            raise InputError(f"{self.path} does not exist: `{self._pull_command}` writes it.")
        with self._open_locked(write=False) as (directory, pending):
            if pending.exists():
                raise InputError(
                    f"A pull into {self.path} was interrupted: `{self._pull_command}` ends it."
                )
            return self._read_directory(directory, contacts=contacts)

    def _read_directory(self, directory: Directory, *, contacts: bool | None) -> FolderFiles:
        """Read the bytes of all files of an open folder that belong to an account."""
        files = FolderFiles(str(self.path))
        personal = () if contacts is False else (layout.CONTACTS, layout.BASE_CONTACTS)
        for path in (layout.ACCOUNT, layout.LEDGER, layout.BASE, *personal):
            files.read_file(path, directory.read_file)
        for pattern in layout.RECORD_FILES.values():
            for path, kind in _list_paths(directory, pattern.partition("/")[0], files):
                if pattern.count("/") == 1 or kind == "file":
                    inside = [path]
                else:
                    inside = [each for each, _ in _list_paths(directory, path, files)]
                for each in filter(layout.is_folder_file, inside):
                    files.read_file(each, directory.read_file)
        return files

    @contextmanager
    def _open_locked(self, *, write: bool = False) -> Iterator[tuple[Directory, PendingPull]]:
        """Open the folder, locked against other processes of this user."""
        try:
            with Directory(self.path, make=write) as directory:
                pending = PendingPull(directory)
                with pending.lock(make=write):
                    yield directory, pending
        except OSError as error:
            reason = visible(error.strerror or str(error))
            if error.filename and not os.path.isabs(error.filename):
                reason = f"{visible(error.filename)} {reason}"
            raise InputError(f"{self.path} cannot be used: {reason}.") from error

    # --- pull -----------------------------------------------------------------------

    def pull(
        self,
        client: Client,
        *,
        contacts: bool | None = None,
        flows_only: bool = False,
        codes: Codes | None = None,
        conflicts: Conflicts = "refuse",
        other_account: bool = False,
    ) -> PullReport:
        """Merge changes of the account into the files; local edits are kept.

        The account is only read. The folder is as it was or as it is to be, whenever the machine
        stops. Its ledger, from which source text each translation was made, is merged with that
        of this computer, both ways.

        Args:
            client: The account.
            contacts: Write `contacts.csv`, too: names and numbers of persons. It is put into
                `.gitignore`. Without it: if that is there.
            flows_only: Write the flows, and leave the files of all else as they are.
            codes: Template codes, beside those of the folder and those that the client remembers.
            conflicts: What becomes of a field that was changed both in a file and in the account:
                "refuse" tells all of them and writes nothing, "files" keeps what the files say,
                "account" takes what the account has.
            other_account: Take another account than the one that was pulled before.

        Returns:
            What was written, file by file.

        Raises:
            InputError: Files cannot be read, or were changed on both sides; nothing was written.
            CallError: The account cannot be read; nothing was written.
        """
        if conflicts not in get_args(Conflicts):
            choice = ", ".join(map(repr, get_args(Conflicts)))
            raise InputError(f"conflicts= is one of {choice}, not {conflicts!r:.60}.")
        require_client(client)
        contacts = False if contacts is None and flows_only else contacts
        contents = layout.FolderReader(FolderFiles(str(self.path))).read()
        if self.path.is_dir():
            with self._open_locked(write=True) as (directory, pending):
                pending.finish_pull(directory)
                contents = self._read_to_merge(
                    directory, client, contents, contacts=contacts, other_account=other_account
                )
        contacts = reading.CONTACT in contents.records if contacts is None else contacts
        codes_to_read = {*contents.codes, *client.templates.codes}
        codes_to_read |= set() if codes is None else {*template_codes(codes)}
        read = () if flows_only else sorted(codes_to_read)
        read_at = datetime.now(UTC)
        state = reading.read_account(
            client, read, reading.FLOWS_ONLY if flows_only else reading.NOUNS, contacts=contacts
        )
        ledger = LedgerFile(client.connection)
        done: dict[str, str] = {}
        saved: dict[str, None] = {}
        with self._open_locked(write=True) as (directory, pending):
            pending.finish_pull(directory)
            for _ in range(_ROUNDS):
                contents = self._read_to_merge(
                    directory, client, contents, contacts=contacts, other_account=other_account
                )
                pull = _Pull(directory, contents, client, state, read_at, conflicts, saved)
                pull.merge_ledger(ledger.read())
                changed = pull.write_changed_files(pending)
                saved |= dict.fromkeys(changed)
                done |= {path: what for path, what in pull.changes.items() if path not in changed}
                if not changed:
                    break
            else:
                raise InputError(
                    f"{', '.join(saved)} of {self.path} was saved again and again while the pull "
                    "ran. Close what writes it, and pull again."
                )
        if pull.ledger is not None:
            ledger.add(pull.ledger)
        self._pulled[self.path.absolute()] = client.connection.account
        if done.get(layout.CONTACTS) == "new":
            print_line(
                f"{layout.CONTACTS} holds the names and numbers of persons. It is in .gitignore: "
                "keep it out of what others can read."
            )
        notes = [*state.not_carried]
        if not state.codes and not flows_only:
            notes.insert(0, _NO_CODES)
        if saved:
            again = f"Saved while the pull ran, and merged again: {', '.join(saved)}."
            notes.insert(0, again)
        return PullReport(self.path, state, done, pull.left_out, notes)

    def _read_to_merge(
        self,
        directory: Directory,
        client: Client,
        before: FolderContents,
        *,
        contacts: bool | None,
        other_account: bool,
    ) -> FolderContents:
        """Read an open folder; refuse one of another account unless the caller allows it.

        Where no file has changed since `before` was read, none is parsed again.
        """
        files, contents = self._read_directory(directory, contacts=contacts), before
        if files.problems or files.files != before.files:
            contents = layout.FolderReader(files).read(ledger=True)
        own = choose_owner_name(client.connection)
        if contents.account not in (None, own) and not other_account:
            raise InputError(
                f"{self.path} holds {describe_account(str(contents.account))}, and this is "
                f"{describe_account(own)}: use another folder, or pass other_account=True."
            )
        return contents


def choose_owner_name(connection: Connection) -> str:
    """Return the account name to store in a folder; of a sandbox in memory a lasting one."""
    lasting = f"sandbox account {connection.account_id}"
    return lasting if connection.passing else connection.account


def _list_paths(directory: Directory, folder: str, files: FolderFiles) -> Iterator[tuple[str, str]]:
    """Yield the visible paths in a folder, sorted, each with its kind."""
    try:
        for name, kind in sorted(directory.list_entries(folder).items()):
            if not name.startswith("."):
                yield f"{folder}/{name}", kind
    except FileNotFoundError:
        return
    except OSError as error:
        files.add_problem(folder, error)


# --- one pull ---------------------------------------------------------------------------


@dataclass
class _Pull:
    """One pull into a folder: merges three sides, and writes the files that this changes.

    Attributes:
        directory: The folder, open.
        contents: What its files hold.
        client: The account.
        state: The state of it.
        read_at: When that began to be read.
        conflicts: The side that wins where both have changed a field.
        saved: The files that were saved while this pull ran and are merged again.
        ledger: The ledger of both, if this computer has another one.
        left_out: How many records of each resource somebody took out of the files.
    """

    directory: Directory
    contents: FolderContents
    client: Client
    state: AccountState
    read_at: datetime
    conflicts: Conflicts
    saved: Collection[str]
    ledger: Ledger | None = None
    left_out: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._texts: dict[str, bytes | None] = {}  #: None: the file is to be removed
        self._before: dict[str, str | None] = {}  #: the digest of each file that was merged
        self._edited: list[str] = []
        self._paths = dict(self.contents.paths)
        self._merge()

    def _merge(self) -> None:
        """Merge all records of base, files and account; collect the files to write and remove."""
        contents, account = self.contents, choose_owner_name(self.client.connection)
        pulled = contents.base
        if pulled is None or not contents.account == account == pulled.account:
            pulled = FolderContents()
        folder = _identify_folder(self.directory.path)
        known = _add_own_writes(pulled, contents, self.client.connection.account, folder)
        conflicts: list[FieldConflict] = []
        live, records = dict(known), {}
        for noun in self.state.records:
            live[noun] = _complete_account_records(self.state, noun, known.get(noun, {}))
        for noun in live:
            before = known.get(noun, {})
            # a table of contacts that is missing is written anew
            versions = before, contents.records.get(noun, before), live[noun]
            base, edited, latest = (
                map(_strip_parts, versions) if noun == reading.CONTACT else versions
            )
            records[noun], new_conflicts = merge_records(noun, base, edited, latest, self.conflicts)
            conflicts += new_conflicts
            self.left_out[noun] = len((base.keys() & latest.keys()) - records[noun].keys())
        if conflicts:
            self._raise_conflicts(conflicts)
        names = layout.PathNames(self._paths, contents.files)
        for noun in reading.NOUNS:
            for name, fields in records[noun].items():
                path = self._paths.get((noun, name)) or names.make_path(noun, name)
                self._paths[noun, name] = path
                previous = contents.records[noun].get(name)
                if previous != fields:
                    self._texts[path] = layout.format_record(noun, name, fields, path)
                if previous is not None and fields != live[noun].get(name):
                    self._edited.append(path)
        codes = sorted({*contents.codes, *self.state.codes})
        flows_only = self.state.flows_only and contents.flows_only
        settings = contents.account, [*contents.codes], contents.flows_only
        if settings != (account, codes, flows_only):
            self._texts[layout.ACCOUNT] = layout.format_account(
                account, codes, flows_only=flows_only
            )
        git_files = dict(GIT_FILES)
        if reading.CONTACT in self.state.records:
            ignored = self._read_git_file(IGNORE)
            if b"/contacts.csv" not in ignored.split():
                gap = b"" if not ignored or ignored.endswith(b"\n") else b"\n"
                git_files[IGNORE] = ignored + gap + b"/contacts.csv\n"
            if contents.records.get(reading.CONTACT) != records[reading.CONTACT]:
                text = layout.format_contacts(records[reading.CONTACT], layout.EDITABLE)
                self._texts[layout.CONTACTS] = text
        # The contacts of the base keep their time while they are not read.
        left = reading.CONTACT not in self.state.records
        left = left and self.directory.hash_file(layout.BASE_CONTACTS) is not None
        since = pulled.pulled if left or live == known == pulled.records else None
        base_files = layout.format_base(account, codes, live, since or self.read_at).items()
        self._texts |= {p: text for p, text in git_files.items() if self._read_git_file(p) != text}
        self._texts |= {p: text for p, text in base_files if contents.files.get(p) != text}
        gone = (path for (n, name), path in contents.paths.items() if name not in records[n])
        self._texts |= dict.fromkeys(gone)

    def _read_git_file(self, path: str) -> bytes:
        """Read a file of git settings in the folder; empty if it is missing."""
        try:
            data = self.directory.read_file(path, _GIT_MAX_SIZE)
        except FileNotFoundError:
            return b""
        self._before[path] = compute_digest(data)
        return data

    def _raise_conflicts(self, conflicts: list[FieldConflict]) -> None:
        """Raise `InputError` with all fields that changed on both sides."""
        problems = []
        for noun, name, field_name, *versions in conflicts:
            if noun == reading.CONTACT:
                place = f"{layout.CONTACTS}, {' '.join(name)}"
            else:
                called = " in ".join(name) if isinstance(name, tuple) else name
                removed = f"{noun} {values(called)}, whose file is gone"
                place = self._paths.get((noun, name), removed)
            place += f", {field_name}" if field_name else ""
            base, edited, live = map(values, versions)
            reason = f"was {base}; the file has {edited}, the account has {live}"
            problems.append(Problem(place, "", reason))
        written = "Nothing was written"
        if self.saved:
            saved = ", ".join(self.saved)
            written = f"{saved} was saved while the pull ran, and is as you saved it"
        raise InputError(
            f"{many(len(conflicts), 'field')} changed both in the files and in the account. "
            f"{written}: write into the file what the account has, or pull with "
            "conflicts='files' to keep yours, or with 'account' to take theirs:",
            problems,
        )

    def merge_ledger(self, own_ledger: Ledger) -> None:
        """Merge the ledger of this computer with that of the folder.

        Raises:
            InputError: Lines of the file cannot be read.
        """
        if self.state.flows_only:
            return
        merged = own_ledger.merge(self.contents.ledger)
        text = str(merged).encode()
        if merged != Ledger() and self.contents.files.get(layout.LEDGER) != text:
            self._texts[layout.LEDGER] = text
        self.ledger = merged if merged != own_ledger else None

    def write_changed_files(self, pending: PendingPull) -> list[str]:
        """Write the changed files unless one of them was saved since it was merged.

        Returns:
            The files that were saved since they were merged, and so were not written.
        """
        files = self.contents.files
        digests = {path: compute_digest(files.get(path)) for path in self._texts} | self._before
        changed = [p for p in self._texts if self.directory.hash_file(p) != digests[p]]
        if self._texts and not changed:
            pending.save(self._texts, digests)
            changed = pending.finish_pull(self.directory)
        if reading.CONTACT in self.state.records:
            for path in PRIVATE:
                self.directory.restrict_file(path)
        return changed

    @property
    def changes(self) -> dict[str, str]:
        """The change of each file, by its path."""
        changes = dict.fromkeys(self._edited, "edited")
        for path, text in self._texts.items():
            if not path.startswith((layout.PRIVATE_FOLDER, ".git")):
                kept = "changed" if path in self.contents.files else "new"
                changes[path] = "removed" if text is None else kept
        return changes


def _complete_account_records(
    state: AccountState, noun: str, base: Mapping[Any, Fields]
) -> dict[Any, dict[str, Any]]:
    """Return the records of an account; fields that it hides are taken from the base."""
    always, unclear = reading.DECLARED[noun].always, state.unclear.get(noun, ())
    records = {
        name: {n: value for n, value in base.get(name, {}).items() if n in always} | dict(fields)
        for name, fields in state.get(noun).items()
    }
    records |= {name: dict(base[name]) for name in unclear if name in base}
    return dict(sorted(records.items()))


def _identify_folder(path: Path) -> str:
    """Return the name of a folder in journals, which several machines may share."""
    return f"{platform.node()}:{path.resolve()}"


def _add_own_writes(
    base: FolderContents, contents: FolderContents, account: str, folder: str
) -> Records:
    """Return the records of the base with what plans of this folder have written since the pull.

    What other runs have written does not come from its files, and stays a change of the account.

    Args:
        base: The account as it was pulled.
        contents: What the files hold.
        account: The account, in the words of a journal's header.
        folder: The name of the folder there.
    """
    known = {noun: dict(records) for noun, records in base.records.items()}
    if base.pulled is None:
        return known
    try:
        written, _ = read_changes_since(account, ACCOUNT, base.pulled, folder)
    except (InputError, JournalError) as error:  # an account can be read without journals
        print_line(str(error))
        return known
    names = {
        (noun, reading.format_name(noun, name)): (records, name)
        for noun, records in known.items()
        for name in (*records, *contents.records.get(noun, ()))
    }
    for _, _, _, change in written:
        records, name = names.get(change.row, ({}, None))
        if change.kind == "delete":
            records.pop(name, None)
        elif name is not None:
            # the service splits a name that was sent anew
            kept = _strip_parts({name: records.get(name, {})})[name]
            fields = {**kept, **change.after}
            records[name] = reading.canonicalize_fields(change.row[0], fields)
    return known


# --- contacts ---------------------------------------------------------------------------


def _restore_name_parts(contents: FolderContents) -> Records:
    """Return the records of files; unedited contacts get their name parts from the base."""
    if reading.CONTACT not in contents.records or contents.base is None:
        return contents.records
    base = contents.base.records.get(reading.CONTACT, {})
    contacts = {
        name: old if (old := base.get(name)) and old.get("name") == fields.get("name") else fields
        for name, fields in contents.records[reading.CONTACT].items()
    }
    return contents.records | {reading.CONTACT: contacts}


def _strip_parts(contacts: Mapping[Any, Fields]) -> dict[Any, dict[str, Any]]:
    """Return contacts without the name parts, which the service derives."""
    return {
        key: {name: value for name, value in fields.items() if name not in reading.NAME_PARTS}
        for key, fields in contacts.items()
    }


# --- git --------------------------------------------------------------------------------


def read_revision_files(path: Path, revision: str) -> FolderFiles:
    """Read the files of a folder as they were in a revision of git; nothing is checked out.

    Raises:
        InputError: Git is missing, does not know the folder or the revision.
    """
    if not path.is_dir():
        raise InputError(f"{path} does not exist, so git cannot tell what was in it.")
    inside = _run_git(path, "rev-parse", "--show-prefix").decode().strip("\n")
    commit = _run_git(
        path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}",
        unknown=f"git does not know the revision {values(revision)} of {path}",
    ).decode().strip()  # fmt: skip
    listed = _run_git(path, "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", inside or ".")
    files = FolderFiles(f"{path}@{revision}")
    blobs: dict[str, tuple[str, int]] = {}
    for line in listed.decode(errors="surrogateescape").split("\0"):
        head, _, name = line.partition("\t")
        attributes, name = head.split(), name.removeprefix(inside)
        if len(attributes) != 4:
            continue
        if attributes[0] == "120000" and (
            layout.is_folder_file(name) or layout.is_folder_file(f"{name}/x.json")
        ):
            files.add_problem(name, OSError(0, "is a link, which may lead out of the folder"))
        if attributes[0].startswith("100") and layout.is_folder_file(name):
            blobs[name] = attributes[2], int(attributes[3])
    requested = []
    for name, (blob, size) in blobs.items():
        if size <= layout.MAX_SIZES.get(name, layout.MAX_SIZE):
            requested.append((name, blob, size))
        else:
            files.add_problem(name, OSError(0, "is larger than what is read of such a file"))
    request = "".join(f"{blob}\n" for _, blob, _ in requested).encode()
    data, offset = _run_git(path, "cat-file", "--batch", stdin=request), 0
    for name, blob, size in requested:
        offset += len(f"{blob} blob {size}\n")
        files.files[name] = data[offset : offset + size]
        offset += size + 1
    if offset != len(data):
        raise InputError(f"git does not have all files of {files.name}: fetch it as a whole.")
    return files


def _run_git(path: Path, *arguments: str, stdin: bytes = b"", unknown: str = "") -> bytes:
    """Run git in a folder without its hooks and network, and return the output."""
    git = ["git", "-c", "core.fsmonitor=false", "-C", str(path), *arguments]
    # The repository may be a stranger's: its settings must not fetch, nor run a program for it.
    closed = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        completed = subprocess.run(  # noqa: S603
            git, input=stdin, capture_output=True, check=False, env={**os.environ, **closed}
        )
    except FileNotFoundError:
        raise InputError("Revisions of a folder need git, which is not installed here.") from None
    if completed.returncode:
        reason = completed.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise InputError(
            f"{unknown or f'git cannot read {path}'}{f': {reason}' if reason else ''}."
        )
    return completed.stdout


def split_folder_revision(text: str) -> tuple[Folder, str | None]:
    """Split the path of a folder from a revision: "shop/@HEAD~3" is a revision of "shop/"."""
    if "@" in text and not Path(text).expanduser().is_dir():
        for at_sign in (n for n, sign in enumerate(text) if sign == "@"):
            if Path(text[:at_sign] or ".").expanduser().is_dir() and text[at_sign + 1 :]:
                return Folder(text[:at_sign] or "."), text[at_sign + 1 :]
    return Folder(text), None


def read_state(
    source: Client | Sandbox | Folder | AccountState | str | os.PathLike[str],
    *,
    contacts: bool | None = None,
    codes: Codes | None = None,
) -> AccountState:
    """Read what an account, a folder or a revision of a folder holds.

    Args:
        source: A client, a sandbox, a folder or its path, with "@REVISION" one of git as in
            "shop/@HEAD~3"; or a state, which is returned.
        contacts: Read contacts, too; without it those of a folder, if they are there.
        codes: The template codes to read contents of. Without it those that the client
            remembers, those that a sandbox has, or all of a folder.

    Raises:
        InputError: It is none of these, or files cannot be read: `problems` has all of them.
        CallError: The account cannot be read.
    """
    if isinstance(source, AccountState):
        return source
    named = None if codes is None else template_codes(codes)
    if isinstance(source, Folder):
        return source.state(contacts=contacts, codes=codes)
    if isinstance(source, str | os.PathLike):
        folder, revision = split_folder_revision(os.fspath(source))
        return folder.state(revision, contacts=contacts, codes=codes)
    if isinstance(source, Client):
        return reading.read_account(source, named, contacts=bool(contacts))
    if hasattr(source, "_template_codes"):
        with open_sandbox_client(source) as client:
            named = source._template_codes if named is None else named
            return reading.read_account(client, named, contacts=bool(contacts))
    raise InputError(
        "This takes a client, a Sandbox, a chatkit.Folder or the path of one, not "
        f"{type(source).__name__}. Of a fleet, take one account: fleet['name']."
    )


# --- what a pull did --------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class PullReport(Report):
    """The change of each file by a pull: new, changed, removed, or edited and so kept.

    Attributes:
        path: The folder.
        state: The state of the account.
        changes: The change of each file, by its path, without unchanged files.
        left_out: How many records of each resource somebody took out of the files.
        notes: Notes, among them on what the account has and the folder does not.
    """

    path: Path
    state: AccountState
    changes: Mapping[str, str]
    left_out: Mapping[str, int]
    notes: Sequence[str]

    def frame(self) -> pd.DataFrame:
        """Return a row for each file that changed, or that was edited: `file` and `change`."""
        rows = list(self.changes.items())
        return pd.DataFrame(rows, columns=["file", "change"], dtype="str")

    def _parts(self) -> Iterator[ReportPart]:
        """Yield the counts, the changed files by kind of change, and the notes."""
        counts = repr(self.state).partition(": ")[2].removesuffix(">")
        head = f"Pulled {self.state.origin} into {self.path}: {counts}."
        lines = []
        for change in ("new", "changed", "removed", "edited"):
            paths = [path for path, kind in self.changes.items() if kind == change]
            if paths:
                lines.append(f"  {change}: {', '.join(_summarize_paths(paths))}")
        if left_out := [many(count, noun) for noun, count in self.left_out.items() if count]:
            lines.append(
                f"  taken out of the files, and still in the account: {', '.join(left_out)}. In a "
                "plan, delete= names what is to be deleted there."
            )
        elif not self.changes:
            lines.append("  All files were as they are in the account.")
        html = f"<p>{marked(head)}</p>{html_list('changes', '', lines)}"
        yield ReportPart([head, *lines], html)
        notes = [*self.notes[:-1]]  # the last one is the same for all accounts
        yield ReportPart([f"  {note}" for note in notes], html_list("objections", "", notes))


def _summarize_paths(paths: list[str]) -> Iterator[str]:
    """Yield the paths of files; where a folder has many, only their count."""
    yield from sorted(path for path in paths if "/" not in path)
    for top in (pattern.partition("/")[0] for pattern in layout.RECORD_FILES.values()):
        inside = [path for path in paths if path.startswith(f"{top}/")]
        yield from [f"{len(inside):,} in {top}/"] if len(inside) > 2 else inside
