import json
import os
import stat
import subprocess
import sys
import traceback
from pathlib import Path

import keyring
import keyring.backends.fail
import processes
import pytest
from keyring.backend import KeyringBackend
from keyrings import FileKeyring, ForgetfulKeyring, LoudKeyring

import chatkit
from chatkit.api.connection import Connection, StoredConnection
from chatkit.errors import SettingsError
from chatkit.profile import ServiceProfile
from chatkit.settings import (
    find_keyring_fault,
    forget,
    get_config_file,
    get_token_file,
    names,
    resolve,
    save,
    stored,
)

MARKER = "tok_5f3a9c1e77"
STAGING = "https://staging.example.com"
OTHER = "https://other.example.com"


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "config" / "connections.toml"))
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    monkeypatch.setenv("MARKER_TOKEN", MARKER)
    before = keyring.get_keyring()
    keyring.set_keyring(FileKeyring())
    yield
    keyring.set_keyring(before)


def staging(**values: object) -> Connection:
    good = {"base_url": STAGING, "account_id": "1001", "token": MARKER}
    return Connection.model_validate(good | values)


def write(text: str) -> Path:
    path = get_config_file()
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def set_environment(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for key, value in values.items():
        monkeypatch.setenv(f"CHATKIT_{key.upper()}", value)


# --- which connection is meant ------------------------------------------------------


def test_nothing_named_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve() is None
    save("staging", staging())
    assert resolve() is None, "kept connections are not used unasked"
    set_environment(monkeypatch, base_url="", account_id="", token="")
    assert resolve() is None, "empty variables count as not set"


def test_arguments_are_a_connection_whatever_the_variables_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_environment(monkeypatch, base_url="x", account_id="/", token=f"{MARKER} {MARKER}")
    profile = ServiceProfile(put="replace")
    with chatkit.Client(STAGING + "/", 1001, MARKER, profile=profile) as client:
        assert client.connection == staging(profile=profile)


def test_variables_alone_are_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(monkeypatch, base_url=STAGING, account_id="1001", token=f"{MARKER}\n")
    assert resolve() == staging(name="environment")


def test_a_name_comes_before_the_variables_of_another_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save("staging", staging())
    set_environment(monkeypatch, base_url=OTHER, account_id="2002", token="other")
    assert resolve("staging") == staging(name="staging")


def test_a_token_is_never_sent_to_an_address_it_was_not_given_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(f'[staging]\nbase_url = "{STAGING}"\naccount_id = "1001"\n')
    set_environment(monkeypatch, base_url=OTHER, account_id="2002", token=MARKER)
    with pytest.raises(SettingsError, match="access token is missing") as named:
        resolve("staging")
    assert "are not used" in str(named.value)


def test_a_token_variable_serves_a_named_connection_before_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save("staging", staging(token="kept"))
    set_environment(monkeypatch, token=MARKER, account_id="2002")
    assert resolve("staging") == staging(name="staging")
    set_environment(monkeypatch, base_url=f"{STAGING}/")
    assert resolve("staging") == staging(name="staging")


def test_a_variable_names_the_default_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    save("staging", staging())
    save("production", staging(base_url=OTHER))
    set_environment(monkeypatch, connection="staging")
    assert resolve() == staging(name="staging")
    assert resolve("production") == staging(base_url=OTHER, name="production")


@pytest.mark.parametrize("passed", range(1, 7))
def test_half_a_configuration_names_what_is_missing_and_every_place_for_it(
    passed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"base_url": STAGING, "account_id": "1001", "token": MARKER}
    some = {key: value for i, (key, value) in enumerate(values.items()) if passed >> i & 1}
    set_environment(monkeypatch, **some)
    with pytest.raises(SettingsError) as caught:
        resolve()
    text = str(caught.value)
    for key in values:
        assert (f"CHATKIT_{key.upper()}" in text) is (key not in some)
    assert "chatkit login NAME" in text and "sandbox" in text
    assert MARKER not in text


def test_an_unknown_name_lists_the_known_ones_and_an_empty_one_is_no_sandbox() -> None:
    with pytest.raises(SettingsError, match="Known: none yet"):
        resolve("staging")
    save("staging", staging())
    save("production", staging())
    known = r"'stagign'\. Did you mean 'staging'\? Known: production, staging\."
    with pytest.raises(SettingsError, match=known):
        resolve("stagign")
    with pytest.raises(SettingsError, match="no connection of that name"):
        resolve("")


@pytest.mark.parametrize("token", [MARKER * 4, "d41d8cd98f00b204e980"])
def test_a_token_passed_as_a_name_is_not_repeated(token: str) -> None:
    with pytest.raises(SettingsError) as caught:
        resolve(token)
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    "values", [{"base_url": f"https://{MARKER}@x"}, {"account_id": f"{MARKER}/"},
               {"token": f"{MARKER} {MARKER}"}],
)  # fmt: skip
def test_a_bad_variable_is_refused_unseen(
    values: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_environment(monkeypatch, **values)
    with pytest.raises(SettingsError, match="In the CHATKIT_ variables") as caught:
        resolve()
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_no_traceback_of_a_notebook_shows_the_token() -> None:
    program = """
import os
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="NoColor")
shell.run_cell("import os, chatkit; token = os.environ['MARKER_TOKEN']")
for mode in ("Plain", "Context", "Verbose", "Minimal"):
    shell.InteractiveTB.set_mode(mode)
    shell.run_cell("chatkit.Client('https://shop.example.com', 1001, token + ' x')")
"""
    command = [sys.executable, "-c", program]
    done = processes.run(command, capture_output=True, text=True, timeout=60)
    output = done.stdout + done.stderr
    assert output.count("SettingsError: The access token holds a space") == 4
    assert MARKER not in output


# --- the configuration file ---------------------------------------------------------


def test_a_saved_connection_comes_back_whole_and_its_file_is_private(tmp_path: Path) -> None:
    profile = ServiceProfile(
        search_param=None, page_base=0, content_requires=("text",), rate_limit=20
    )
    save("staging", staging(profile=profile))
    assert names() == ["staging"]
    assert resolve("staging") == staging(profile=profile, name="staging")
    path = get_config_file()
    assert MARKER not in path.read_text()
    assert json.loads((tmp_path / "keyring.json").read_text()) == {"chatkit/staging": MARKER}
    assert {p.name for p in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    save("staging", staging())  # a profile that is the default again leaves the file
    assert "profile" not in path.read_text()


def test_comments_and_other_connections_stay_when_one_is_saved() -> None:
    path = write(
        "# ours\n"
        f'[staging]  # the rehearsal\nbase_url = "{STAGING}"  # mind the dot\naccount_id = 1001\n'
        "[staging.profile]\n# told by support\nsearch_param = 'q'\n"
        f'[other]\nbase_url = "{OTHER}"\naccount_id = "7"\n'
    )
    known = stored("staging")
    assert known.profile.search_param == "q" and known.account_id == "1001"
    save("staging", staging(profile=known.profile, account_id="1002"))
    text = path.read_text()
    for comment in ("# ours", "# the rehearsal", "# mind the dot", "# told by support", "[other]"):
        assert comment in text
    assert names() == ["other", "staging"]
    assert resolve("staging") == staging(profile=known.profile, account_id="1002", name="staging")


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("links need rights elsewhere")
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    get_config_file().parent.mkdir()
    get_config_file().symlink_to(real)
    save("staging", staging())
    assert get_config_file().is_symlink()
    assert real.read_text().startswith("# mine\n")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save("staging", staging())
    before = get_config_file().read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(SettingsError, match="No space left"):
        save("other", staging())
    assert get_config_file().read_bytes() == before
    sibling = {get_config_file().name, f"{get_config_file().name}.lock"}
    assert {p.name for p in get_config_file().parent.iterdir()} == sibling


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (f'[staging]\nbase_url="{STAGING}"\naccount_id=1\nacount="2"', "acount is not a known key"),
        (f'[staging]\nbase_url="{STAGING}"', "account_id is missing"),
        ('[staging]\naccount_id=1\nbase_url="staging.example.com"', "begin with https://"),
        (f'[staging]\nbase_url="{STAGING}"\naccount_id=1.5', "account id must be"),
        (f'[staging]\nbase_url="{STAGING}"\naccount_id=1\n[staging.profile]\nserch="q"',
         "profile.serch: no such setting"),
        (f'[staging]\nbase_url="{STAGING}"\naccount_id=1\n[staging.profile]\nput="q"',
         "profile.put: must be 'merge' or 'replace'"),
        (f'base_url="{STAGING}"', r"outside a table. Write \[NAME\] above it"),
        ("[staging", "cannot be read: Expected"),
        (f'[staging]\ntoken="{MARKER}"', "chatkit login"),
        (f'[other]\naccess_TOKEN="{MARKER}"', "chatkit login"),
        (f'token="{MARKER}"', "chatkit login"),
        (f'[staging]\ntoken={MARKER}', "cannot be read"),
        (f'[staging]\ntoken="{MARKER}', "cannot be read"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_the_key_and_never_a_token(text: str, advice: str) -> None:
    path = write(text)
    with pytest.raises(SettingsError, match=advice) as caught:
        resolve("staging")
    assert str(path) in str(caught.value)
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_is_not_text_is_refused() -> None:
    write("").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="cannot be read"):
        names()
    get_config_file().unlink()
    get_config_file().mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        names()


@pytest.mark.parametrize("name", ["", "a b", "a.b", "../x", "é", "x" * 31, "a\n"])
def test_an_odd_name_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="name is made of"):
        save(name, staging())
    assert names() == []


def test_the_file_lies_in_the_folder_the_system_has_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CHATKIT_CONFIG")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
        assert get_config_file() == tmp_path / "xdg" / "chatkit" / "connections.toml"
        save("staging", staging())
        assert stat.S_IMODE((tmp_path / "xdg" / "chatkit").stat().st_mode) == 0o700
    assert get_config_file().name == "connections.toml"


# --- the keyring --------------------------------------------------------------------


def test_forgetting_removes_token_and_table_with_or_without_a_keyring(tmp_path: Path) -> None:
    for name in ("staging", "other", "third"):
        save(name, staging())
    forget("staging")
    assert names() == ["other", "third"]
    assert list(json.loads((tmp_path / "keyring.json").read_text())) == [
        "chatkit/other", "chatkit/third"
    ]  # fmt: skip
    with pytest.raises(SettingsError, match="Known: other, third"):
        forget("staging")
    (tmp_path / "keyring.json").unlink()
    forget("other")
    keyring.set_keyring(keyring.backends.fail.Keyring())
    forget("third")
    assert names() == []


def test_a_named_connection_without_a_token_says_where_to_give_it() -> None:
    write(f'[staging]\nbase_url = "{STAGING}"\naccount_id = "1001"\n')
    with pytest.raises(SettingsError, match=r"set CHATKIT_TOKEN, .*chatkit login staging`"):
        resolve("staging")


def test_without_a_keyring_the_token_variable_is_named_and_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save("staging", staging())
    keyring.set_keyring(keyring.backends.fail.Keyring())
    for use in (lambda: resolve("staging"), lambda: save("staging", staging())):
        with pytest.raises(SettingsError, match=r"no keyring.*CHATKIT_TOKEN"):
            use()
    save("other", StoredConnection(base_url=STAGING, account_id="1001"), "nowhere")
    assert names() == ["other", "staging"]
    set_environment(monkeypatch, token=MARKER)
    for name in names():
        assert resolve(name) == staging(name=name)


@pytest.mark.parametrize(
    ("backend", "fault"),
    [
        (FileKeyring(), ""),
        (keyring.backends.fail.Keyring(), "This machine has no keyring."),
        (ForgetfulKeyring(), "The keyring of this machine stores nothing."),
        (LoudKeyring(), "The keyring failed (ValueError)."),
    ],
)
def test_a_keyring_is_tried_without_a_secret_and_holds_nothing_afterwards(
    backend: KeyringBackend, fault: str, tmp_path: Path
) -> None:
    keyring.set_keyring(backend)
    assert find_keyring_fault() == fault
    kept = tmp_path / "keyring.json"
    assert not kept.exists() or json.loads(kept.read_text()) == {}


# --- a token file -------------------------------------------------------------------


def test_a_token_file_serves_where_there_is_no_keyring_and_only_its_owner_reads_it() -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())
    file = get_token_file("staging")
    save("staging", staging(), file)
    assert resolve("staging") == staging(name="staging")
    assert (
        MARKER not in get_config_file().read_text() and str(file) in get_config_file().read_text()
    )
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    forget("staging")
    assert not file.exists()


