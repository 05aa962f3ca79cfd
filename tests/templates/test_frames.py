"""The contents of many templates, read at once into one frame."""

import json
import warnings
from collections import Counter

import pytest
from bulk.planning import account, call
from internals import quirks_of
from profiled import client, sandbox

import chatkit
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.secret import Secret
from chatkit.api.transport import Transport
from chatkit.errors import BadAnswer
from chatkit.util import progress

__all__ = ["client", "sandbox"]

TEXTS = {
    "welcome": {"en": "Hello {{1}}!", "ar": "مرحبا {{1}}!"},
    "order_ready": {"de": "Fertig", "en": "Ready", "ja": "できました"},
    "login_code": {"en": "Your code: {{1}}."},
}
CODES = [*TEXTS]


def fill(client):
    for code, texts in TEXTS.items():
        for lang, text in texts.items():
            client.templates(code).create(
                lang_code=lang, text=text, variables={"1": "Ana"}, is_draft=lang == "ar"
            )


class Service:
    """A service that answers as it is told to, and counts what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = Counter()

    def __call__(self, method, target, headers, body):
        path = target.partition("/templates/")[2]
        self.asked[path] += 1
        status, data = self.answer(path)
        shell = {"success": status < 400, "message": "ok", "data": data}
        return status, {"content-type": "application/json"}, json.dumps(shell).encode()


def templates(answer):
    from chatkit.templates import Templates

    service = Service(answer)
    connection = Connection(base_url="http://localhost", account_id="1", token=Secret("tok_0"))
    return Templates(Transport(connection, handler=service)), service


def row(lang="en", **fields):
    return {"id": 1, "lang_code": lang, "text": "Hi", "is_draft": False, **fields}


# --- as it should be --------------------------------------------------------------------


def test_all_are_in_one_frame_in_the_order_of_the_codes(client):
    fill(client)
    codes = CODES[::-1]
    frame = client.templates.frame(codes)
    assert frame.index.names == ["template_code", "lang_code"]
    assert list(dict.fromkeys(frame.index.get_level_values(0))) == codes
    assert dict(frame.text.items()) == {
        (code, lang): text for code in codes for lang, text in TEXTS[code].items()
    }
    for code in codes:
        one = client.templates(code).frame()
        assert frame.loc[code].to_dict() == one.to_dict()
        assert list(frame.loc[code].index) == list(one.index)
    assert (str(frame.text.dtype), str(frame.is_draft.dtype)) == ("str", "boolean")
    full = client.templates.frame(codes, full=True)
    assert full.text.equals(frame.text)
    assert full.variables.tolist() == [{"1": "Ana"}] * 6
    live = client.templates("order_ready").get("ja")
    assert full.loc[("order_ready", "ja"), "parameter_format"] == live.parameter_format


def test_codes_that_are_not_there_are_named_all_at_once(sandbox, client):
    for code in ("welcome", "order_ready"):
        client.templates(code).create(lang_code="en", text="Hi", is_draft=False)
    expected = ["welcome", "wellcome", "order_ready", "order_redy"]
    if "unknown_template_404" in quirks_of(sandbox):
        with pytest.raises(chatkit.errors.NotFound) as caught:
            client.templates.frame(expected)
        with pytest.raises(chatkit.errors.NotFound, match="did you mean order_ready"):
            client.templates.export("texts.csv", "order_redy")
        message = "GET templates/order_redy/contents: the service does not know these codes: wellc"
        message += "ome (did you mean welcome?), order_redy (did you mean order_ready?). A code may"
        assert message in str(caught.value)
    else:
        with pytest.warns(UserWarning, match=r"no content for wellcome \(did you mean"):
            frame = client.templates.frame(expected)
        assert set(frame.index.get_level_values(0)) == {"welcome", "order_ready"}
        with pytest.raises(chatkit.errors.NotFound, match="did you mean order_ready"):
            client.templates.export("texts.csv", "order_redy")


def test_templates_without_contents_make_an_empty_frame_that_can_be_planned():
    with account() as (_, client):
        with pytest.warns(UserWarning, match="There is no content for a, b:"):
            frame = client.templates.frame(["a", "b"], full=True)
        assert frame.index.names == ["template_code", "lang_code"]
        assert not len(client.templates.plan(frame))


# --- concurrent, and bounded ------------------------------------------------------------


def test_one_call_reads_each_list_and_one_more_each_content_and_both_are_counted(
    monkeypatch, capfd
):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    read, service = templates(
        lambda path: (200, [row("en"), row("de")] if path.endswith("contents") else row(path[-2:]))
    )
    codes = [f"t{n}" for n in range(50)]
    read.frame(codes)
    assert service.asked == {f"{code}/contents": 1 for code in codes}
    service.asked.clear()
    with pytest.warns(UserWarning, match="sent no parameter_format, variables"):
        assert len(read.frame(codes, full=True)) == 100
    assert (set(service.asked.values()), len(service.asked)) == ({1}, 150)
    view = capfd.readouterr().err
    assert ("50/50" in view, "100/100" in view) == (True, True)
    assert "templates/s]" in view or "s/ templates" in view


def test_answers_that_come_back_in_any_order_stay_with_their_template():
    import random
    import time

    rng = random.Random(7)

    def answer(path):
        time.sleep(rng.random() / 200)
        return 200, [row("en", text=path.partition("/")[0])]

    read, _ = templates(answer)
    codes = [f"t{n}" for n in range(60)]
    rng.shuffle(codes)
    frame = read.frame(codes)
    assert frame.text.tolist() == frame.index.get_level_values(0).tolist() == codes


def test_an_error_that_is_no_404_ends_the_reading():
    read, service = templates(lambda path: (403, None) if path == "t1/contents" else (200, [row()]))
    with pytest.raises(chatkit.errors.NotPermitted):
        read.frame([f"t{n}" for n in range(500)])
    assert sum(service.asked.values()) < 100


# --- what is not as documented ----------------------------------------------------------


LISTS = {"t0": [row("en"), row("de")], "t1": [row("en"), row("de", text=7)], "t2": [row("en")]}
FIRST = "(row 0 is the first of t0)"


@pytest.mark.parametrize(
    "wrong", [[row(text=7)], [{"id": 1}], {"not": "a list"}, [7], [row(is_draft="yes")]]
)
def test_a_list_that_is_not_as_documented_is_named(wrong):
    read, _ = templates(lambda path: (200, wrong if path == "t2/contents" else LISTS["t0"]))
    with pytest.raises(BadAnswer, match="GET templates/t2/contents: the list is not as"):
        read.frame([f"t{n}" for n in range(5)])


@pytest.mark.parametrize(
    ("codes", "counted"), [(["t0", "t1", "t2"], FIRST), (["t0", "t1"], FIRST), (["t1"], "")]
)
def test_the_row_that_is_not_as_documented_is_counted_from_the_first_template(codes, counted):
    read, _ = templates(lambda path: (200, LISTS[path[:2]]))
    with pytest.raises(BadAnswer, match="GET templates/t1/contents: the list is not as") as caught:
        read.frame(codes)
    assert ("row 0 is the first" in str(caught.value)) is bool(counted)
    assert counted in str(caught.value)


def test_a_content_that_is_not_as_documented_is_named():
    def answer(path):
        footer = [7] if path == "t1/contents/en" else "Bye"
        return 200, LISTS["t0"] if path.endswith("contents") else row(path[-2:], footer=footer)

    read, _ = templates(answer)
    with pytest.raises(BadAnswer, match="GET templates/t1/contents/en: the content is not as"):
        read.frame(["t0", "t1"], full=True)


def test_a_language_that_comes_twice_is_told_and_kept_once():
    read, _ = templates(lambda path: (200, [row("en", text="old"), row("en", text="new")]))
    with pytest.warns(chatkit.errors.ListMoved, match="2 rows came twice"):
        frame = read.frame(["a", "b"])
    assert frame.text.tolist() == ["new", "new"]


def test_a_content_that_goes_while_all_are_read_is_told():
    def answer(path):
        if path.endswith("contents"):
            return 200, [row("en"), row("de")]
        return (404, None) if path == "b/contents/de" else (200, row(path[-2:]))

    read, _ = templates(answer)
    with pytest.warns() as caught:
        frame = read.frame(["a", "b"], full=True)
    [moved] = [str(each.message) for each in caught if each.category is chatkit.errors.ListMoved]
    assert "The list of contents changed while it was read: 1 of 4 were gone when each" in moved
    assert list(frame.index) == [("a", "en"), ("a", "de"), ("b", "en")]


def test_a_field_that_no_content_has_is_told_and_one_that_is_not_documented_is_kept():
    read, _ = templates(lambda path: (200, [{"id": 1, "lang_code": "en", "text": "Hi"}]))
    with pytest.warns(UserWarning, match="sent no is_draft for its contents"):
        assert read.frame(["a"]).is_draft.isna().all()
    read, _ = templates(lambda path: (200, [row(mood="good")] if path == "b/contents" else [row()]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read.frame(["a", "b"]).mood.tolist() == [None, "good"]


def test_what_others_made_is_read_too():
    with account() as (sandbox, client):
        call(sandbox, "POST", "templates/a%20b/contents", lang_code="en", text="Hi")
        frame = client.templates.frame(["a b"])
        assert "<templates of the account: " in repr(client.templates)
    assert list(frame.index) == [("a b", "en")]
    assert Call("GET", ("templates", "a b", "contents")).target == "templates/a%20b/contents"
