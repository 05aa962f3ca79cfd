"""The contents of one template, under every profile."""

import pytest
from bulk.planning import content, log
from localization.contents import cases
from profiled import client, sandbox, scripted  # noqa: F401

import chatkit
from chatkit.bulk.plan import get_refused_cells

ENGLISH = {
    "lang_code": "en",
    "text": "Hello {{1}}, your order {{2}} is ready.",
    "variables": {"1": "Ana", "2": "A-17"},
    "footer": "Thank you",
    "is_draft": True,
    "headers": [{"type": "text", "text": "Ready"}],
    "buttons": [
        {"type": "visit_website", "label": "Track", "value": "https://shop.example/t"},
        {"type": "call_phone", "label": "Call", "value": "2025550143", "country_code": "+1"},
    ],
}


@pytest.fixture
def contents(client):
    return client.templates("order_ready")


def test_contents_are_created_listed_updated_and_deleted(contents):
    content = contents.create(**ENGLISH)
    assert content == contents.get("en")
    for field in ("lang_code", "text", "variables", "footer", "is_draft"):
        assert getattr(content, field) == ENGLISH[field]
    assert [h["text"] for h in content.headers] == ["Ready"]
    assert [b["label"] for b in content.buttons] == ["Track", "Call"]
    contents.create(lang_code="ar", text="مرحبا", is_draft=False)
    frame = contents.frame()
    assert list(frame.index) == ["en", "ar"]
    assert (str(frame.text.dtype), str(frame.is_draft.dtype)) == ("str", "boolean")
    assert frame.loc["ar", "text"] == "مرحبا"
    assert contents.frame(full=True).loc["en", "variables"] == ENGLISH["variables"]
    assert contents.languages().loc["en", "label"] == "English"
    after = contents.update("en", text="Hello {{1}}: {{2}}!")
    assert after.text == "Hello {{1}}: {{2}}!"
    changed = {"text", "updated_at"}
    assert after.model_dump(exclude=changed) == content.model_dump(exclude=changed)
    contents.delete("en")
    assert list(contents.frame().index) == ["ar"]
    with pytest.raises(chatkit.errors.NotFound):
        contents.get("en")


@cases("change", "field")
def test_what_cannot_be_sent_is_refused_with_its_field(contents, change, field):
    with pytest.raises(chatkit.errors.InputError) as caught:
        contents.create(**{**ENGLISH, **change})
    assert field in {p.field for p in caught.value.problems}


# --- held against the rules ----------------------------------------------------------------

# What the rules say is the same under every profile; that it is asked is seen in the first.
BROKEN = "Hello {{name}}, your order is ready for you today."


def test_what_the_document_does_not_know_is_not_sent_unless_one_says_so(contents):
    with pytest.raises(chatkit.errors.InputError, match="broken=True") as caught:
        contents.create(**{**ENGLISH, "text": BROKEN})
    [problem] = caught.value.problems
    assert problem.field == "text"
    assert problem.reason.startswith("placeholder name: ")
    contents.create(**ENGLISH)
    with pytest.raises(chatkit.errors.InputError, match="broken=True"):
        contents.update("en", text=BROKEN)
    assert contents.get("en").text == ENGLISH["text"]
    with pytest.warns(UserWarning, match="has 1 error"):
        contents.update("en", text=BROKEN, broken=True)
    assert contents.get("en").text == BROKEN


@pytest.fixture
def order_ready():
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        client.templates("order_ready").create(**ENGLISH)
        yield client.templates("order_ready")


@pytest.mark.parametrize("many", [False, True])
def test_a_list_that_does_not_show_what_is_wrong_gets_no_content_live(many):
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        content(sandbox, **ENGLISH)
        content(sandbox, **{**ENGLISH, "lang_code": "de", "variables": {"1": "Ana"}})
        one = client.templates("order_ready")
        plan = client.templates.plan if many else one.plan

        def listed():
            return client.templates.frame(["order_ready"]) if many else one.frame()

        edited = listed().assign(is_draft=False)
        refused = plan(edited)
        assert [(change.key, change.kind) for change in refused.changes] == [("en", "update")]
        [cell] = get_refused_cells(refused)
        assert cell.column == "variables" and "sample missing" in cell.reason
        assert not get_refused_cells(plan(edited, broken=True))
        plan(edited, skip_invalid=True).apply()
        assert one.frame().is_draft.to_dict() == {"en": False, "de": True}

        live = listed().iloc[:1]
        [cell] = get_refused_cells(plan(live.assign(text=live.text + " Ask {{3}} about it.")))
        assert "{{3}} has no sample" in cell.reason


