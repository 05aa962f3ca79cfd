"""Hostile input over HTTP: every JSONTestSuite body and every naughty string, never a 5xx."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest


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

    def create(self, path: str, body: object) -> dict[str, Any] | None:
        """Create a record and return `data`; None if it was refused with a reason."""
        status, answer = self.json("POST", path, body)
        if status == 201:
            return dict(answer["data"])
        assert 400 <= status < 500 and answer["message"], (body, answer)
        return None

    def data(self, path: str) -> Any:
        return self.json("GET", path)[1]["data"]

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def wire(fresh: Any) -> Iterator[Wire]:
    wire = Wire(fresh)
    yield wire
    wire.close()


@pytest.fixture
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


def test_every_naughty_contact_name_is_kept_and_matched_by_a_search(
    wire: Wire, naughty: list[str]
) -> None:
    for at, name in enumerate(naughty):
        body = {"number": f"555{at:07}", "country_code": "+1", "name": name}
        created = wire.create("/contacts", body)
        assert created, name
        record = wire.data(f"/contacts/{created['id']}")
        parts = [record[part] for part in ("first_name", "middle_name", "last_name")]
        assert " ".join(part for part in parts if part is not None) == name
        if 0 < len(name) < 10_000:
            answer = wire.json("GET", f"/contacts?search={quote(name, safe='')}")[1]
            assert answer["pagination"]["totalCount"] >= 1, name


def test_every_naughty_text_of_a_flow_and_of_a_content_is_kept(
    wire: Wire, naughty: list[str]
) -> None:
    for at, text in enumerate(naughty):
        document = {"version": "7.0", "screens": [], "note": text, text: text}
        flow = {"name": text, "template_name": text, "flow_json": document}
        content = {"lang_code": "en", "text": text, "footer": text, "variables": {"1": text}}
        path = f"/templates/code{at}/contents"
        for resource, sent in (("/flows", flow), (path, content)):
            created = wire.create(resource, sent)
            assert created, text
            key = created["id"] if resource == "/flows" else "en"
            record = wire.data(f"{resource}/{key}")
            assert {field: record[field] for field in sent} == sent


def test_every_naughty_template_code_keeps_its_contents_or_is_refused(
    wire: Wire, naughty: list[str]
) -> None:
    accepted = 0
    for code in naughty:
        path = f"/templates/{quote(code, safe='')}/contents"
        if len(code) < 10_000 and wire.create(path, {"lang_code": "en", "text": "hello"}):
            accepted += 1
            assert [item["text"] for item in wire.data(path)] == ["hello"], code
    assert accepted > 300
