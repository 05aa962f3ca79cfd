"""The ledger has the source text that each translation was made from, whoever recorded it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from localization.contents import cases, content, frame
from volume import volume

import chatkit
from chatkit.errors import InputError
from chatkit.localization.board import board
from chatkit.localization.ledger import (
    Ledger,
    Origin,
    TranslationKey,
    WrittenText,
    accept_contents,
    digest_text,
    record_written,
)
from chatkit.resource import get_endpoints
from chatkit.util.files import get_user_name

CODE = "order_ready"
GERMAN = "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei und hol sie ab."
ENGLISH = "Dear {{1}}, we have finished your {{2}}. It waits for you until {{3}}, from 9 to 6."
NEU = "Hallo {{1}}, dein {{2}} ist ganz neu und fertig. Bitte hole es bis {{3}} ab, von 9 bis 18."
KEY = TranslationKey("a", "de", "text", "en", "0" * 20)
NOON, ONE = (f"2026-11-20T{hour}:00:00.000000+00:00" for hour in (12, 13))


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


# --- the states ---------------------------------------------------------------------------------
# Each step is an action on the demo account, and the states of some languages after it.


class Account:
    """The actions on one template of an account."""

    def __init__(self, client):
        self.client, self.contents = client, client.templates(CODE)

    def plan(self, **texts):
        edited = self.client.templates.frame([CODE], full=True)
        for lang, text in texts.items():
            edited.loc[(CODE, lang), "text"] = text
        return self.client.templates.plan(edited)

    def write(self, **texts):
        return self.plan(**texts).apply()

    def write_saved(self, **texts):
        self.plan(**texts).save("plan.json")
        assert not len(self.client.templates.ledger.read())
        self.client.load_plan("plan.json").apply()

    def write_elsewhere(self, lang, text):
        call = get_endpoints(self.contents).update_call(lang, {"text": text})
        self.client.transport.send(call)

    def accept(self, *languages):
        self.client.templates.accept(languages or None, [CODE])

    def edit_buttons(self, lang, edit):
        self.contents.update(lang, buttons=edit(self.contents.get(lang).buttons))

    def copy(self, source, target):
        fields = self.contents.get(source).model_dump(exclude_unset=True, exclude={"id"})
        self.contents.create(**{**fields, "lang_code": target})

    def draft(self, lang):
        english = self.contents.frame(full=True).loc[["en"]]
        self.contents.plan(english.rename(index={"en": lang}).assign(is_draft=True)).apply()

    def replace(self, old, new):
        self.client.templates.replace(old, new, [CODE]).apply()

    def undo(self):
        chatkit.undo(chatkit.runs(self.client).index[0]).apply()


def relabel(buttons):
    return [buttons[0] | {"label": "Je pars"}, *buttons[1:]]


SCENARIOS = {
    "a rewritten source makes what was recorded stale": [
        (lambda a: a.write(en=ENGLISH), "en live, de unknown, fr unknown"),
        (lambda a: a.accept(), "en live, de live, fr live"),
        (lambda a: a.write(en=ENGLISH.replace("Dear", "Hello")), "en live, de stale, fr stale"),
    ],
    "a translation beside a new source is live, its undo is as old as it was": [
        (lambda a: (a.accept(), a.write(en=ENGLISH)), "de stale"),
        (lambda a: a.write(de=NEU), "de live, fr stale"),
        (lambda a: a.undo(), "de stale"),
        (lambda a: a.accept("fr"), "de stale, fr live"),
    ],
    "one plan of both is from the new source": [
        (lambda a: (a.accept(), a.write(en=ENGLISH, de=NEU)), "de live, fr stale"),
    ],
    "written elsewhere is unknown": [
        (lambda a: (a.accept(), a.write_elsewhere("de", NEU)), "de unknown"),
    ],
    "single calls are recorded like a plan": [
        (lambda a: (a.accept(), a.contents.update("en", text=ENGLISH)), "de stale"),
        (lambda a: a.contents.update("de", footer="Larkspur Räder"), "de stale"),  # no text
        (lambda a: a.contents.update("de", text=NEU), "de live"),
        (lambda a: a.edit_buttons("fr", relabel), "fr stale"),
        (lambda a: a.copy("de", "de_AT"), "de_AT live"),
    ],
    "accepted buttons are stale again once the source has others": [
        (lambda a: (a.edit_buttons("de", lambda b: b[:1]), a.accept("fr")), "de stale"),
        (lambda a: a.accept("de"), "de live"),
        (lambda a: a.edit_buttons("en", lambda buttons: buttons[:2]), "de stale"),
    ],
    "a replacement keeps each translation as up to date as it was": [
        (lambda a: (a.accept("de", "fr"), a.write(en=ENGLISH)), "de stale"),
        (lambda a: a.write(de=NEU), "de live"),
        (lambda a: a.replace("9", "10"), "de live, fr stale, es unknown"),
        (lambda a: a.replace("Dear", "Hello"), "de stale"),  # in English alone
    ],
    "a plan of one template is recorded like that of many": [
        (
            lambda a: (a.accept(), a.contents.plan([{"lang_code": "de", "text": NEU}]).apply()),
            "de live",
        ),
    ],
    "drafts are recorded": [
        (lambda a: a.draft("it"), "it draft"),
        (lambda a: a.write(en=ENGLISH), "it stale"),
    ],
    # the other texts of the content are unknown
    "a saved plan records when it is applied": [(lambda a: a.write_saved(de=NEU), "de unknown")],
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_translation_is_as_up_to_date_as_the_source_it_was_made_from(
    client, tmp_path, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    for act, states in SCENARIOS[name]:
        act(Account(client))
        expected = [each.split() for each in states.split(", ")]
        board = client.templates.board([CODE])
        assert [[lang, board[CODE, lang].state] for lang, _ in expected] == expected
    assert {key.source_code for key in client.templates.ledger.read().origins} == {"en"}


def test_a_board_names_what_has_changed_in_the_sources(client):
    Account(client).accept()
    before = client.templates(CODE).get("en").text
    Account(client).write(en=ENGLISH)
    outcome = client.templates.board([CODE])
    assert outcome[CODE, "de"].reason == "the text has changed in en since"
    sources = outcome.sources()
    assert set(sources.before) == {before} and set(sources.lang_code) == {*outcome.languages[1:]}
    assert "{+Dear+}" in repr(outcome) and "<ins>Dear</ins>" in html_of(outcome)
    Account(client).write_elsewhere("de", NEU)
    assert client.templates.board([CODE])[CODE, "de"].reason == (
        "it is not recorded from which text in en it was made"
    )


SOURCES = [
    f"{greeting} {{{{1}}}}, your order {{{{2}}}} is ready now." for greeting in ("Hi", "Hey")
]
TARGETS = [f"{greeting} {{{{1}}}}, deine Ware {{{{2}}}} ist da." for greeting in ("Hallo", "Tag")]


class Recording(RuleBasedStateMachine):
    """Two people change the texts of a template in two languages, and exchange their ledgers.

    The model has, of each ledger, the source, the age and the kind of the record of each target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target, self.tick = SOURCES[0], TARGETS[0], 0
        self.ledgers = [Ledger(), Ledger()]
        self.known: list[dict[str, tuple[int, str, str]]] = [{}, {}]

    def record(self, who: int, how: str) -> None:
        self.tick += 1
        before = self.known[who].get(self.target)
        if before is None or before[1] != self.source or (how, before[2]) == ("accept", "apply"):
            self.known[who][self.target] = (self.tick, self.source, how)

    @rule(text=st.sampled_from(SOURCES))
    def change_source(self, text):
        self.source = text

    @rule(text=st.sampled_from(TARGETS))
    def change_target_elsewhere(self, text):
        self.target = text

    @rule(who=st.sampled_from([0, 1]), text=st.sampled_from(TARGETS))
    def write_target(self, who, text):
        self.target = text
        written = WrittenText(CODE, "de", "text", "en", digest_text(text), self.source, "apply")
        new = record_written(self.ledgers[who], [written], "r1")
        self.ledgers[who] = self.ledgers[who].merge(new)
        self.record(who, "apply")

    @rule(who=st.sampled_from([0, 1]))
    def accept(self, who):
        _, new = accept_contents(self.contents(), "de", "en", self.ledgers[who])
        self.ledgers[who] = self.ledgers[who].merge(new)
        self.record(who, "accept")

    @rule(who=st.sampled_from([0, 1]))
    def merge(self, who):
        other = Ledger.from_text(str(self.ledgers[1 - who]))
        self.ledgers[who] = self.ledgers[who].merge(other)
        for target, record in self.known[1 - who].items():
            self.known[who][target] = max(self.known[who].get(target, record), record)

    def contents(self):
        return frame(
            content(text=self.source, footer=""),
            content(lang_code="de", text=self.target, footer=""),
        )

    @invariant()
    def states_are_those_of_the_records(self):
        for ledger, known in zip(self.ledgers, self.known, strict=True):
            record = known.get(self.target)
            stale = record is not None and record[1] != self.source
            cell = board(self.contents(), ledger=ledger)[CODE, "de"]
            assert cell.state == ("unknown" if record is None else "stale" if stale else "live")
            assert [each.before for each in cell.changes] == ([record[1]] if stale else [])


