"""Secret: an access token or a signing secret, which never shows itself.

What a service shows under a name that secrets have is hidden too: see `mask_secrets`.
"""

from __future__ import annotations

import hmac
import re
from typing import Any, NoReturn

from pydantic_core import CoreSchema, core_schema

from chatkit.errors import SettingsError, format_command

MASK = "(not shown)"  # has spaces, so that it can never be taken for a token itself

#: Names of fields whose values are never shown or kept.
SECRET = re.compile(
    "secret|token|passw|passphrase|authorization|credential|bearer"
    "|(api|auth|access|private|signing|encryption)[-_ ]?key",
    re.IGNORECASE,
)
#: Characters that a secret has at least, to be masked wherever its text stands. A shorter one
#: stands in ordinary words too: the token "test" was masked in the name "Contest". None of
#: this length does, nor is a telephone number so long (15 digits); 16 are 64 bits in hex.
LEAST = 16


def mask_secrets(name: str, value: Any) -> Any:
    """Mask what is a secret by its name in a value, at any depth.

    True, false and null stay: `has_signing_secret` tells nothing.
    """
    if SECRET.search(name) and not isinstance(value, bool | None):
        return MASK
    if isinstance(value, dict):
        return {key: mask_secrets(str(key), one) for key, one in value.items()}
    return [mask_secrets("", one) for one in value] if isinstance(value, list) else value


def has_mask(name: str, value: Any) -> bool:
    """Return whether `mask_secrets` has put its mask into a value."""
    if isinstance(value, dict):
        return any(has_mask(str(key), one) for key, one in value.items())
    if isinstance(value, list):
        return any(has_mask(name, one) for one in value)
    return value == MASK or (SECRET.search(name) is not None and isinstance(value, str))


class Secret:
    """An access token or a signing secret that never shows itself.

    `reveal()` is the only way to its text. It is masked in every output, is compared in
    constant time, and refuses to be pickled; in JSON written by pydantic it is masked.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str | Secret) -> None:
        if not isinstance(text, str | Secret):
            kind = type(text).__name__
            del text  # a traceback that prints variables must not find it here
            raise TypeError(f"A secret is text, not {kind}.")
        self._text: str = text._text if isinstance(text, Secret) else text

    def reveal(self) -> str:
        """Return the text itself. Keep it out of variables, logs and messages."""
        return self._text

    def __repr__(self) -> str:
        return "Secret" + MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        first, second = (s._text.encode("utf-8", "surrogatepass") for s in (self, other))
        return hmac.compare_digest(first, second)

    __hash__ = None  # type: ignore[assignment]  # a hash can be looked up in a table of guesses

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"A secret is not pickled: keep it in the keyring (`{format_command('login NAME')}`)."
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        def validate(value: object) -> Secret:
            if isinstance(value, str):
                return cls(value)
            if isinstance(value, Secret):
                return value
            raise ValueError("a secret is text")

        return core_schema.no_info_plain_validator_function(
            validate,
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )


def validate_access_token(text: str | Secret) -> Secret:
    """Validate an access token, and return it without the whitespace around it.

    Raises:
        SettingsError: It is empty, quoted, or holds anything but visible ASCII. The text of the
            error never contains the token.
    """
    if not isinstance(text, str | Secret):
        raise SettingsError(f"The access token must be text, not {type(text).__name__}.")
    token = Secret(Secret(text).reveal().strip())
    if re.fullmatch(r"""(?!["'`<])[\x21-\x7e]+(?<!["'`>,;])""", token.reveal()):
        return token
    del text  # a traceback that prints variables must not find it here
    if not token.reveal():
        raise SettingsError("The access token is empty.")
    raise SettingsError(
        "The access token holds a space, a line break, a quotation mark or a character that is not "
        "plain ASCII. Paste the token alone: no quotes, no 'Bearer', no dots in place of letters."
    )
