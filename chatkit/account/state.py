"""State: what an account, a sandbox, a folder or a revision of a folder holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatkit.account.reading import ROOMS, AccountState, default_of, read_account, to_send
from chatkit.client import Client, client_of
from chatkit.errors import InputError
from chatkit.templates.codes import Codes, template_codes

if TYPE_CHECKING:
    from chatkit.sandbox import Sandbox

__all__ = ["ROOMS", "AccountState", "default_of", "state_of", "to_send"]


def state_of(
    source: Client | Sandbox | AccountState,
    *,
    contacts: bool = False,
    codes: Codes | None = None,
) -> AccountState:
    """Read what an account, a folder or a revision of a folder holds.

    Args:
        source: A client, a sandbox, or a state, which is returned.
        contacts: Read contacts, too.
        codes: The template codes to read contents of. Without it those that the client
            remembers, or those that a sandbox has.

    Raises:
        InputError: It is none of these.
        CallError: The account cannot be read.
    """
    if isinstance(source, AccountState):
        return source
    named = None if codes is None else template_codes(codes)
    if isinstance(source, Client):
        return read_account(source, named, contacts=contacts)
    if hasattr(source, "template_codes"):
        with client_of(source) as client:
            named = source.template_codes if named is None else named
            return read_account(client, named, contacts=contacts)
    raise InputError(f"This takes a client or a Sandbox, not {type(source).__name__}.")