TestRecording = Recording.TestCase
TestRecording.settings = settings(max_examples=volume(15), stateful_step_count=12, deadline=None)


@cases("source", "translation", "state", "reason")
def test_broken_is_graver_than_stale_and_that_than_draft_and_unknown(
    source, translation, state, reason
):
    english = content(footer="Larkspur" if "footer" in translation else "Open from 9 to 6")
    german = content(lang_code="de", text=GERMAN, footer="Von 9 bis 18 Uhr")
    ledger = accept_contents(frame(english, german), "de", "en", Ledger())[1]
    now = frame({**english, **source}, {**german, **translation})
    cell = board(now, ledger=ledger)[CODE, "de"]
    assert (cell.state, cell.reason) == (state, reason)


def test_buttons_can_be_accepted_and_a_lost_placeholder_cannot():
    text = {"text": GERMAN.replace(" {{2}}", ""), "variables": {"1": "Ana"}}
    german = content(lang_code="de", buttons=[{"type": "custom", "label": "Ja"}], **text)
    contents = frame(content(), german)
    ledger = accept_contents(contents, "de", "en", Ledger())[1]
    cell = board(contents, ledger=ledger)[CODE, "de"]
    assert (cell.state, cell.reason) == ("stale", "{{2}} of en is missing")


def test_a_translation_that_is_edited_in_the_plan_that_makes_its_source_is_of_that_source():
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        german = {"lang_code": "de", "text": "Ihre Bestellung ist da.", "footer": "Alt"}
        client.templates("offer").create(**german, is_draft=True)
        frame = client.templates.frame(["offer"], full=True)
        frame.loc[("offer", "de"), "footer"] = "Neu"
        source = {"text": "Your order is here.", "footer": "New", "is_draft": True}
        frame.loc[("offer", "en"), list(source)] = list(source.values())
        client.templates.plan(frame).apply()
        [key] = client.templates.ledger.read().origins
        assert key[:4] == ("offer", "de", "footer", "en")


