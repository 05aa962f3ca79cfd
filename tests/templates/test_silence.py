"""Tests of silenced findings and of glossaries wherever contents are checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from localization.contents import cases

import chatkit
from chatkit.errors import InputError
from chatkit.imports.characters import check_text
from chatkit.localization.checks import CHARACTERS, RULES

CODE, OTHER = "order_ready", "rental_reminder"


@pytest.fixture
def client() -> Iterator[Any]:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as made:
        yield made


def report(client: Any, code: str) -> dict[str, bool]:
    """Return the checks that report a finding of the German content."""
    templates = client.templates
    frame = templates.frame([CODE], full=True)
    frame.loc[(CODE, "de"), "footer"] = "Larkspur"
    form = chatkit.widgets.ContentForm(templates(CODE), "de")
    queue = templates.queue(["de"], [CODE], only=["unknown", "live"])
    [text] = [number for number, item in enumerate(queue.items) if item.unit.field == "text"]
    result = {
        "check": templates.check([CODE]),
        "check of one template": templates(CODE).check(),
        "board": templates.board([CODE]).audit,
        "queue": queue.findings(text),
        "form": form.audit,
    }
    plans = {
        "plan": templates.plan(frame),
        "plan of one template": templates(CODE).plan(frame.loc[CODE]),
    }
    return {name: any(each.code == code for each in all_) for name, all_ in result.items()} | {
        name: any(code in note for note in plan.notes) for name, plan in plans.items()
    }


@pytest.fixture
def spaced(client: Any) -> Any:
    """A client whose German content has doubled spaces."""
    content = client.templates(CODE)
    content.update("de", text=content.get("de").text.replace("dein", "dein "))
    return client


def test_what_is_silenced_is_told_by_nobody(spaced: Any) -> None:
    assert all(report(spaced, "doubled spaces").values())
    spaced.templates.silence("doubled spaces")
    assert not any(report(spaced, "doubled spaces").values())


def test_the_glossary_of_the_client_counts_for_all(client: Any) -> None:
    assert not any(report(client, "glossary").values())
    client.templates.glossary = [{"language": "de", "never": "Tourenrad|repariert"}]
    assert all(report(client, "glossary").values())
    client.templates.silence("glossary", "de", CODE, "text")
    assert not any(report(client, "glossary").values())


def test_what_cannot_be_read_stops_no_check_and_no_plan(
    spaced: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    spaced.templates.silence("doubled spaces")
    path = spaced.templates.ledger.path
    path.write_text(f"{path.read_text(encoding='utf-8')}garbled\n", encoding="utf-8")
    assert spaced.templates.check([CODE]).of(code="doubled spaces")
    assert "so all findings are listed" in capsys.readouterr().out


def test_a_draft_that_holds_other_words_is_not_published_because_that_is_silenced(
    client: Any,
) -> None:
    content = client.templates(OTHER)
    client.templates.accept("ar", [OTHER])
    content.update("ar", text=content.get("en").text)
    client.templates.silence("untranslated")
    plan = client.templates.publish("ar", [OTHER])
    assert plan.counts["update"] == 0
    assert any("hold the words of the source" in note for note in plan.notes)


# --- what is silenced --------------------------------------------------------------------


def test_what_is_silenced_is_shown_and_taken_back(client: Any) -> None:
    assert len(client.templates.silence()) == 0
    client.templates.silence("quotes", ["pt-BR", "de"])
    client.templates.silence("doubled spaces", "de", CODE, "text")
    output = client.templates.silence()
    columns = ["code", "lang_code", "template_code", "field"]
    assert output[columns].to_numpy().tolist() == [
        ["doubled spaces", "de", CODE, "text"],
        ["quotes", "de", "", ""],
        ["quotes", "pt_BR", "", ""],
    ]
    assert output["at"].str.fullmatch(r"20\d\d-\d\d-\d\dT.*\+00:00").all()
    for row in output[columns].itertuples(index=False):
        left = client.templates.silence(*row, off=True)
    assert len(left) == 0
    client.templates.silence("same as source")
    assert "client.templates.silence() lists what is silenced" in " ".join(
        repr(client.templates.check([CODE])).split()
    )


def test_all_that_is_told_of_characters_can_be_silenced(client: Any) -> None:
    unusual = ["\u200bé\x07\u202eраypal\ue000", "Жизньlife", "cafe\u0301", "\ufffd", "Ã¤"]
    result = {one.code: one.severity for text in unusual for one in check_text(text)}
    assert {code for code, severity in result.items() if severity != "error"} == {*CHARACTERS}
    assert not {*CHARACTERS} & RULES.keys()
    client.templates.silence("invisible")
    assert client.templates.silence()["code"].tolist() == ["invisible"]


def test_a_warning_is_silenced_for_one_text_or_a_language_or_everywhere(client: Any) -> None:
    def places() -> set[tuple[str, str]]:
        audit = client.templates.check([CODE, OTHER]).of(code="same as source")
        return {(each.template_code, each.lang_code) for each in audit if each.field == "footer"}

    def silence(*args: Any, **options: Any) -> set[tuple[str, str]]:
        client.templates.silence("same as source", *args, **options)
        return places()

    everywhere = places()
    german, french = ({(CODE, lang), (OTHER, lang)} for lang in ("de", "fr"))
    assert german | french < everywhere
    assert silence("de", CODE, "footer") == everywhere - {(CODE, "de")}
    assert silence(["de", "fr"]) == everywhere - german - french
    assert silence(field="footer") == set()
    count = len(client.templates.check([CODE]).silent)
    assert f"{count} findings are silenced: same as source." in repr(client.templates.check([CODE]))
    assert silence("fr", off=True) == french, "a language counts over all"
    assert (
        silence(template_code=CODE, off=True)
        == {place for place in everywhere | french if place[0] == CODE and place[1] != "de"}
        | french
    ), "a record for a template counts over one for all"
    assert (CODE, "de") in silence("de", CODE, "footer", off=True), "the text counts over all"


@cases("arguments", "reason")
def test_what_cannot_be_silenced_is_told(
    client: Any, arguments: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        client.templates.silence(**arguments)
