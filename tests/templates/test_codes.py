"""Tests of template codes: passed, read from a file, or remembered."""

import os
import stat

import pandas as pd
import pytest
from keyrings import FileKeyring
from localization.contents import cases

import chatkit
from chatkit import settings
from chatkit.api.connection import Connection
from chatkit.errors import InputError
from chatkit.localization.files import read_units
from chatkit.templates.codes import RememberedCodes, list_unit_codes, template_codes

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


@pytest.fixture
def demo():
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


def connection(**values):
    known = {"base_url": STAGING, "account_id": "1001", "token": "tok_0", "name": "staging"}
    return Connection(**known | values)


# --- arguments --------------------------------------------------------------------------


def test_each_code_counts_once_in_their_order_and_a_text_is_one():
    for codes in (["b", "a", "b"], (code for code in ("b", "a")), pd.Series(["b", "a"])):
        assert template_codes(codes) == ["b", "a"]
    assert template_codes("order_ready") == ["order_ready"]


WAYS = r'(?s)no list of them.*templates.frame\(\["order_ready".*\.txt.*templates.remember\(codes\)'


@pytest.mark.parametrize("codes", [[], (), {}, iter(()), 7, None, b"order_ready"])
def test_without_codes_the_three_ways_are_named(codes):
    with pytest.raises(InputError, match=WAYS) as caught:
        template_codes(codes)
    texts = "Template codes are texts" in str(caught.value)
    assert texts == (not hasattr(codes, "__iter__") or isinstance(codes, bytes))


def test_all_that_cannot_be_a_code_is_named_at_once():
    with pytest.raises(InputError) as caught:
        template_codes(["fine", 7, "..", "", "a\u202eb", None])
    assert len(caught.value.problems) == 5
    assert "\u202e" not in str(caught.value)


NO_CODES = {
    "": "is empty", ".": "would change the path", "..": "would change the path",
    "a\u202eb": "invisible", " ": "is only spaces", "order_ready ": "ends with a space",
    7: "must be text", None: "must be text",
}  # fmt: skip


def test_what_cannot_be_a_template_code_is_neither_opened_nor_planned_nor_remembered(demo):
    for code, reason in NO_CODES.items():
        with pytest.raises(InputError, match=f"cannot be template codes:\n.*{reason}"):
            demo.templates(code)
        with pytest.raises(InputError, match=reason):
            demo.templates.remember([code])
        if code and isinstance(code, str):
            rows = [{"template_code": each, "lang_code": "en"} for each in ("order_ready", code)]
            with pytest.raises(InputError):
                demo.templates.plan(pd.DataFrame(rows).assign(text="Hi"))
    with pytest.raises(InputError, match="Template codes are texts"):
        demo.templates.remember(7)


@pytest.mark.parametrize("code", [" ", " en", "en ", "..", "", "de\u200b", "x" * 513])
def test_what_cannot_be_a_language_code_is_refused_before_it_is_sent(demo, code):
    contents = demo.templates("order_ready")
    with pytest.raises(InputError, match="lang_code"):
        contents.create(lang_code=code, text="Hi")
    with pytest.raises(InputError, match="key = "):
        contents.get(code)
    plan = contents.plan(pd.DataFrame({"lang_code": [code], "text": ["Hi"]}))
    assert (len(plan.refused), plan.counts["create"]) == (1, 0)


# --- files ------------------------------------------------------------------------------


def test_a_text_file_has_one_a_line_and_a_table_is_refused(tmp_path):
    path = tmp_path / "codes.txt"
    path.write_bytes(b"\xef\xbb\xbforder_ready\r\n\r\n# later: spring\r\n  welcome \r\n")
    assert template_codes(path) == template_codes(str(path)) == ["order_ready", "welcome"]
    path.write_text("\n")
    with pytest.raises(InputError, match="Which templates"):
        template_codes(path)
    with pytest.raises(FileNotFoundError):
        template_codes("no such file.txt")
    for name in ("codes.CSV", "codes.tsv", "codes.xlsx"):
        for table in (tmp_path / name, str(tmp_path / name)):
            with pytest.raises(InputError, match=rf"{name} is a table: put its codes into a \.txt"):
                template_codes(table)


# --- remembered -------------------------------------------------------------------------


def test_a_named_connection_keeps_them_in_its_table_and_nothing_else_moves(file, monkeypatch):
    message = RememberedCodes(connection()).save_codes(["order_ready", "welcome"])
    assert message == "The connection staging remembers 2 template codes, for every client of it."
    kept = 'account_id = "1001"\ntemplates = ["order_ready", "welcome"]\n'
    assert file.read_text() == FILE.replace('account_id = "1001"\n', kept)
    assert settings.stored("other").templates == ()
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("CHATKIT_TOKEN", "tok_0")
    with chatkit.connect("staging") as client:
        assert client.templates.codes == ("order_ready", "welcome")


def test_those_before_are_replaced_and_none_forgets_them(file):
    RememberedCodes(connection()).save_codes([f"template_{n}" for n in range(30)])
    assert len(file.read_text().splitlines()) > 40  # one a line: a person edits it
    RememberedCodes(connection()).save_codes(["welcome"])
    assert settings.stored("staging").templates == ("welcome",)
    RememberedCodes(connection()).save_codes([])
    assert file.read_text() == FILE


@cases("other", "reason")
def test_others_are_remembered_while_the_client_lasts_and_it_says_so(file, other, reason):
    remembered = RememberedCodes(connection(**other))
    message = remembered.save_codes(["welcome"])
    assert message.startswith("This client remembers 1 template code until the kernel ends: ")
    assert reason in message
    assert remembered.codes == ("welcome",)
    assert file.read_text() == FILE


def test_a_connection_kept_again_for_another_account_forgets_them(file, monkeypatch):
    keyring = FileKeyring()
    monkeypatch.setenv("KEYRING_FILE", str(file.with_name("keyring.json")))
    monkeypatch.setattr(settings, "use_keyring", lambda question: question(keyring))
    RememberedCodes(connection()).save_codes(["welcome"])
    settings.save("staging", connection())
    assert settings.stored("staging").templates == ("welcome",)
    settings.save("staging", connection(account_id="2"))
    assert settings.stored("staging").templates == ()


# --- of translations --------------------------------------------------------------------


def test_files_of_translations_name_their_templates(demo, tmp_path):
    path, codes = tmp_path / "texts.csv", ["order_ready", "spring_offer"]
    demo.templates.export(path, codes, only="all")
    assert list_unit_codes(read_units(path)) == codes
    path.write_text(path.read_text("utf-8").replace("spring_offer", ".."), "utf-8")
    assert list_unit_codes(read_units(path)) == ["order_ready"]