# --- since --------------------------------------------------------------------------------------


def test_a_board_since_a_day_says_what_was_changed_by_whom_and_by_which_run(client, monkeypatch):
    codes = [CODE, "spring_offer"]
    monkeypatch.setenv("CHATKIT_USER", "Amara Obi")
    Account(client).write(en=ENGLISH)
    run = chatkit.runs(client).index[0]
    monkeypatch.setenv("CHATKIT_USER", "léa <b>\u202e@shop.example")
    client.templates(CODE).update("de", text=NEU)  # one call, without a plan
    client.templates(CODE).update("en", footer="Larkspur")  # no ledger has this
    outcome = client.templates.board(codes, since="2020-01-01")
    assert outcome.codes == (CODE,)
    assert outcome.changes().drop(columns="at").to_numpy().tolist() == [
        [CODE, "en", "Amara Obi", run, "update", "text"],
        [CODE, "de", "léa <b>\u202e", "", "write", "text"],
    ]
    assert repr(outcome).startswith("1 run and 1 single edit changed 2 contents since 2020-01-01.")
    later = client.templates.board(codes, since="2999-01-01")
    assert later.codes == ()
    assert repr(later).startswith("Nothing that is recorded on this computer has changed a content")
    with pytest.raises(InputError, match="since= takes a date"):
        client.templates.board(codes, since="yesterday")
    with pytest.raises(InputError, match="has no changes"):
        client.templates.board(codes).changes()


