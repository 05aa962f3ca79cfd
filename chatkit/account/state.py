"""State: what an account, a sandbox, a folder or a revision of a folder holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from chatkit.account.folder import Folder, folder_at
from chatkit.account.reading import ROOMS, AccountState, default_of, read_account
from chatkit.client import Client, client_of
from chatkit.errors import InputError
from chatkit.templates.codes import Codes, template_codes

if TYPE_CHECKING:
    from chatkit.sandbox import Sandbox

__all__ = ["ROOMS", "AccountState", "default_of", "state_of"]


def state_of(
    source: Client | Sandbox | Folder | AccountState | str | os.PathLike[str],
    *,
    contacts: bool = False,
    codes: Codes | None = None,
) -> AccountState:
    """Read what an account, a folder or a revision of a folder holds.

    Args:
        source: A client, a sandbox, a folder or its path, with "@REVISION" one of git as in
            "shop/@HEAD~3"; or a state, which is returned.
        contacts: Read contacts, too.
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
        folder, revision = folder_at(os.fspath(source))
        return folder.state(revision, contacts=contacts, codes=codes)
    if isinstance(source, Client):
        return read_account(source, named, contacts=contacts)
    if hasattr(source, "template_codes"):
        with client_of(source) as client:
            named = source.template_codes if named is None else named
            return read_account(client, named, contacts=contacts)
    raise InputError(
        "This takes a client, a Sandbox, a chatkit.Folder or the path of one, not "
        f"{type(source).__name__}."
    )
