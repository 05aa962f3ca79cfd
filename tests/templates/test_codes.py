"""Tests of template codes: passed, read from a file, or remembered."""

import os
import stat

import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings as trials
from hypothesis import strategies as st
from localization.contents import naughty

import chatkit
from chatkit import settings
from chatkit.api.connection import Connection
from chatkit.errors import InputError, SettingsError
from chatkit.localization.files import read_units
from chatkit.templates.codes import RememberedCodes, template_codes, unit_codes

STAGING = "https://staging.example.com"
FILE = """# mine
[staging]
base_url = "https://staging.example.com"
account_id = "1001"

[staging.profile]
search_param = "q"

[other]  # another account
base_url = "https://other.example.com"
account_id = "7"
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A configuration file with two connections."""
    path = tmp_path / "connections.toml"
    monkeypatch.setenv("CHATKIT_CONFIG", str(path))
    path.write_text(FILE)
    return path


def connection(**values):
    return Connection(
        **{"base_url": STAGING, "account_id": "1001", "token": "tok_0", "name": "staging"} | values
    )


# --- given ------------------------------------------------------------------------------


def test_each_code_counts_once_in_the_order_given():
    assert template_codes(["b", "a", "b"]) == ["b", "a"]
    assert template_codes(code for code in ("b", "a")) == ["b", "a"]


def test_one_text_is_one_code():
    assert template_codes("order_ready") == ["order_ready"]


@pytest.mark.parametrize("codes", [[], (), {}, iter(())])
def test_without_codes_the_three_ways_are_said(codes):
    with pytest.raises(InputError) as caught:
        template_codes(codes)
    message = str(caught.value)
    assert "no list of them" in message
    assert 'templates.frame(["order_ready", "welcome"])' in message
    assert ".txt" in message
    assert "templates.remember(codes)" in message


@pytest.mark.parametrize("codes", [7, None, b"order_ready"])
def test_what_are_no_codes_at_all_is_refused(codes):
    with pytest.raises(InputError, match="Template codes are texts"):
        template_codes(codes)


def test_all_that_can_be_no_code_is_named_at_once():
    with pytest.raises(InputError) as caught:
        template_codes(["fine", 7, "..", "", "a\u202eb", None])
    assert len(caught.value.problems) == 5
    assert "\u202e" not in str(caught.value)


def test_naughty_codes_are_refused_or_go_into_an_address_whole(shared):
    for text in naughty(shared):
        try:
            assert template_codes([text]) == [text]
        except InputError as error:
            assert error.problems
            assert len(str(error)) < 500


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "is empty"), (".", "would change the path"), ("..", "would change the path"),
        ("a\u202eb", "invisible"), (" ", "is only spaces"), ("order_ready ", "ends with a space"),
        (7, "must be text"), (None, "must be text"),
    ],
)  # fmt: skip
def test_what_can_be_no_template_code_is_refused_when_it_is_opened(code, why):
    with (
        chatkit.connect(chatkit.Sandbox(seed="empty")) as client,
        pytest.raises(chatkit.errors.InputError, match=f"cannot be template codes:\n.*{why}"),
    ):
        client.templates(code)


@pytest.mark.parametrize("code", [" ", " en", "en ", "..", ""])
def test_what_can_be_no_language_code_is_refused_before_it_is_sent(code):
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        contents = client.templates("order_ready")
        with pytest.raises(InputError, match="lang_code"):
            contents.create(lang_code=code, text="Hi")
        with pytest.raises(InputError, match="key = "):
            contents.get(code)
        plan = contents.plan(pd.DataFrame({"lang_code": [code], "text": ["Hi"]}))
        assert (len(plan.refused), plan.counts["create"]) == (1, 0)


@pytest.mark.parametrize("code", [" ", "order_ready ", ".."])
def test_a_row_of_a_code_that_can_be_none_is_not_planned(code):
    rows = pd.DataFrame({"template_code": ["order_ready", code], "lang_code": ["en", "en"]})
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client, pytest.raises(InputError):
        client.templates.plan(rows.assign(text="Hi"))


# --- files ------------------------------------------------------------------------------