def test_a_token_file_of_ones_own_stays_when_the_connection_is_forgotten(tmp_path: Path) -> None:
    save("staging", staging(), tmp_path / "mine" / "token")
    assert resolve("staging") == staging(name="staging")
    forget("staging")
    assert (tmp_path / "mine" / "token").exists()


def test_a_token_that_moves_to_the_keyring_leaves_no_file_behind() -> None:
    save("staging", staging(), get_token_file("staging"))
    save("staging", staging(token="newer"))
    assert not get_token_file("staging").exists()
    assert "token_file" not in get_config_file().read_text()
    assert resolve("staging") == staging(token="newer", name="staging")


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_token_file_that_others_can_read_is_refused(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("staging", staging(), get_token_file("staging"))
    get_token_file("staging").chmod(mode)
    with pytest.raises(SettingsError, match=rf"read by others \(mode {mode:o}\).*chmod 600"):
        resolve("staging")
    set_environment(monkeypatch, token="another")
    assert resolve("staging") == staging(token="another", name="staging")


def test_a_variable_names_a_token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save("staging", staging(token="kept"))
    file = tmp_path / "token"
    file.write_text(f"{MARKER}\n")
    file.chmod(0o600)
    set_environment(monkeypatch, token_file=str(file))
    assert resolve("staging") == staging(name="staging")
    set_environment(monkeypatch, token="variable")
    assert resolve("staging") == staging(token="variable", name="staging")
    set_environment(monkeypatch, token="", base_url=OTHER, account_id="7")
    assert resolve("staging") == staging(token="kept", name="staging")  # it is of another address
    assert resolve() == staging(base_url=OTHER, account_id="7", name="environment")


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (None, "cannot be read: No such file"),
        (b"", "holds no token. The access token is empty"),
        (f"{MARKER} {MARKER}".encode(), "holds no token. .* a space"),
        (f"{MARKER}\xff".encode("latin-1"), "holds no token"),
    ],
)
def test_a_token_file_that_holds_none_is_told_without_its_content(
    content: bytes | None, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o600)
    set_environment(monkeypatch, base_url=STAGING, account_id="1001", token_file=str(file))
    with pytest.raises(SettingsError, match=advice) as caught:
        resolve()
    assert str(file) in str(caught.value)
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_a_token_in_place_of_a_path_is_a_token_in_the_configuration_file() -> None:
    write(f'[staging]\nbase_url = "{STAGING}"\naccount_id = "1"\ntoken_file = "{MARKER}"\n')
    with pytest.raises(SettingsError, match="holds a token") as caught:
        resolve("staging")
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_a_broken_keyring_never_lets_the_token_through() -> None:
    save("staging", staging())
    keyring.set_keyring(LoudKeyring())
    for use in (
        lambda: resolve("staging"),
        lambda: save("new", staging()),
        lambda: forget("staging"),
    ):
        with pytest.raises(SettingsError, match="The keyring failed") as caught:
            use()
        error = caught.value
        assert MARKER not in "".join(traceback.format_exception(error))
        assert error.__context__ is None and error.__cause__ is None


def test_a_keyring_that_keeps_nothing_is_noticed() -> None:
    keyring.set_keyring(ForgetfulKeyring())
    with pytest.raises(SettingsError, match="did not keep"):
        save("staging", staging())
    assert names() == []


def test_the_keyring_is_loaded_only_when_it_is_asked() -> None:
    code = (
        "import sys; from chatkit.settings import resolve; resolve();"
        "print([m for m in ('keyring', 'tomlkit', 'httpx', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