def test_only_what_will_be_live_is_read_in_full_for_a_plan():
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        for lang, draft in {"en": True, "de": True, "es": False}.items():
            content(sandbox, **{**ENGLISH, "lang_code": lang, "is_draft": draft})
        contents = client.templates("order_ready")
        frame, whole = contents.frame(), contents.frame(full=True)
        before = len(log(sandbox))
        assert len(contents.plan(frame.assign(text=frame.text + " Thank you.")).changes) == 3
        assert log(sandbox)[before:] == [("GET", "templates/order_ready/contents/es")]
        assert len(contents.plan(whole.assign(is_draft=False)).changes) == 2
        assert len(log(sandbox)) == before + 1


# --- what becomes of a refusal --------------------------------------------------------------

LANGUAGES = "client.templates('order_ready').languages() lists the codes."
HYPHEN = "Write 'pt_BR': the API writes an underscore. "
BAD_LANGUAGE = {"message": "no", "errors": [{"field": "lang_code", "message": "unknown"}]}
BAD_TEXT = {"message": "no", "errors": [{"field": "text", "message": "too long"}]}


@pytest.mark.parametrize(
    ("present", "lang", "advice"),
    [
        (["en", "pt_BR"], "pt-BR", f"{HYPHEN}order_ready has contents in en, pt_BR."),
        (["en"], "fr", "order_ready has contents in en."),
        ([], "fr", "order_ready has no content; its code may be misspelt."),
        (None, "pt-BR", f"{HYPHEN}order_ready has no content; its code may be misspelt."),
    ],
)
def test_a_language_that_is_not_there_is_told_with_those_that_are(present, lang, advice):
    def script(method, path, body):
        if path == "templates/order_ready/contents" and present is not None:
            return 200, [{"lang_code": each} for each in present]
        return 404, {"message": "no"}

    contents = scripted(script).templates("order_ready")
    for call in (contents.get, contents.delete):
        with pytest.raises(chatkit.errors.NotFound) as caught:
            call(lang)
        assert str(caught.value).splitlines()[1:] == [advice]


EXISTS = "It exists: client.templates('order_ready').update('{}', …) changes it."


@cases("status", "report", "lang", "advice")
def test_a_create_that_is_refused_says_what_can_be_done_about_it(status, report, lang, advice):
    contents = scripted(lambda *_: (status, report)).templates("order_ready")
    with pytest.raises(chatkit.errors.Refused) as caught:
        contents.create(**{**ENGLISH, "lang_code": lang})
    lines = str(caught.value).splitlines()
    assert (advice in lines) if advice else not [n for n in lines if "Write" in n or "()" in n]


# --- what is read and what is not -----------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "methods"),
    [
        ({"footer": "Bye"}, ["GET", "PUT", "GET"]),  # what it is part of is checked with it
        ({"footer": "Bye", "is_draft": False}, ["GET", "PUT", "GET"]),
        ({"footer": "Bye", "is_draft": True}, ["PUT", "GET"]),  # no draft is refused for that
    ],
)
def test_an_update_reads_first_what_may_go_live_with_it(fields, methods):
    asked = []

    def script(method, path, body):
        asked.append(method)
        return 200, ENGLISH

    scripted(script).templates("order_ready").update("en", **fields)
    assert asked == methods


@pytest.mark.parametrize("unknown", [(), ("unknown_template_404",)])
def test_a_template_that_nobody_knows_gets_its_first_content_by_a_plan(unknown):
    with (
        chatkit.Sandbox(seed="empty", quirks=unknown) as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        plan = client.templates("new_one").plan([ENGLISH])
        assert plan.counts == {"create": 1, "update": 0, "delete": 0}
        assert plan.apply()["state"].tolist() == ["applied"]
        assert not client.templates("new_one").plan([ENGLISH]).changes


def test_a_code_without_contents_is_told_with_one_that_is_written_like_it(order_ready):
    client = scripted(lambda *_: (200, []))
    client.templates("order_ready")
    with pytest.warns(UserWarning, match="order_redy has no content; did you mean order_ready"):
        assert client.templates("order_redy").frame().empty
    assert client.templates("order_redy").frame(search="x").empty  # nothing of its kind: no news
    assert client.templates("welcome").frame().empty
