"""Headers, buttons and samples are filled in by their type, in an order that counts."""

from __future__ import annotations

import pytest
from widgets.screen import classes, find, is_seen, kind, parts, press, type_into

from chatkit.templates import Button, Header
from chatkit.widgets.fieldset import Bodies, Samples

QUICK = {"type": "custom", "label": "Yes"}
SITE = {"type": "visit_website", "label": "See", "value": "https://a.example/{{1}}"}
CALL = {"type": "call_phone", "label": "Call", "value": "2025550142", "country_code": "+1"}


def buttons(*items):
    made = Bodies("buttons", Button, most=10)
    made.show(list(items))
    return made


def seen(made, row):
    """The names of the inputs that are shown in a row."""
    return [one.label for one in line(made, row).children[:-1] if is_seen(one)]


def tools(made, row):
    return list(line(made, row).children[-1].children)


def line(made, row):
    """The nth header or button."""
    return [one for one in parts(made) if "chatkit-row" in classes(one)][row]


def test_what_was_shown_is_read_again():
    unusual = {**SITE, "dynamic_url": {"x": 1}, "url_type": "dynamic"}
    none = {**QUICK, "value": None}
    assert buttons(QUICK, CALL, unusual, none).read() == [QUICK, CALL, unusual, none]
    header = Bodies("headers", Header, most=1)
    header.show([{"type": "text", "text": "Hi {{1}}", "text_variable": 7}])
    assert header.read() == [{"type": "text", "text": "Hi {{1}}", "text_variable": 7}]


def test_a_row_shows_what_its_type_uses():
    output = buttons(QUICK, CALL, SITE)
    assert seen(output, 0) == ["type", "label"]
    assert seen(output, 1) == ["type", "label", "value", "country_code"]
    assert seen(output, 2) == ["type", "label", "value", "url_type", "dynamic_url"]
    type_into(output, "value", "https://a.example/", 2)
    assert seen(output, 2) == ["type", "label", "value", "url_type"]


def test_nothing_that_is_filled_in_is_hidden():
    output = buttons({**QUICK, "value": "x"})
    assert seen(output, 0) == ["type", "label", "value"]


def test_buttons_change_places_and_tell_once():
    output, heard = buttons(QUICK, CALL, SITE), []
    output.entered = lambda: heard.append(output.read())
    press(output, "Move down", 0)
    assert output.read() == [CALL, QUICK, SITE]
    press(output, "Move up", 2)
    assert output.read() == [CALL, SITE, QUICK]
    assert heard == [[CALL, QUICK, SITE], [CALL, SITE, QUICK]]


def test_the_first_cannot_go_up_nor_the_last_down():
    output = buttons(QUICK, CALL)
    assert [tool.label for tool in tools(output, 1)] == ["Move up", "Move down", "Remove button 2"]
    press(output, "Move up", 0)
    press(output, "Move down", 1)
    assert output.read() == [QUICK, CALL]
    press(output, "Remove button 1")
    assert output.read() == [CALL]
    assert [tool.disabled for tool in tools(output, 0)] == [True, True, False]


def test_a_new_one_has_a_type():
    output = buttons()
    press(output, "Add button")
    assert output.read() == [{"type": "custom"}]
    header = Bodies("headers", Header, most=1)
    press(header, "Add header")
    assert header.read() == [{"type": "text"}]


def test_there_are_no_more_than_allowed():
    header = Bodies("headers", Header, most=1)
    header.show([{"type": "image"}])
    assert not is_seen(find(header, "Add header"))
    assert [one.label for one in tools(header, 0) if is_seen(one)] == ["Remove header 1"]
    press(header, "Remove header 1")
    assert is_seen(find(header, "Add header"))
    assert header.read() == []


def test_a_type_that_the_service_knows_and_we_do_not_is_kept():
    assert buttons({"type": "flow", "label": "Go"}).read() == [{"type": "flow", "label": "Go"}]


def test_nobody_types_in_what_is_locked():
    output = buttons(QUICK, CALL)
    output.lock(locked=True)
    assert find(output, "Add button").disabled
    assert all(tool.disabled for tool in tools(output, 0))
    assert find(output, "label").disabled
    output.lock(locked=False)
    assert [tool.disabled for tool in tools(output, 0)] == [True, False, False]
    assert not find(output, "label").disabled


# --- samples --------------------------------------------------------------------------------


def lines(samples):
    texts = [one for one in parts(samples) if kind(one) == "text"]
    return {one.label: one.value for one in texts}


def test_each_placeholder_has_a_line_for_its_sample():
    samples = Samples("variables")
    samples.show({"2": "b", "1": "a"})
    samples.show_lines(["1", "2", "10", "3"])
    assert list(lines(samples)) == ["{{1}}", "{{2}}", "{{3}}", "{{10}}"]
    assert samples.read() == {"1": "a", "2": "b"}
    type_into(samples, "{{3}}", "c")
    assert samples.read() == {"1": "a", "2": "b", "3": "c"}


def test_a_sample_stays_until_it_is_emptied():
    samples, heard = Samples("variables"), []
    samples.entered = lambda: heard.append(samples.read())
    samples.show({"1": "a"})
    samples.show_lines([])
    assert lines(samples) == {"{{1}}": "a"}
    type_into(samples, "{{1}}", "")
    assert samples.read() == {}
    assert heard[-1] == {}


def test_lines_that_nobody_asks_for_any_more_go_away():
    samples = Samples("variables")
    samples.show_lines(["1", "2"])
    samples.show_lines(["1"])
    assert list(lines(samples)) == ["{{1}}"]
    samples.show({"1": "x"})
    assert lines(samples) == {"{{1}}": "x"}


@pytest.mark.parametrize("value", [[], {"1": 7}, {1: "a"}, 7])
def test_samples_of_another_kind_are_refused(value):
    samples = Samples("variables")
    if value:
        with pytest.raises(TypeError):
            samples.show(value)
    else:
        samples.show(value)
        assert samples.read() == {}


def test_samples_can_be_locked():
    samples = Samples("variables")
    samples.show_lines(["1"])
    samples.lock(locked=True)
    assert find(samples, "{{1}}").disabled
