"""A delivery that was made a test is a test that passes, and that can fail."""

import tempfile
from pathlib import Path

import pytest
from inbox.bodies import delivery, message
from widgets.inbox.stored import EVIL, written

from chatkit.profile import ServiceProfile
from chatkit.widgets.tail import as_test_case as copied


def run(source: str) -> None:
    names: dict = {}
    exec(compile(source, "copied", "exec"), names)
    read, received = (value for name, value in names.items() if name.startswith("test_delivery_"))
    read()
    with tempfile.TemporaryDirectory() as folder:
        received(Path(folder))


@pytest.mark.parametrize(
    "body", [written(message(1)), written(message(1, text={"body": EVIL})), b'\xff"\\', b"", b"[]"]
)
def test_it_runs_as_it_is(body: bytes) -> None:
    run(copied(delivery(body, kind=EVIL, verified=False, reason='it\'s "so"'), ServiceProfile()))


def test_it_keeps_what_the_profile_says() -> None:
    profile = ServiceProfile(event_data_field="payload")
    body = written(message(1)).replace(b'"data"', b'"payload"')
    source = copied(delivery(body), profile)
    assert "event_data_field='payload'" in source and "'words 1'" in source
    run(source)


def test_it_keeps_neither_the_signature_nor_what_may_be_secret() -> None:
    headers = (
        ("Content-Type", "application/json"),
        ("Webhook-Signature", "v1,c2lnbmF0dXJl"),
        ("X-Api-Key", "hunter2"),
    )
    source = copied(
        delivery(written(message(1)), headers=headers, path="/hook/tok123?key=hunter3"),
        ServiceProfile(),
    )
    assert "('Content-Type', 'application/json')" in source
    assert not [one for one in ("c2ln", "hunter", "tok123") if one in source]
    run(source)


def test_it_fails_when_the_body_is_read_otherwise() -> None:
    source = copied(delivery(written(message(1))), ServiceProfile())
    with pytest.raises(AssertionError):
        run(source.replace("'words 1'", "'words 2'"))


def test_what_is_too_large_for_a_test_is_none() -> None:
    assert copied(delivery(b" " * 50_001), ServiceProfile()) == ""


def test_lines_stay_readable() -> None:
    body = written(*(message(n) for n in range(30)))
    lines = copied(delivery(body), ServiceProfile()).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum("'message', 'text'" in line for line in lines) == 20
    run("\n".join(lines))
