"""Connecting: what is opened, what is said, and that it can be told apart from live data."""

import pytest

import chatkit


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch, tmp_path):
    for name in ("BASE_URL", "ACCOUNT_ID", "TOKEN", "CONNECTION"):
        monkeypatch.delenv(f"CHATKIT_{name}", raising=False)
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))


def test_without_configuration_it_is_the_sandbox_each_time_anew_and_says_so(capsys):
    with chatkit.connect() as client, chatkit.connect() as second:
        assert capsys.readouterr().out.startswith("Connected to the sandbox")
        client.contacts.delete(int(client.contacts.frame().index[0]))
        assert len(second.contacts.frame()) == len(client.contacts.frame()) + 1
        assert repr(client) == "<account 1001 of the sandbox>"


def test_the_environment_opens_an_account_and_says_where_it_is(monkeypatch, capsys):
    with chatkit.Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        monkeypatch.setenv("CHATKIT_BASE_URL", base_url)
        monkeypatch.setenv("CHATKIT_ACCOUNT_ID", sandbox.account_id)
        monkeypatch.setenv("CHATKIT_TOKEN", sandbox.token)
        with chatkit.connect() as client, chatkit.connect(sandbox) as in_process:
            message = capsys.readouterr().out
            assert base_url in message and "on this machine" in message
            assert sandbox.token not in message + repr(client) + repr(vars(client))
            assert client.contacts.frame().equals(in_process.contacts.frame())


def test_half_a_configuration_and_an_unknown_connection_are_errors(monkeypatch):
    with pytest.raises(chatkit.errors.SettingsError, match="chatkit login"):
        chatkit.connect("nowhere")
    monkeypatch.setenv("CHATKIT_BASE_URL", "https://api.example")
    with pytest.raises(chatkit.errors.SettingsError, match="CHATKIT_TOKEN"):
        chatkit.connect()


@pytest.mark.parametrize("token", ["wrong", "Bearer x", ""])
def test_a_wrong_token_is_refused_without_being_shown(token):
    with chatkit.Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        with pytest.raises(
            (chatkit.errors.NotAuthenticated, chatkit.errors.SettingsError)
        ) as caught:
            chatkit.Client(base_url, sandbox.account_id, token).contacts.frame()
        if token:
            assert token not in str(caught.value).split()


def test_an_error_shows_as_its_text_alone_in_a_notebook():
    client = chatkit.connect(chatkit.Sandbox(seed="empty"))
    with pytest.raises(chatkit.errors.NotFound) as caught:
        client.contacts.get(1)
    (line,) = caught.value._render_traceback_()
    assert line.startswith("NotFound: GET contacts/1: 404")
