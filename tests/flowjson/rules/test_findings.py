"""What the lint says of broken documents, word for word and with what it would do: findings.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flowjson.base import DONE, GO, OPTIONS, PICTURE, UNUSED, drop, flow, footer, put, screen
from flowjson.faults import (
    ALONE,
    AREA,
    BOXES,
    CALENDAR,
    CAROUSEL,
    CHIPS,
    DAY,
    DROPDOWN,
    FAULTS,
    FILES,
    FORM,
    IF,
    IMAGE,
    INPUT,
    ITEM,
    LINK,
    LIST,
    OPT_IN,
    PHOTO,
    RADIO,
    RANGE,
    RICH,
    SWITCH,
    TEXT,
)

from chatkit.flowjson.lint import lint
from chatkit.report import Finding

TAP = "/screens/0/layout/children/{}/on-click-action"
TEXTS = {
    "text": {"type": "string", "__example__": "a"},
    "flag": {"type": "boolean", "__example__": True},
}
TWO_DAYS = {"min-date": "2026-05-01", "max-date": "2026-05-09"}


def named(component: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """So many components that differ in their names."""
    return [component | {"name": f"n{n}"} for n in range(count)]


def options(count: int, **more: Any) -> list[dict[str, Any]]:
    """So many options."""
    return [{"id": str(n), "title": "x"} | more for n in range(count)]


def nested(depth: int) -> dict[str, Any]:
    """So many If, each in the one before."""
    inner = IF
    for _ in range(depth - 1):
        inner = IF | {"then": [TEXT, inner]}
    return inner


def chained(*names: str, ways: Any = None, **more: Any) -> dict[str, Any]:
    """Screens of which each navigates to the next; the last ends the flow."""
    screens = []
    for name, following in zip(names, [*names[1:], ""], strict=True):
        act = GO | {"next": {"type": "screen", "name": following}} if following else DONE
        screens.append(screen(name, footer(act), **({} if following else {"terminal": True})))
    served = {} if ways is None else {"data_api_version": "3.0", "routing_model": ways}
    return {"version": "7.3", "screens": screens} | served | more


def going(*targets: str, version: str = "7.3") -> dict[str, Any]:
    """A first screen with a link to each of these, which are screens that end the flow."""
    links = [LINK | {"on-click-action": GO | {"next": {"type": "screen", "name": name}}}
             for name in targets]  # fmt: skip
    ends = [screen(name, footer(), terminal=True) for name in targets]
    return {"version": version, "screens": [screen("FIRST", *links), *ends]}


def handing(payload: Any, data: Any, *more: Any, version: str = "7.3") -> dict[str, Any]:
    """A flow whose first screen hands a payload to the second, which declares this data."""
    document = flow(INPUT, *more, data=TEXTS, version=version)
    place = TAP.format(1 + len(more))
    return put(put(document, f"{place}/payload", payload), "/screens/1/data", data)


def ending(payload: Any, *components: Any, version: str = "7.3") -> dict[str, Any]:
    """A flow of one screen that sends a payload at the end."""
    last = screen(
        "ONLY", *components, footer(DONE | {"payload": payload}), terminal=True, data=TEXTS
    )
    return {"version": version, "screens": [last]}


#: Documents beside those of `FAULTS`: bounds, what is only doubted, and several faults of a kind.
CASES: dict[str, Any] = {
    "a version nobody announced": put(flow(), "/version", "7.4"),
    "a version that is not published any more": flow(version="5.0"),
    "a document that is null": "null",
    "a document that is text": '"text"',
    "a document that is a number": "5",
    "things that are no screens": put(flow(), "/screens", [5, None, [], *flow()["screens"]]),
    "things that are no components": flow("x", 5, TEXT, None),
    "an id of digits": put(flow(), "/screens/1/id", "12"),
    "an id of words": put(flow(), "/screens/1/id", "my last 1"),
    "an id that begins with a digit": put(flow(), "/screens/1/id", "1st"),
    "a long id": put(flow(), "/screens/1/id", f"{'a' * 70}1"),
    "an id with a comma": chained("A,B", "LAST"),
    "an id with a comma in 6.3": chained("A,B", "LAST", version="6.3"),
    "an id of underscores": chained("__", "LAST"),
    "an id three times": chained("A", "A", "A"),
    "two ends that fail": put(
        put(going("A", "B"), "/screens/1/success", False), "/screens/2/success", False
    ),
    "one end of two that fails": put(going("A", "B"), "/screens/1/success", False),
    "two ends without Footer": {
        "version": "7.3",
        "screens": [screen(n, TEXT, terminal=True) for n in "AB"],
    },
    "a layout that is null": put(flow(), "/screens/0/layout", None),
    "a layout that is a number": put(flow(), "/screens/0/layout", 5),
    "an end whose layout has no list": put(flow(), "/screens/1/layout/children", "x"),
    "a layout with more": put(flow(), "/screens/0/layout/gap", 1),
    "no layout in 5.1": drop(flow(version="5.1"), "/screens/0/layout"),
    "no layout in 6.0": drop(flow(version="6.0"), "/screens/0/layout"),
    "an end without layout in 5.1": drop(flow(version="5.1"), "/screens/1/layout"),
    "success that is false too early": put(flow(), "/screens/0/success", False),
    "sensitive strangers": put(
        flow(INPUT | {"name": "first_name"}),
        "/screens/0/sensitive",
        ["first_name", 5, "frist_name", "zzz"],
    ),
    "types that are none": flow(
        {"text": "x"}, {"type": None}, {"type": "TextBdy"}, {"type": "Strange"}, TEXT | {"x": 1}
    ),
    "components of later versions": flow(CHIPS, CAROUSEL | {"x": 1}, RICH, version="5.1"),
    "chips before they were documented": flow(CHIPS | {"x": 1}, version="6.2"),
    "keys of other versions": flow(
        INPUT | {"label-variant": "large"}, BOXES | {"media-size": "large"}, version="4.0"
    ),
    "a key beside the one that is meant": flow(
        INPUT | {"lable": "B"}, INPUT | {"name": "b", "lable": "B"}
    ),
    "texts that are long": flow(
        INPUT | {"label": "x" * 20},
        INPUT | {"name": "b", "label": "x" * 21},
        TEXT | {"text": "x" * 4096},
        TEXT | {"text": "x" * 4097},
    ),
    "texts that are long and bound": flow(
        INPUT | {"label": f"${{data.text}} {'x' * 30}"}, data=TEXTS
    ),
    "lines that are long": flow(TEXT | {"text": ["x", "y" * 4097, 5, "z" * 4097]}),
    "blank where it may be": flow(
        INPUT | {"label": " ", "helper-text": ""}, TEXT | {"text": " "}, version="5.1"
    ),
    "numbers at their bounds": flow(
        INPUT | {"min-chars": 0, "max-chars": 0}, PHOTO | {"name": "b", "max-uploaded-photos": 30}
    ),
    "numbers in words": flow(
        INPUT | {"min-chars": "2", "max-chars": "${data.text}x"},
        BOXES | {"name": "b", "required": "no"},
    ),
    "halves": flow(INPUT | {"min-chars": 1.5}, BOXES | {"name": "b", "min-selected-items": 2.0}),
    "values of a later version": flow(
        TEXT | {"text": ["a"]}, INPUT | {"visible": "`true`"}, version="4.0"
    ),
    "choices": flow(
        INPUT | {"input-type": "emial"},
        INPUT | {"name": "b", "input-type": "${data.text}"},
        TEXT | {"font-weight": "x" * 50},
        IMAGE | {"scale-type": "`1`"},
        data=TEXTS,
    ),
    "choices in backticks of 5.1": flow(
        IMAGE | {"scale-type": "`1`"},
        IMAGE | {"scale-type": "${data.text}"},
        version="5.1",
        data=TEXTS,
    ),
    "kinds of files": flow(FILES | {"allowed-mime-types": [5, "image/jpg", "application/pdf"]}),
    "pictures": flow(
        IMAGE | {"src": ""},
        IMAGE | {"src": "a.png"},
        IMAGE | {"src": "my picture!"},
        IMAGE | {"src": "${data.text}"},
        data=TEXTS,
    ),
    "pictures of 5.1": flow(IMAGE | {"src": " "}, IMAGE | {"src": "a.png"}, version="5.1"),
    "large pictures": flow(IMAGE | {"src": "A" * 409_600}, IMAGE | {"src": "A" * 413_700}),
    "patterns": flow(
        *(
            INPUT | {"name": n, "pattern": p, "helper-text": "x"}
            for n, p in (("a", "[a"), ("b", "a{2,1}"), ("c", "(?<x>a)"), ("d", "a"), ("e", "a\\"))
        )
    ),
    "patterns and keyboards": flow(
        *(
            INPUT | {"name": f"n{n}", "pattern": "a", **more}
            for n, more in enumerate(
                [
                    {},
                    {"input-type": "email"},
                    {"input-type": "number"},
                    {"input-type": "${data.text}", "helper-text": "x"},
                    {"input-type": 5},
                ]
            )
        ),
        data=TEXTS,
    ),
    "patterns and keyboards in 6.1": flow(
        INPUT | {"pattern": "a", "input-type": "email"}, version="6.1"
    ),
    "days": flow(
        DAY
        | TWO_DAYS
        | {
            "init-value": "2026-05-01",
            "unavailable-dates": ["2026-04-30", "x", "2026-05-09", "2026-05-10"],
        }
    ),
    "a first day after the last": flow(DAY | TWO_DAYS | {"init-value": "2026-05-10"}),
    "days of which one bound is known": flow(
        DAY | {"min-date": "2026-05-01", "init-value": "2026-04-30"},
        DAY | {"name": "b", "max-date": "2026-05-01", "init-value": "2026-05-02"},
    ),
    "a range of one day": flow(
        DAY | {"min-date": "2026-05-01", "max-date": "2026-05-01", "init-value": "2026-05-01"}
    ),
    "a range upside down with a first day": flow(
        DAY | {"min-date": "2026-05-09", "max-date": "2026-05-01", "init-value": "2026-06-01"}
    ),
    "days in milliseconds": flow(
        DAY
        | {
            "min-date": "1694779200000",
            "max-date": "2026-05-01",
            "unavailable-dates": ["soon", "1"],
        },
        version="4.0",
    ),
    "days that do not exist": flow(
        DAY | {"min-date": "2026-02-30", "max-date": "${data.text}"}, data=TEXTS
    ),
    "stays": flow(
        *(
            RANGE | {"name": f"n{n}", **more}
            for n, more in enumerate(
                [
                    {"min-days": 3, "max-days": 3},
                    {"min-days": 4, "max-days": 3},
                    {"min-days": "${data.text}", "max-days": 3},
                    {"init-value": {"start-date": "2026-05-01", "end-date": "2026-05-01"}},
                    {"init-value": {"start-date": "2026-05-02", "end-date": "2026-05-01"}},
                    {"init-value": {"start-date": "2026-05-02"}},
                    {"helper-text": {"end-date": "Last"}},
                ]
            )
        )
    ),
    "a stay before the first day": flow(
        RANGE | TWO_DAYS | {"init-value": {"start-date": "2026-04-30", "end-date": "2026-05-10"}}
    ),
    "one day of a range": flow(
        RANGE | {"label": "Stay", "init-value": "2026-05-01", "helper-text": 5}
    ),
    "a range for one day": flow(
        CALENDAR | {"init-value": {"start-date": "2026-05-01"}, "title": "x", "max-days": 1, "x": 1}
    ),
    "a mode that is bound": flow(
        RANGE | {"mode": "${data.text}", "title": "x", "init-value": "2026-05-01"}, data=TEXTS
    ),
    "options with pictures": flow(
        DROPDOWN | {"data-source": options(101, image=PICTURE)},
        RADIO | {"name": "b", "data-source": options(20, image=PICTURE)},
    ),
    "a hundred options with pictures": flow(
        DROPDOWN | {"data-source": options(100, image=PICTURE)}
    ),
    "options twice": flow(
        RADIO
        | {
            "data-source": [
                "x",
                OPTIONS[0],
                {"id": 5, "title": "x"},
                {"id": "${data.text}", "title": "x"},
                {"id": "${data.text}", "title": "x"},
                OPTIONS[0],
                OPTIONS[1],
                OPTIONS[0],
            ]
        },
        data=TEXTS,
    ),
    "options with colours and a picture": flow(
        RADIO
        | {"data-source": [OPTIONS[0] | {"color": "#112233"}, OPTIONS[1] | {"color": "#112233"}]}
    ),
    "numbers of options": flow(
        CHIPS | {"data-source": options(2)},
        CHIPS | {"name": "b", "data-source": options(1)},
        RADIO | {"name": "c", "data-source": options(20)},
        RADIO | {"name": "d", "data-source": options(21)},
    ),
    "captions": flow(
        footer(GO) | {"left-caption": "a", "center-caption": "b", "right-caption": "c"}, foot=False
    ),
    "a left caption beside one in the middle": flow(
        footer(GO) | {"left-caption": "a", "center-caption": "b"}, foot=False
    ),
    "first values": flow(
        FORM
        | {
            "children": [
                INPUT,
                PHOTO | {"name": "p"},
                IF | {"then": [CALENDAR | {"name": "c"}]},
                BOXES | {"name": "b"},
            ],
            "init-values": {"no": 1, "p": "x", "c": "soon", "a": 5, "b": "x", "q": 2},
        }
    ),
    "first values of 6.3": flow(FORM | {"init-values": {"a": 5}}, version="6.3"),
    "first numbers": flow(
        FORM
        | {
            "children": [INPUT | {"input-type": "number"}, AREA | {"name": "b"}],
            "init-values": {"a": "5", "b": 5},
        }
    ),
    "first days of a range": flow(FORM | {"children": [RANGE], "init-values": {"a": "2026-05-01"}}),
    "first days of one": flow(
        FORM
        | {"children": [CALENDAR | {"mode": "${data.text}"}], "init-values": {"a": "2026-05-01"}},
        data=TEXTS,
    ),
    "three pictures": flow(CAROUSEL | {"images": CAROUSEL["images"] * 3}),
    "four pictures and no list": flow(
        CAROUSEL | {"images": CAROUSEL["images"] * 4},
        CAROUSEL | {"images": "${data.text}"},
        data=TEXTS,
    ),
    "targets": flow(
        drop(LIST, "/on-click-action")
        | {"list-items": ["x", ITEM, ITEM | {"id": "2", "on-click-action": GO, "end": {}}]},
        **ALONE,
    ),
    "targets without any action": flow(
        drop(LIST, "/on-click-action") | {"list-items": [ITEM, ITEM | {"id": "2"}]}, **ALONE
    ),
    "targets with two actions": flow(
        LIST
        | {
            "list-items": [
                ITEM,
                ITEM | {"id": "2", "on-click-action": GO},
                ITEM | {"id": "3", "on-click-action": GO},
            ]
        },
        **ALONE,
    ),
    "targets with badges and ends": flow(
        LIST
        | {
            "media-size": "large",
            "list-items": [
                ITEM | {"badge": "a", "end": {"title": "1", "description": "2"}},
                ITEM | {"id": "2", "badge": "b", "end": "x"},
                ITEM | {"id": "3", "badge": "c"},
            ],
        },
        **ALONE,
    ),
    "targets that are bound": flow(LIST | {"list-items": "${data.text}"}, **ALONE, data=TEXTS),
    "three If": flow(INPUT, nested(3)),
    "five If": flow(INPUT, nested(5)),
    "four If twice": flow(INPUT, nested(4), nested(4)),
    "a Footer too deep in a Switch": flow(
        INPUT, IF | {"then": [SWITCH | {"cases": {"x": [footer(GO)]}}]}, foot=False
    ),
    "inputs outside the Form": flow(
        FORM,
        TEXT,
        OPT_IN | {"name": "b"},
        CALENDAR | {"name": "c"},
        IF | {"then": [AREA | {"name": "d"}]},
    ),
    "a name three times": flow(
        INPUT, TEXT, AREA, {"type": "Odd", "name": "a"}, DAY, FORM | {"name": "a", "children": []}
    ),
    "as many as there may be": flow(*named(OPT_IN, 5), *[LINK] * 2, *[IMAGE] * 3),
    "more than there may be": flow(*named(OPT_IN, 6), *[LINK] * 3, *[IMAGE] * 4),
    "links in branches": flow(
        INPUT,
        LINK,
        IF | {"then": [LINK], "else": [LINK, LINK]},
        SWITCH | {"cases": {"x": [IMAGE] * 3, "y": [IMAGE]}},
    ),
    "images in a Form": flow(FORM | {"children": [INPUT, IMAGE, IMAGE]}, IMAGE, IMAGE),
    "two Forms in 6.3": flow(FORM, FORM | {"name": "b", "children": []}, version="6.3"),
    "fifty components": flow(*[TEXT] * 49),
    "fifty-one components": flow(*[TEXT] * 50),
    "a hundred components": flow(*[TEXT] * 99),
    "a hundred components in a Form": flow(FORM | {"children": [INPUT, *[TEXT] * 98]}),
    "files in two places": put(flow(PHOTO), "/screens/1/layout/children", [FILES, footer()]),
    "a Footer in one case of three": flow(
        INPUT, SWITCH | {"cases": {"x": [TEXT], "y": [footer(GO)], "z": [TEXT]}}, foot=False
    ),
    "Footers in two branchings": flow(
        INPUT,
        IF,
        IF | {"then": [footer(GO)], "else": [footer(GO)]},
        SWITCH | {"cases": {"x": [footer(GO)]}},
        foot=False,
    ),
    "a long case": flow(INPUT, SWITCH | {"cases": {f"{'x' * 70}!": [TEXT], "2": [TEXT], "y": 5}}),
    "RichText and Footer in 6.3": flow(RICH, version="6.3"),
    "RichText and text in 5.1": flow(RICH, TEXT, version="5.1"),
    "RichText and an unknown component": flow(RICH, {"type": "Odd"}),
    "a list in a Form": flow(FORM | {"children": [LIST]}, **ALONE),
    "a list beside text": flow(LIST, TEXT, **ALONE),
    "a model that is none": put(chained("A", "B", ways={}), "/routing_model", None),
    "a ring of two": chained("A", "B", "C", ways={"A": ["B"], "B": ["A", "C"], "C": []}),
    "a ring of three": chained(
        "A", "B", "C", "D", ways={"A": ["B"], "B": ["C"], "C": ["D"], "D": ["B"]}
    ),
    "a route to itself": chained("A", "B", ways={"A": ["A", "B"], "B": []}),
    "routes of odd shapes": chained(
        "A", "B", "C", ways={"X": [], "A": "B", "B": ["C", 5, "Y", "C"], "C": ["B"]}
    ),
    "screens that no route knows": chained("A", "B", "C", "D", ways={"A": ["B"]}),
    "every screen entered": chained("A", "B", ways={"A": ["B"], "B": ["A"]}),
    "a way back without a route": put(
        chained("A", "B", "C", ways={"A": ["B"], "B": ["C"]}),
        "/screens/2/layout/children/0/on-click-action",
        GO | {"next": {"type": "screen", "name": "A"}},
    ),
    "navigation without a route": put(
        chained("A", "B", "C", "D", ways={"A": ["C"], "B": [], "C": ["D"]}),
        "/screens/1/terminal",
        False,
    ),
    "eleven ways": going(*[f"S{chr(65 + n)}" for n in range(11)]),
    "ten ways": going(*[f"S{chr(65 + n)}" for n in range(10)]),
    "screens apart": {
        "version": "7.3",
        "screens": [
            *chained("A", "B")["screens"],
            screen("C", TEXT),
            screen("D", footer(), terminal=True),
        ],
    },
    "screens that nothing leads to": {
        "version": "7.3",
        "screens": [
            *chained("A", "B")["screens"],
            *chained("C", "B")["screens"][:1],
            *chained("D", "B")["screens"][:1],
        ],
    },
    "data of odd shapes": put(
        flow(),
        "/screens/0/data",
        {
            "required": ["a"],
            "a": "text",
            "b": {"type": "string"},
            "c": {"type": "text", "__example__": 1},
            "d": {"type": "array", "__example__": []},
            "e": {"type": "array", "items": 5, "__example__": []},
            "f": {"type": 5, "__example__": 5},
            "g": {"type": "number", "__example__": "1"},
        },
    ),
    "data of odd shapes below": put(
        flow(),
        "/screens/0/data",
        {
            "a": {
                "type": "object",
                "__example__": {"x": 1},
                "properties": {"x": {"type": "string"}, "y": {"type": "odd", "__example__": 1}},
            },
            "b": {
                "type": "array",
                "__example__": [{}],
                "items": {"type": "object", "required": [5, "x", "y"]},
            },
            "c": {"type": "string", "__example__": "z", "enum": ["x", ["z"], "y"]},
            "d": {"type": ["string", "number"], "__example__": True},
            "e": {
                "type": "array",
                "__example__": [["a", 1], [2]],
                "items": {"type": "array", "items": {"type": "string"}},
            },
            "f": {
                "type": "object",
                "__example__": {},
                "properties": {"enum": {"type": "odd"}},
                "enum": [{"type": "odd"}],
                "default": {"type": "odd"},
                "anyOf": [{"type": "odd"}, 5],
            },
        },
    ),
    "a payload for another screen": handing(
        {"y": 1, "z": "${data.text}", "x": "${data.flag}", "w": ["a"]},
        {
            "x": TEXTS["text"],
            "w": {"type": "array", "items": {"type": "number"}, "__example__": []},
        },
    ),
    "a payload for another screen in 7.2": handing(
        {"y": 1, "z": "${data.text}"}, {"x": TEXTS["text"]}, version="7.2"
    ),
    "a payload for another screen in 5.1": handing(
        {"z": "${data.text}"}, {"x": TEXTS["text"]}, version="5.1"
    ),
    "an expression for a flag": handing(
        {"x": "`${data.text} == 'a'`", "y": "`'a' ${data.text}`", "z": "`1 +`"},
        dict.fromkeys("xyz", TEXTS["flag"]),
    ),
    "a payload with files": handing(
        {"x": "${form.b}", "y": ["${form.b}"]},
        {
            "x": TEXTS["text"],
            "y": {"type": "array", "items": {"type": "string"}, "__example__": []},
        },
        PHOTO | {"name": "b"},
    ),
    "references at the end": ending(
        {
            "a": "${form.nobody}",
            "b": "x ${data.nothing}",
            "c": ["${data.nothing}"],
            "d": "${data.te xt}",
            "e": "${form.a}",
            "f": "`${form.nobody}`",
        },
        INPUT,
    ),
    "references at the end in 5.1": ending(
        {"f": "`${form.nobody}`", "g": "${screen.ONLY.form.a}", "h": "${data.text.x}"},
        INPUT,
        version="5.1",
    ),
    "references at the end in 3.1": ending(
        {"f": "${screen.ONLY.form.a}", "g": "${form.a}"}, FORM, version="3.1"
    ),
    "files at the end": ending(
        {"x": "${form.p}", "y": ["${form.p}"], "z": "${form.f}"},
        PHOTO | {"name": "p", "max-uploaded-photos": 4, "max-file-size-kb": 1},
        FILES | {"name": "f", "max-uploaded-documents": 7, "max-file-size-kb": 1},
    ),
    "files of a size": ending(
        {"x": "${form.p}"},
        PHOTO | {"name": "p", "max-uploaded-photos": 5, "max-file-size-kb": 20_481},
    ),
    "files of no stated size": ending(
        {"x": "${form.p}", "y": "${form.f}"},
        PHOTO | {"name": "p", "max-uploaded-photos": 4},
        FILES | {"name": "f", "max-uploaded-documents": 1, "max-file-size-kb": 1},
    ),
    "files in 4.0": ending(
        {"x": "${form.p}", "y": "${form.f}"},
        PHOTO | {"name": "p", "max-uploaded-photos": 1},
        FILES | {"name": "f", "max-uploaded-documents": 1},
        version="4.0",
    ),
    "references in texts": flow(
        TEXT | {"text": "${data.nothing}"},
        TEXT | {"text": "a ${data.nothing} ${form.nobody}"},
        TEXT | {"text": ["x", "${data.nothing}"]},
        TEXT | {"text": "${screen.LAST.data.x} ${screen.NONE.form.y}"},
        TEXT | {"text": "${screen.FIRST.form.a}"},
        INPUT,
        TEXT | {"text": "${oh} no"},
        data=TEXTS,
    ),
    "references in properties": flow(
        INPUT | {"required": "${data.text}", "max-chars": "a ${data.flag}", "enabled": "`1`"},
        TEXT | {"visible": "${form.a} yes"},
        SWITCH | {"value": "x"},
        SWITCH | {"value": "a ${form.a}"},
        data=TEXTS,
    ),
    "references in properties of 5.1": flow(
        INPUT | {"required": "${data.text} yes", "enabled": "`1`"},
        TEXT | {"visible": "yes ${data.flag}"},
        SWITCH | {"value": "${form.a} b"},
        data=TEXTS,
        version="5.1",
    ),
    "references in titles": put(
        put(flow(data=TEXTS), "/screens/0/title", "${data.text} ${data.nothing}"),
        "/screens/1/title",
        "${data.text}",
    ),
    "bound options": flow(
        *(DROPDOWN | {"name": name, "data-source": f"${{data.{name}}}"} for name in "abcde"),
        data={
            name: {"type": "array", "__example__": [], "items": items}
            for name, items in (
                ("a", {"type": "string"}),
                ("b", {"type": "object", "properties": {"id": {"type": "number"}}}),
                ("c", {"type": "object"}),
                (
                    "d",
                    {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "title": {"type": "string"},
                            "enabled": {"type": "string"},
                        },
                    },
                ),
                ("e", {"type": "array"}),
            )
        },
    ),
    "rich texts": flow(
        RICH | {"text": "a ${data.text}"},
        RICH | {"text": ["${data.text}", "b"]},
        RICH | {"text": "${data.flag}"},
        RICH | {"text": "${data.text}"},
        data=TEXTS,
    ),
    "rich texts of 5.1": flow(
        RICH | {"text": "a ${data.text}"}, version="5.1", foot=False, data=TEXTS
    ),
    "first values that are bound": flow(
        FORM
        | {
            "children": [INPUT, BOXES | {"name": "b"}],
            "init-values": {"a": "${data.flag}", "b": "${data.text}", "c": "${data.nothing}"},
            "error-messages": {"a": "${data.nothing}", "b": "${data.text} ${data.nothing}"},
        },
        data=TEXTS,
    ),
    "first values that are bound in 6.3": flow(
        FORM
        | {"init-values": {"a": "${data.nothing}"}, "error-messages": {"a": "${data.nothing}"}},
        data=TEXTS,
        version="6.3",
    ),
    "expressions": flow(
        INPUT,
        TEXT | {"text": "`${data.text} > 2`"},
        TEXT | {"visible": "`${data.text}`"},
        TEXT | {"text": "`'a' + ${data.text}`"},
        TEXT | {"text": ["`1 +`", "`${data.nothing} 'a'`"]},
        TEXT | {"text": "`${screen.NONE.form.x}`"},
        INPUT | {"name": "b", "init-value": "`1 +`", "error-message": "`&`"},
        data=TEXTS,
    ),
    "expressions in payloads": ending(
        {"a": "`1 +`", "b": {"c": "`${data.nothing} == 1`"}, "d": "`'a' + 'b'`"}
    ),
    "expressions in payloads of 7.1": ending({"a": "`1 +`"}, version="7.1"),
    "conditions": flow(
        INPUT,
        *(
            IF | {"condition": text}
            for text in (
                "${form.a} == 'x' && ${data.flag}",
                "+${form.a} == 'x'",
                "${data.flag} == (1 == 1)",
                "${form.a} * 2 == 4",
                "${form.a} != -1",
                "`${form.a}`",
                "!${data.flag} || ${data.flag}",
                "(${form.a} == 'x') || (${form.a} == 'y')",
                "${data.flag} == true == false",
            )
        ),
        data=TEXTS,
    ),
    "conditions of 5.1": flow(
        INPUT,
        *(
            IF | {"condition": text}
            for text in ("`${data.flag}`", "${form.a} 'x'", "${data.text} > 007")
        ),
        data=TEXTS,
        version="5.1",
    ),
    "other screens before 4.0": flow(
        INPUT,
        TEXT | {"text": "${screen.LAST.form.x}"},
        TEXT | {"text": "a ${screen.LAST.form.x} ${data.nothing}"},
        version="3.1",
    ),
}
DOCUMENTS = {fault.name: fault.document for fault in FAULTS} | CASES

MOST = 6  #: findings of a document that are written down
SAID: dict[str, list[str]] = {}
for _line in Path(__file__).with_name("findings.txt").read_text("utf-8").splitlines():
    if _line.startswith("  "):
        SAID[next(reversed(SAID))].append(_line.strip())
    else:
        SAID[_line] = []


def line(found: Finding) -> str:
    """A finding on one line."""
    said = f"{found.severity} {found.code}, {found.pointer}: {found.message}"
    steps = [f"{step.op} {step.path} {step.value!r}" for step in found.patch]
    hints = [found.hint] if found.hint else []
    return " -> ".join([said, *hints, *steps])


def lines(document: Any) -> list[str]:
    """What is said of a document; that nothing reads its inputs is tested elsewhere."""
    said = [line(found) for found in lint(document) if found.code not in UNUSED]
    return said if len(said) <= MOST else [*said[:MOST], f"and {len(said) - MOST} more"]


def test_what_is_said_of_each_broken_document() -> None:
    said = {name: lines(document) for name, document in DOCUMENTS.items()}
    assert {name: found for name, found in said.items() if found != SAID.get(name)} == {}


def test_every_document_is_written_down() -> None:
    assert list(SAID) == list(DOCUMENTS)
