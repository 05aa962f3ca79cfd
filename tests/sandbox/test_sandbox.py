"""The sandbox as a whole: the same at every run, and begun again."""

import pytest
from caller import Caller
from internals import middleware_of, service_of
from listening import listening

from chatkit.sandbox import Sandbox


def history(sandbox):
    """Write to a sandbox; return its answers and deliveries afterwards, and its tokens."""
    call = Caller(sandbox)
    with listening() as listener:
        sandbox.allow("https://hooks.example/", to=listener.url)
        call.contact(name="Ana Ruiz")
        call("DELETE", f"/contacts/{call.contact('2025550144')}")
        call.webhook()
        for write in (call.flow, call.content):  # the clock ticks with each delivery, too
            write()
            assert sandbox.settle()
        sandbox.play("conversation", lines=["> Hello", "< Hi!", "> +👍"], seed=3)
        sandbox.deliver("any", {"n": 1})
    paths = ("/contacts", "/contacts/50001", "/flows/301", "/webhooks")
    answers = [call("GET", path).body for path in (*paths, "/templates/greeting/contents")]
    return answers, listener.bodies, sandbox.token, sandbox.admin_token


def test_a_seeded_sandbox_is_the_same_to_the_byte_at_every_run_and_after_a_reset():
    with Sandbox(seed="empty") as one, Sandbox(seed="empty") as another:
        before = history(one)
        assert before == history(another)
        viewer = one.make_token("Chat Contacts, View")
        one.reset()
        call = Caller(one)
        assert call("GET", "/contacts", token=viewer).data == [], "tokens stay"
        assert call("GET", "/contacts?search=ana").data == []
        assert history(one) == before
        assert not any(token in show(one) for token in (one.token, one.admin_token))


def show(sandbox):
    parts = (sandbox, service_of(sandbox), middleware_of(sandbox))
    return str(sandbox) + "".join(map(repr, parts))


def test_without_a_seed_or_in_a_file_secrets_differ(tmp_path):
    file = Sandbox(tmp_path / "a", seed="empty")
    with Sandbox() as one, file as another, Sandbox(seed="empty") as seeded:
        assert another.token != seeded.token
        assert one.token != another.token
        assert one.admin_token != another.admin_token
        first, second = (Caller(s).webhook().data["webhook_secret"] for s in (one, another))
        assert first != second


def test_a_payload_that_is_no_json_is_not_delivered():
    with Sandbox(seed="empty") as sandbox:
        Caller(sandbox).webhook()
        for payload in ({"n": float("nan")}, {"o": object()}, {"s": "\ud800"}):
            with pytest.raises((TypeError, ValueError)):
                sandbox.deliver("any", payload)
        assert middleware_of(sandbox).service.queue.count() == 0


def test_faults_are_set_in_python_and_ended():
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        sandbox.faults(server_errors={"before": 1}, seed=3)
        assert call("GET", "/contacts").status in (500, 502, 503, 504)
        assert middleware_of(sandbox).faults.get_settings() == {"5xx": {"before": 1}, "seed": 3}
        with pytest.raises(ValueError, match="429 must be a number from 0 to 1"):
            sandbox.faults(rate_limited=2)
        with pytest.raises(ConnectionError):
            sandbox.faults(dropped=1)
            call("GET", "/contacts")
        sandbox.faults(rate_limited=1, retry_after=90)
        reply = call("GET", "/contacts")
        assert (reply.status, reply.headers["retry-after"]) == (429, "90")
        sandbox.faults()
        assert call("GET", "/contacts").status == 200


def test_an_unknown_quirk_is_refused():
    with pytest.raises(ValueError, match="no such quirk: no_boddy; there are: constant_updated_at"):
        Sandbox(quirks={"no_boddy"})