def test_a_text_file_has_one_a_line(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_bytes(b"\xef\xbb\xbforder_ready\r\n\r\n# later: spring\r\n  welcome \r\n")
    assert template_codes(path) == template_codes(str(path)) == ["order_ready", "welcome"]


@pytest.mark.parametrize("name", ["codes.CSV", "codes.tsv", "codes.xlsx"])
def test_a_table_is_refused_with_what_to_pass(tmp_path, name):
    for path in (tmp_path / name, str(tmp_path / name)):
        with pytest.raises(InputError, match=rf"{name} is a table: put its codes into a \.txt"):
            template_codes(path)
    assert template_codes(pd.Series(["welcome", "order_ready"])) == ["welcome", "order_ready"]


def test_an_empty_file_names_no_templates(tmp_path):
    (tmp_path / "codes.txt").write_text("\n")
    with pytest.raises(InputError, match="Which templates"):
        template_codes(tmp_path / "codes.txt")


def test_a_file_that_is_not_there_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError):
        template_codes("no such file.txt")


@trials(max_examples=30)
@drawn(st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True), min_size=1, unique=True))
def test_codes_come_out_of_a_file_as_they_were_written(tmp_path_factory, codes):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_text("\n".join(codes))
    assert template_codes(path) == codes


# --- remembered -------------------------------------------------------------------------


def test_a_named_connection_keeps_them_in_its_table_and_nothing_else_moves(file):
    message = RememberedCodes(connection()).keep(["order_ready", "welcome"])
    assert message == "The connection staging remembers 2 template codes, for every client of it."
    kept = 'account_id = "1001"\ntemplates = ["order_ready", "welcome"]\n'
    assert file.read_text() == FILE.replace('account_id = "1001"\n', kept)
    assert settings.read_stored("staging").templates == ("order_ready", "welcome")
    assert settings.read_stored("other").templates == ()
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_client_of_the_name_finds_them_again(file, monkeypatch):
    RememberedCodes(connection()).keep(["order_ready"])
    monkeypatch.setenv("CHATKIT_TOKEN", "tok_0")
    with chatkit.connect("staging") as client:
        assert client.templates.codes == ("order_ready",)


def test_those_before_are_replaced_and_none_forgets_them(file):
    RememberedCodes(connection()).keep([f"template_{n}" for n in range(30)])
    assert len(file.read_text().splitlines()) > 40  # one a line: a person edits it
    RememberedCodes(connection()).keep(["welcome"])
    assert settings.read_stored("staging").templates == ("welcome",)
    RememberedCodes(connection()).keep([])
    assert file.read_text() == FILE


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"name": None}, "has no name"),
        ({"name": "environment"}, "has no name"),
        ({"name": "the sandbox", "sandbox": "1", "base_url": "http://localhost"}, "sandbox"),
        ({"name": "staging", "account_id": "2"}, "has no name"),
    ],
)
def test_others_are_remembered_while_the_client_lasts_and_it_says_so(file, other, why):
    remembered = RememberedCodes(connection(**other))
    message = remembered.keep(["welcome"])
    assert message.startswith("This client remembers 1 template code until the kernel ends: ")
    assert why in message
    assert remembered.codes == ("welcome",)
    assert file.read_text() == FILE


def test_a_connection_kept_again_for_another_account_forgets_them(file, monkeypatch):
    class Keyring(dict):
        def set_password(self, service, name, token):
            self[name] = token

        def get_password(self, service, name):
            return self.get(name)

    keyring = Keyring()
    monkeypatch.setattr(settings, "use_keyring", lambda question: question(keyring))
    RememberedCodes(connection()).keep(["welcome"])
    settings.save_connection("staging", connection())
    assert settings.read_stored("staging").templates == ("welcome",)
    settings.save_connection("staging", connection(account_id="2"))
    assert settings.read_stored("staging").templates == ()


def test_codes_in_the_file_that_are_none_are_told(file):
    for wrong in ('templates = "welcome"', "templates = [7]", 'templates = [""]'):
        file.write_text(FILE.replace('account_id = "1001"', f'account_id = "1001"\n{wrong}'))
        with pytest.raises(SettingsError, match="templates"):
            settings.read_stored("staging")


# --- of translations --------------------------------------------------------------------


def test_files_of_translations_name_their_templates(tmp_path):
    path, codes = tmp_path / "texts.csv", ["order_ready", "spring_offer"]
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.export(path, codes, only="all")
    assert unit_codes(read_units(path)) == codes
    path.write_text(path.read_text("utf-8").replace("spring_offer", ".."), "utf-8")
    assert unit_codes(read_units(path)) == ["order_ready"]
