"""Hostile input over HTTP: every JSONTestSuite body and every naughty string, never a 5xx."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

Calls = Any


class Wire:
    """One kept-alive connection for many calls; the server may close it at any time."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._connection = http.client.HTTPConnection("127.0.0.1", channel.port, timeout=20)

    def send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        headers = {**self._channel.headers(), "Content-Type": "application/json"}
        self._connection.request(method, self._channel.root + path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def json(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        status, read = self.send(method, path, None if body is None else json.dumps(body).encode())
        return status, json.loads(read)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def wire(fresh: Any) -> Iterator[Wire]:
    wire = Wire(fresh)
    yield wire
    wire.close()


def naughty(shared: Path) -> list[str]:
    strings = json.loads((shared / "corpora/blns/blns.json").read_text(encoding="utf-8"))
    assert len(strings) > 500
    return [*strings, "\x00", "a\x00b", "\ufeff", "e\u0301", "\u202e", "\U0010ffff", "x" * 70_000]


@pytest.mark.parametrize("resource", ["contacts", "flows", "webhooks", "templates/a/contents"])
def test_every_json_body_is_read_or_refused_with_400(
    wire: Wire, shared: Path, resource: str
) -> None:
    bodies = sorted((shared / "corpora/jsontestsuite").glob("*.json"))
    assert len(bodies) > 300
    wrong = []
    for path in bodies:
        status, read = wire.send("POST", f"/{resource}", path.read_bytes())
        text = path.read_bytes().strip()
        if path.name.startswith("n_"):
            good = status == 400
        elif path.name.startswith("y_") and text.startswith(b"{"):
            good = status in (201, 400, 422)
        else:
            good = 400 <= status < 500
        if not good or json.loads(read)["success"] is not (status == 201):
            wrong.append((path.name, status))
    assert wrong == []


def refused_with_a_reason(status: int, answer: Any) -> bool:
    return 400 <= status < 500 and bool(answer["message"])


def test_every_naughty_contact_name_comes_back_equal_or_is_refused(
    wire: Wire, shared: Path
) -> None:
    taken = 0
    for number, name in enumerate(naughty(shared)):
        sent = {"number": f"555{number:07}", "country_code": "+1", "name": name}
        status, answer = wire.json("POST", "/contacts", sent)
        if status != 201:
            assert refused_with_a_reason(status, answer), (name, answer)
            continue
        taken += 1
        record = wire.json("GET", f"/contacts/{answer['data']['id']}")[1]["data"]
        parts = [record[part] for part in ("first_name", "middle_name", "last_name")]
        # The name is split at white space and nothing else of it changes.
        assert " ".join(filter(None, parts)).split() == name.split(), (name, record)
    assert taken > 500


def test_every_naughty_flow_name_comes_back_equal_or_is_refused(wire: Wire, shared: Path) -> None:
    taken = 0
    for name in naughty(shared):
        document = {"version": "7.0", "screens": [], "note": name, name: name}
        sent = {"name": name, "template_name": "default", "flow_json": document}
        status, answer = wire.json("POST", "/flows", sent)
        if status != 201:
            assert refused_with_a_reason(status, answer), (name, answer)
            continue
        taken += 1
        record = wire.json("GET", f"/flows/{answer['data']['id']}")[1]["data"]
        assert (record["name"], record["flow_json"]) == (name, document)
    assert taken > 450


def test_every_naughty_template_text_comes_back_equal_or_is_refused(
    wire: Wire, shared: Path
) -> None:
    taken = 0
    for number, text in enumerate(naughty(shared)):
        sent = {"lang_code": "en", "text": text, "footer": text}
        status, answer = wire.json("POST", f"/templates/code{number}/contents", sent)
        if status not in (200, 201):
            assert refused_with_a_reason(status, answer), (text, answer)
            continue
        taken += 1
        record = wire.json("GET", f"/templates/code{number}/contents/en")[1]["data"]
        assert (record["text"], record["footer"]) == (text, text)
    assert taken > 400


def test_every_naughty_search_term_finds_what_holds_it_or_is_refused(
    wire: Wire, shared: Path
) -> None:
    for number, term in enumerate(naughty(shared)):
        if len(term) > 10_000:
            continue
        body = {"number": f"555{number:07}", "country_code": "+1", "name": f"x{term}y"}
        created = wire.json("POST", "/contacts", body)[0] == 201
        status, answer = wire.json("GET", f"/contacts?search={quote(term, safe='')}&pageSize=100")
        if status != 200:
            assert refused_with_a_reason(status, answer), (term, answer)
        elif created and term == term.strip() and " " not in term and term.isprintable():
            assert answer["pagination"]["totalCount"] >= 1, term


def test_every_naughty_template_code_keeps_its_contents_or_is_refused(
    wire: Wire, shared: Path
) -> None:
    taken = 0
    for code in naughty(shared):
        if len(code) > 10_000:
            continue
        path = f"/templates/{quote(code, safe='')}/contents"
        status, answer = wire.json("POST", path, {"lang_code": "en", "text": "hello"})
        if status not in (200, 201):
            assert refused_with_a_reason(status, answer), (code, answer)
            continue
        taken += 1
        listed = wire.json("GET", path)[1]["data"]
        assert [item["text"] for item in listed] == ["hello"], code
    assert taken > 300


@pytest.mark.parametrize(
    "raw", ["%", "%zz", "%C3%28", "%ED%A0%80", "%00", "..", ".", "%2e%2e", "%2F"]
)
@pytest.mark.parametrize("path", ["/templates/{}/contents", "/contacts/{}", "/contacts?search={}"])
def test_odd_paths_and_queries_are_answered(wire: Wire, path: str, raw: str) -> None:
    status, _ = wire.json("GET", path.format(raw))
    assert 200 <= status < 500
