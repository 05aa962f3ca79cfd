import tomllib
import traceback
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import chatkit
from chatkit.api.connection import Connection, validate_account_id, validate_base_address
from chatkit.errors import SettingsError
from chatkit.profile import ServiceProfile

MARKER = "tok_5f3a9c1e77"


ADDRESSES = tomllib.loads(Path(__file__).with_name("addresses.toml").read_text("utf-8"))
ADDRESSES["refused"]["odd host"].append("https://" + ".".join(["a" * 63] * 4))


@pytest.mark.parametrize(("text", "kept"), ADDRESSES["kept"].items())
def test_a_good_base_address_is_kept_in_one_form(text: str, kept: str) -> None:
    assert validate_base_address(text) == kept
    assert validate_base_address(kept) == kept


@pytest.mark.parametrize(
    ("text", "advice"),
    [(text, advice) for advice, texts in ADDRESSES["refused"].items() for text in texts],
)
def test_a_base_address_that_cannot_be_trusted_is_refused_with_advice(
    text: str, advice: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        validate_base_address(text.replace("MARKER", MARKER))
    assert advice in str(caught.value)
    assert MARKER not in str(caught.value)


@pytest.mark.parametrize("value", [None, 17, b"https://a.example"])
def test_a_base_address_is_text(value: object) -> None:
    with pytest.raises(SettingsError, match="must be text"):
        validate_base_address(value)


@given(st.text(alphabet=st.sampled_from("aZ0.:/[]@?#%\\-_ \n\té1xlocahst")))
def test_an_accepted_base_address_has_the_parts_it_shows(rest: str) -> None:
    try:
        kept = validate_base_address("https://" + rest)
    except SettingsError:
        return
    parts = urlsplit(kept)
    assert parts.scheme == "https" and parts.hostname
    assert (parts.username, parts.password, parts.query, parts.fragment) == (None, None, "", "")
    assert kept.isascii() and kept.isprintable() and not kept.endswith("/")
    assert validate_base_address(kept) == kept


@pytest.mark.parametrize(
    ("value", "kept"), [("1001", "1001"), (1001, "1001"), (0, "0"), ("acc-1_x.y~z", "acc-1_x.y~z")]
)
def test_an_account_id_is_text_or_a_whole_number(value: object, kept: str) -> None:
    assert validate_account_id(value) == kept


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", "a/b", "a b", "1001\n", "a%2fb", "é", "a?b", "a#b", "\u0661", "x" * 201,
     True, 1.0, None, b"1001"],
)  # fmt: skip
def test_an_odd_account_id_is_refused(value: object) -> None:
    with pytest.raises(SettingsError, match="account id"):
        validate_account_id(value)


def make(**values: object) -> Connection:
    good = {"base_url": "https://api.example.com/", "account_id": 1001, "token": f" {MARKER}\n"}
    return Connection.model_validate(good | values)


def test_a_connection_keeps_everything_in_one_form_and_never_shows_its_token() -> None:
    connection = make(name="staging")
    assert connection.base_url == "https://api.example.com"
    assert connection.account_id == "1001"
    assert connection.account == "https://api.example.com account 1001"
    assert connection.token.reveal() == MARKER
    assert connection.profile == ServiceProfile()
    assert MARKER not in repr(connection) + str(connection) + connection.model_dump_json()
    assert "staging" in repr(connection) and "1001" in repr(connection)
    with pytest.raises(ValidationError):
        connection.base_url = "https://other.example"  # type: ignore[misc]


@pytest.mark.parametrize(
    "values", [{"base_url": "x"}, {"account_id": "a/b"}, {"token": f"{MARKER} {MARKER}"}]
)
def test_a_bad_value_is_one_short_error_without_the_token(values: dict[str, object]) -> None:
    with pytest.raises(SettingsError) as caught:
        make(**values)
    assert MARKER not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("base_url", "loopback"),
    [
        ("http://127.0.0.1:80", True),
        ("http://localhost", True),
        ("https://[::1]:8/x", True),
        ("https://api.example.com:443", False),
        ("https://192.0.2.7", False),
        ("https://[2001:db8::1]", False),
    ],
)
def test_a_connection_knows_whether_it_stays_on_this_machine(base_url: str, loopback: bool) -> None:
    assert make(base_url=base_url).loopback is loopback


def test_a_sandbox_in_a_process_is_one_account_and_one_in_a_file_is_it_the_next_day(
    tmp_path: Path,
) -> None:
    with chatkit.Sandbox() as a, chatkit.Sandbox() as b:
        first, second, again = (chatkit.connect(each).connection for each in (a, b, a))
        assert first.account == again.account != second.account
        assert first.passing
    accounts = set()
    for _ in range(2):
        with chatkit.Sandbox(tmp_path / "a.db") as sandbox, chatkit.connect(sandbox) as client:
            accounts.add(client.connection.account)
            assert not client.connection.passing
    assert len(accounts) == 1