def test_what_a_colleague_changed_is_seen_once_their_ledger_is_merged(
    client, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHATKIT_USER", "Chiara")
    at, run = "2026-11-05T10:00:00.000000+00:00", "20261105-100000-abcdef"
    others, place = Ledger(), (CODE, "de")
    for field in ("buttons.0.label", "buttons.1.label", "text"):
        key = TranslationKey(*place, field, "en", digest_text(field))
        others.record_source(key, "Hello", "import", others, at=at, run=run)
    key = TranslationKey(CODE, "fr", "text", "en", digest_text("fr"))
    others.record_source(key, "Hello", "accept", others, at=at)  # changes nothing
    (tmp_path / "hers.jsonl").write_text(str(others), encoding="utf-8")
    client.templates.ledger.merge(tmp_path / "hers.jsonl")
    outcome = client.templates.board([CODE], since="2026-11-05")
    assert outcome.changes().to_numpy().tolist() == [
        [*place, at, "Chiara", run, "write", "buttons, text"]
    ]
    assert not len(client.templates.board([CODE], since="2026-11-06").changes())


def test_a_run_that_wrote_nothing_is_not_seen_though_the_ledger_was_written_before(client):
    edited = client.templates.frame([CODE], full=True)
    edited.loc[(CODE, "de"), "text"] = NEU
    plan = client.templates.plan(edited)
    client.templates(CODE).delete("de")
    assert plan.apply().state.tolist() != ["applied"]
    assert [one.run for one in client.templates.ledger.read().origins.values()] == [plan.id]
    assert not len(client.templates.board([CODE], since="2020-01-01").changes())


# --- accept -------------------------------------------------------------------------------------


def test_accepting_shows_what_it_recorded_and_keeps_no_sample_and_no_token(client, capsys):
    outcome = client.templates.accept("de", [CODE, "spring_offer"])
    assert outcome.to_numpy().tolist() == [[CODE, "de", 6, "unknown"]]
    assert "6 texts in 1 content are recorded" in capsys.readouterr().out
    path = client.templates.ledger.path
    text = path.read_text(encoding="utf-8")
    assert client.templates.accept("de", [CODE]).before.tolist() == ["recorded"]
    assert path.read_text(encoding="utf-8") == text
    samples = client.templates(CODE).get("en").variables
    assert samples and not any(sample in text for sample in samples.values())
    assert "token" not in text and "http" not in text
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pt",), "did you mean pt_BR"),
        ((["it"],), "they are in en, ar, de"),
        ((None,), "No template has a content in 'xx'"),
    ],
)
def test_a_language_that_nobody_has_is_refused_with_the_one_that_is_meant(
    client, arguments, message
):
    source = "xx" if arguments == (None,) else "en"
    with pytest.raises(InputError, match=message):
        client.templates.accept(*arguments, codes=[CODE], source=source)


# --- as text that merges ------------------------------------------------------------------------

TIMES = st.integers(0, 3).map(lambda n: f"2026-11-0{n + 1}T10:00:00.000000+00:00")
KEYS = st.builds(
    TranslationKey,
    st.sampled_from([CODE, "a\u2028b"]),
    st.sampled_from(["de", "pt_BR"]),
    st.sampled_from(["text", "buttons.0.label"]),
    st.just("en"),
    st.sampled_from(["a" * 20, "b" * 20]),
)
NAMES = st.sampled_from(["", "Amara", "Chiara"])
LINES = st.lists(
    st.tuples(KEYS, TIMES, st.text(max_size=4), st.sampled_from(["apply", "accept"]), NAMES),
    max_size=6,
)


@st.composite
def ledgers(draw):
    ledger = Ledger()
    for key, at, source, how, by in draw(LINES):
        ledger.sources[digest_text(source)] = source
        ledger.origins[key] = Origin(at, digest_text(source), how, by=by)
    return ledger


@given(ledgers(), ledgers(), ledgers(), st.randoms())
def test_lines_put_together_in_any_order_are_merged(a, b, c, random):
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(b).merge(b) == a.merge(b)
    assert set(a.origins) | set(b.origins) == set(a.merge(b).origins)
    lines = [*str(a).split("\n"), "<<<<<<< mine", *str(b).split("\n"), "======="]
    random.shuffle(lines)
    assert Ledger.from_text("\n".join(lines)) == a.merge(b)
    assert Ledger.from_text(str(a)) == a
    assert str(a).split("\n")[1:-1] == sorted(str(a).split("\n")[1:-1])


@pytest.mark.parametrize(
    "line",
    [
        *("not JSON", "{}", "[]", '[5,"a"]', "[" * 100_000, '["a kind of another version","x"]'),
        *('["made","a"]', '["made",1,"b","c","d","e","f","g","h","i"]'),
        '["made","a","b","c","d","e","yesterday","g","h","i"]',
        f'["made","a","b","c","d","e","{NOON}","g","h","i","j","k"]',
        *('["source","0000","another text"]', '["source","0000"]', '["comment"]'),
        '["comment","a","de","text",5,"x"]',
        f'["silenced","a","","{NOON}","yes","x"]',
        f'["comment","a","{NOON}","x"]',
        f'["comment","a","de","text","{NOON}","without a name"]',
    ],
)
def test_lines_that_cannot_be_read_are_named(line):
    with pytest.raises(InputError, match="lines that cannot be read: 2, 4"):
        Ledger.from_text(f"# x\n{line}\n\n{line}", "mine.jsonl")


