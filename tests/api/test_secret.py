import copy
import json
import logging
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from chatkit.api.secret import MASK, Secret, has_mask, mask_secrets, validate_access_token
from chatkit.errors import SettingsError

MARKER = "tok_5f3a9c1e77"


class Holder(BaseModel):
    secret: Secret


def test_every_way_to_show_a_secret_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(MARKER)
    logging.getLogger("t").warning("%s %r", secret, [secret])
    output = [
        repr(secret),
        str(secret),
        f"{secret} {secret!r} {secret!s:>40} {secret:.3}",
        "%s %r" % (secret, secret),  # noqa: UP031
        repr({"a": [secret]}),
        repr(Holder(secret=secret)),
        Holder(secret=secret).model_dump_json(),
        repr(Holder(secret=secret).model_dump()),
        json.dumps({"a": secret}, default=str),
        caplog.text,
        repr(dir(secret)),
    ]
    assert not [text for text in output if MARKER in text or MARKER[:3] in text]
    assert not hasattr(secret, "__dict__")


def test_ipython_shows_the_mask_and_only_reveal_gives_the_text_back() -> None:
    from IPython.core.formatters import DisplayFormatter

    data, metadata = DisplayFormatter().format(Secret(MARKER))
    assert data == {"text/plain": "Secret(not shown; .reveal() returns the text)"}
    assert metadata == {}
    assert Secret(MARKER).reveal() == Secret(Secret(MARKER)).reveal() == MARKER


def test_a_secret_is_not_pickled_nor_written_as_json_and_a_copy_is_itself() -> None:
    secret = Secret(MARKER)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="keyring"):
            pickle.dumps({"held": secret}, protocol)
    with pytest.raises(TypeError):
        json.dumps(secret)
    assert copy.copy(secret) is copy.deepcopy([secret])[0] is secret
    assert Holder(secret=secret).model_copy(deep=True).secret is secret


@given(st.text(), st.text())
def test_secrets_are_equal_when_their_texts_are(one: str, other: str) -> None:
    assert (Secret(one) == Secret(other)) is (one == other)
    assert Secret(one) == Secret(one)


def test_a_secret_is_text_equals_no_plain_text_and_has_no_hash() -> None:
    assert Secret(MARKER) != MARKER
    assert Secret("\ud800") == Secret("\ud800")
    with pytest.raises(TypeError):
        hash(Secret(MARKER))
    with pytest.raises(TypeError, match="not bytes") as caught:
        Secret(MARKER.encode())  # type: ignore[arg-type]
    assert MARKER not in str(caught.value)


def test_pydantic_takes_text_or_a_secret_and_keeps_the_secret() -> None:
    assert Holder(secret=MARKER).secret.reveal() == MARKER  # type: ignore[arg-type]
    assert Holder.model_validate({"secret": Secret(MARKER)}).secret.reveal() == MARKER
    assert Holder.model_validate_json(f'{{"secret": "{MARKER}"}}').secret.reveal() == MARKER
    assert Holder.model_json_schema()["properties"]["secret"]["type"] == "string"
    with pytest.raises(ValidationError, match="a secret is text"):
        Holder.model_validate({"secret": 17})


@pytest.mark.parametrize("space", ["", " ", "\n", "\r\n", "\t", "  \n", "\u00a0", "\u2028"])
def test_space_around_an_access_token_is_removed(space: str) -> None:
    assert validate_access_token(space + MARKER + space).reveal() == MARKER


@pytest.mark.parametrize(
    "text",
    [f"Bearer {MARKER}", f"{MARKER}\nX-Odd: 1", f"{MARKER}\r{MARKER}", f"\x00{MARKER}",
     f"{MARKER}é", f"“{MARKER}”", f"{MARKER}\u200b", f"{MARKER}\ud800",
     f"{MARKER}\x7f", "", "  ", MASK],
)  # fmt: skip
def test_an_access_token_that_cannot_stand_in_a_header_is_refused_unseen(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        validate_access_token(text)
    rendered = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )
    own = rendered[rendered.rindex('secret.py"') :]  # below it is the frame of this test
    assert MARKER not in str(caught.value) + own


@pytest.mark.parametrize("value", [None, 17, MARKER.encode(), [MARKER]])
def test_an_access_token_of_another_type_is_refused_unseen(value: object) -> None:
    with pytest.raises(SettingsError, match="must be text") as caught:
        validate_access_token(value)  # type: ignore[arg-type]
    assert MARKER not in str(caught.value)


@given(st.text())
def test_an_accepted_access_token_is_visible_ascii_and_nothing_else(text: str) -> None:
    try:
        token = validate_access_token(text).reveal()
    except SettingsError:
        return
    assert token == text.strip()
    assert token and all("!" <= c <= "~" for c in token)


# --- what a service shows under the names that secrets have -----------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("signing_secret", "webhookSecret", "auth_token", "refreshToken", "api_key", "apiKey"),
        *("X-Api-Key", "password", "passwd", "Authorization", "client_credentials", "private_key"),
    ],
)
def test_a_secret_is_hidden_by_its_name_at_any_depth(name: str) -> None:
    for value in (MARKER, 17, 1.5, [MARKER], {"x": MARKER}):
        deep = mask_secrets("config", {"a": [{"b": {name: value, "c": "kept"}}], name: value})
        assert deep == {"a": [{"b": {name: MASK, "c": "kept"}}], name: MASK}
        assert mask_secrets(name, value) == MASK
        assert has_mask("config", deep) and has_mask(name, MASK)
    for value in (True, False, None):
        assert mask_secrets(name, value) is value
        assert not has_mask(name, value)


@pytest.mark.parametrize("name", ["name", "key", "keyboard", "author", "passenger", "authors"])
def test_other_names_stay_as_they_are(name: str) -> None:
    value = {name: ["Ann", 1, {"": None}]}
    assert mask_secrets("config", value) == value
    assert not has_mask("config", value)
