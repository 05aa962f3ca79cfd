"""Changes: made here, and of the very shapes that the upstream platform documents."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatkit.sandbox import events
from chatkit.sandbox.events import MEDIA, STATUSES, Person

ADA = Person("12125550142", "Zoë <b>Park</b>")


def output(kind: str, content: dict[str, Any], reply_to: str | None = None) -> dict[str, Any]:
    made = events.make_message(kind, "wamid.1", 1767600000, content, reply_to)
    return events.make_inbound(ADA, made)


MADE = {
    "text": output("text", events.make_text("Hello")),
    "reply": output("text", events.make_text("Hello"), "wamid.0"),
    "reaction": output("reaction", events.make_reaction("wamid.0", "👍")),
    "reaction taken back": output("reaction", events.make_reaction("wamid.0", "")),
    "flow answer": output("interactive", events.make_flow_answer({"day": "1"}, "t"), "wamid.0"),
    **{
        kind: output("audio" if kind == "voice" else kind, events.make_media(kind, "77", "Look"))
        for kind in MEDIA
    },
    **{
        name: events.make_status_change(ADA, "wamid.1", name, 1, None, "service")
        for name in STATUSES
    },
    "failed": events.make_status_change(ADA, "wamid.1", "failed", 1, 131026, "marketing"),
    "outbound": events.make_outbound(
        ADA, events.make_message("text", "wamid.1", 1, events.make_text("Hi"))
    ),
    "template approved": events.make_template_status(7001, "hello", "en", "APPROVED", "NONE", 1),
    "template edited": events.make_template_edit(
        7001, "hello", "en", {"text": "Hello", "footer": "Bye"}, 1
    ),
    "flow made": events.make_flow_status("8140", "Order", None, "DRAFT", 1),
    "flow published": events.make_flow_status("8140", "Order", "DRAFT", "PUBLISHED", 1),
}


def places(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every place of a body with the type of what is there; items of lists share one."""
    yield (
        place,
        {bool: "flag", int: "number", float: "number"}.get(type(value), type(value).__name__),
    )
    inner: Any = {}
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = (("*", item) for item in value)
    for name, item in inner:
        yield from places(item, f"{place}/{name}")


def about(body: dict[str, Any]) -> str:
    """Return the field of a body, in which its places are compared."""
    return str(body["entry"][0]["changes"][0]["field"])


@pytest.fixture(scope="module")
def documented(shared: Path) -> dict[str, set[tuple[str, str]]]:
    result: dict[str, set[tuple[str, str]]] = {}
    for path in sorted(shared.glob("samples/webhooks/*.json")):
        body = json.loads(path.read_bytes())
        for entry in body.get("entry", ()):
            for change in entry["changes"]:
                one = {**body, "entry": [{**entry, "changes": [change]}]}
                result.setdefault(str(change.get("field")), set()).update(places(one, ""))
    return result


@pytest.mark.parametrize("name", MADE, ids=str)
def test_a_change_has_only_places_that_upstream_documents_with_their_types(
    name: str, documented: dict[str, set[tuple[str, str]]]
) -> None:
    body = MADE[name]
    undocumented = set(places(body, "")) - documented[about(body)]
    assert not undocumented


@pytest.mark.parametrize("name", MADE, ids=str)
def test_a_change_is_json_and_no_copy_of_a_sample(name: str, shared: Path) -> None:
    text = json.dumps(MADE[name], allow_nan=False)
    assert json.loads(text) == MADE[name]
    for path in shared.glob("samples/webhooks/*.json"):
        assert json.loads(path.read_bytes()) != MADE[name]


def test_names_of_strangers_are_kept_as_they_are() -> None:
    contact = MADE["text"]["entry"][0]["changes"][0]["value"]["contacts"][0]
    assert contact == {"profile": {"name": "Zoë <b>Park</b>"}, "wa_id": "12125550142"}


def test_the_answer_of_a_flow_is_json_inside_a_text() -> None:
    content = events.make_flow_answer({"name": "Zoë", "n": 2}, "token-1")
    answer = json.loads(content["nfm_reply"]["response_json"])
    assert answer == {"name": "Zoë", "n": 2, "flow_token": "token-1"}


def test_a_failed_status_tells_the_error_and_no_price() -> None:
    (report,) = MADE["failed"]["entry"][0]["changes"][0]["value"]["statuses"]
    assert report["errors"][0]["code"] == 131026
    assert "pricing" not in report


def test_a_caption_stands_only_where_upstream_has_one() -> None:
    captions = {kind: "caption" in events.make_media(kind, "1", "Look") for kind in MEDIA}
    assert [kind for kind, has in captions.items() if has] == ["image", "video", "document"]
    assert "caption" not in events.make_media("image", "1", None)