def test_each_line_says_who_recorded_it(monkeypatch):
    at = "2026-11-01T10:00:00.000000+00:00"
    old = [
        f'["comment","a","de","text","{at}","too long",""]',
        f'["made","a","de","text","en","{"0" * 20}","{at}","{digest_text("Hello")}","apply","",""]',
        f'["silenced","quotes","","","","{at}","yes",""]',
    ]
    known = Ledger.from_text("\n".join(old))
    assert known.origins[KEY].by == known.comments["a", "de", "text"].by == ""
    assert str(known).split("\n")[1:-1] == old
    monkeypatch.setenv("CHATKIT_USER", "Amara")
    known.record_source(KEY, "Hi", "accept", known)
    known.comment(("a", "de", "text"), "")
    known.silence("quotes", "", off=True)
    new = str(known).split("\n")[1:-1]
    assert all(line.endswith(',"Amara"]') for line in new if not line.startswith('["source"'))
    assert Ledger.from_text("\n".join([*old, *new])) == known
    assert [one.by for one in known.origins.values()] == ["Amara"]


@cases("before", "source", "how", "at", "recorded")
def test_the_later_record_counts_and_the_same_is_not_recorded_again(
    before, source, how, at, recorded
):
    known, again = Ledger(), Ledger()
    known.record_source(KEY, "Hello", before, known, at=NOON, run="r1")
    again.record_source(KEY, source, how, known, at=at)
    if recorded is None:
        assert len(again) == 0
    else:
        origin = Origin(recorded, digest_text(source), how, "", get_user_name())
        assert again.origins == known.merge(again).origins == {KEY: origin}


# --- the file of an account ---------------------------------------------------------------------


def test_what_a_colleague_has_recorded_is_taken(client, tmp_path, capsys):
    client.templates.accept("de", [CODE])
    client.templates.ledger.save(tmp_path / "de.jsonl")
    with chatkit.Sandbox(seed="demo") as other, chatkit.connect(other) as colleague:
        colleague.templates.accept("fr", [CODE])
        colleague.templates.ledger.merge(tmp_path / "de.jsonl")
        row = colleague.templates.board([CODE]).frame().loc[CODE]
        assert [*row[["de", "fr", "es"]]] == [
            "live",
            "live",
            "unknown",
        ]
        assert "6 of 6 lines were new" in capsys.readouterr().out
        for data, message in (
            (b"id,name\n1,Ana\n", r"foreign\.jsonl has lines that cannot be read: 1, 2"),
            (b"PK\x03\x04\xff", "not UTF-8 text"),
        ):
            (tmp_path / "foreign.jsonl").write_bytes(data)
            with pytest.raises(InputError, match=message):
                colleague.templates.ledger.merge(tmp_path / "foreign.jsonl")


def test_a_damaged_ledger_keeps_no_plan_from_being_applied(client, capsys):
    client.templates.accept("de", [CODE])
    path = client.templates.ledger.path
    path.write_text(f"{path.read_text(encoding='utf-8')}garbled\n", encoding="utf-8")
    assert Account(client).write(de=NEU).state.tolist() == ["applied"]
    assert "It is not recorded from which source" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8").endswith("garbled\n")


def test_what_somebody_else_writes_is_read_and_what_a_reader_changes_is_not(client):
    ledger = client.templates.ledger
    client.templates.accept("de", [CODE])
    mine = ledger.read()
    assert mine == ledger.read() and len(mine) == 6
    mine.origins.clear()
    mine.silence("quotes", "de")
    assert len(ledger.read()) == 6 and not ledger.read().silenced
    colleague = "\n".join(line for line in str(ledger.read()).split("\n") if "footer" not in line)
    ledger.path.write_text(colleague, encoding="utf-8")
    assert len(ledger.read()) == 5
    after = ledger.add(mine)
    after.origins.clear()
    assert len(ledger.read()) == 5 and ledger.read().is_silent("quotes", "de")
    ledger.path.unlink()
    assert len(ledger.read()) == 0


WRITER = """
import sys
from pathlib import Path
from chatkit.localization.ledger import Ledger, LedgerFile, TranslationKey
file = LedgerFile.__new__(LedgerFile)
file.path = Path(sys.argv[1])
for n in range(20):
    new = Ledger()
    key = TranslationKey("t", "de", f"{sys.argv[2]}.{n}", "en", "0" * 20)
    new.record_source(key, f"text {n}", "apply", new)
    file.add(new)
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "shared.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=Path(__file__).parent)
        for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(Ledger.from_text(path.read_text(encoding="utf-8"))) == 40
    assert [each.name for each in tmp_path.iterdir() if each.suffix != ".lock"] == [path.name]
