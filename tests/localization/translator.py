"""A translator for the tests: opens our files with other programs' means, and works in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.etree import ElementTree

import openpyxl
import pandas as pd
from hypothesis import strategies as st
from localization.contents import GOOD, button, content, website
from translate.storage.pypo import pofile
from translate.storage.xliff import xlifffile

from chatkit.imports.tables import guard_text_cell, remove_guard
from chatkit.localization.units import Unit, escape_controls, unescape_controls

#: Every format, by what is asked for, and how its files end.
FORMATS = {"xlsx": "xlsx", "csv": "csv", "po": "po", "xliff": "xlf"}

#: Any text that a file can hold; those that look like something come often.
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    st.sampled_from(
        "{}12 ⟨⟩U+0D\r\n\t\0\x01\x1f\x7f\x85\u2028\ufeff\uffff=+-@'\"\\<>&;,_x0é👍\u05d0"
    ),
    max_size=30,
)
#: Sources, each with its translation.
PAIRS = st.lists(st.tuples(ANY.filter(str.strip), ANY), min_size=1, max_size=6)
#: Words without a placeholder in them.
WORDS = ANY.map(lambda text: text.replace("{", "(").replace("}", ")"))

Work = Callable[[str, str], str | None]  #: takes the field and the source, gives the translation


def unit(source: str = "Hello", target: str = "", **fields: Any) -> Unit:
    """A unit on its way out."""
    named = {"template_code": "order_ready", "lang_code": "de", "field": "text", **fields}
    return Unit(source=source, target=target, note="A note.", limit=60, **named).with_stamp("en")


def units_of(pairs: Sequence[tuple[str, str]]) -> list[Unit]:
    """Make units of sources and their translations."""
    return [unit(s, t, field=f"buttons.{n}.label") for n, (s, t) in enumerate(pairs)]


def report(units: Sequence[Unit]) -> list[tuple[Any, ...]]:
    """Return what comes back of units, without their states and notes."""
    return [(each.text_key, each.source, each.target, each.stamp, each.problem) for each in units]


def full(*contents: Mapping[str, Any], template: str = "order_ready") -> pd.DataFrame:
    """A frame of contents as `templates.frame(codes, full=True)` gives it."""
    rows = [{"template_code": template, "id": n, **each} for n, each in enumerate(contents, 1)]
    frame = pd.DataFrame(rows).astype({"id": "Int64"})
    return frame.set_index(["template_code", "lang_code"])


#: A content with a text in every place, and one of its translations.
ENGLISH = content(
    headers=[{"type": "text", "text": "Your bike is ready"}],
    buttons=[button("custom", "On my way"), website("https://shop.example/en", label="Track")],
)
GERMAN = {
    **GOOD,
    "lang_code": "de",
    "text": "Hallo {{1}}, deine Bestellung {{2}} ist fertig, hol sie heute ab.",
    "headers": [{"type": "text", "text": "Dein Rad ist fertig"}],
    "buttons": [
        button("custom", "Unterwegs"),
        website("https://shop.example/de", label="Verfolgen"),
    ],
}


def both() -> pd.DataFrame:
    """English and German."""
    return full(ENGLISH, GERMAN)


def english() -> pd.DataFrame:
    """English alone."""
    return full(ENGLISH)


def translate(paths: Sequence[str], work: Work) -> None:
    """Fill in the files: what `work` gives for a text, None to leave it."""
    for path in map(Path, dict.fromkeys(paths)):
        kind = path.suffix
        data = path.read_bytes()
        if kind == ".xlsx":
            path.write_bytes(_workbook(data, work))
        elif kind == ".csv":
            path.write_bytes(_csv(data, work))
        elif kind == ".po":
            path.write_bytes(_po(data, work))
        else:
            path.write_bytes(_xliff(data, work))


def seen(cell: str) -> str:
    """Return the text of a cell: a leading apostrophe only marks it as text."""
    return unescape_controls(remove_guard(cell))


def typed(text: str) -> str:
    """Type a text into a cell as the file does."""
    return guard_text_cell(escape_controls(text))


def _workbook(data: bytes, work: Work) -> bytes:
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    for page in workbook.worksheets:
        names = {cell.value: n for n, cell in enumerate(page[1])}
        for row in page.iter_rows(min_row=2):
            done = work(row[names["field"]].value, seen(row[names["source"]].value))
            if done is not None:
                cell = row[names["translation"]]
                cell.value = typed(done)
                cell.data_type = "s"
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def _csv(data: bytes, work: Work) -> bytes:
    between = ";" if b"code;" in data else ","
    text = io.StringIO(data.decode("utf-8-sig"), newline="")
    rows = list(csv.DictReader(text, delimiter=between))
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, rows[0], delimiter=";")  # as a German Excel saves it
    writer.writeheader()
    for row in rows:
        done = work(row["field"], seen(row["source"]))
        if done is not None:
            row["translation"] = typed(done)
        writer.writerow(row)
    return target.getvalue().encode("utf-8-sig")


def _po(data: bytes, work: Work) -> bytes:
    store = pofile.parsestring(data)
    for message in store.units:
        if not message.isheader():
            field = message.getcontext().rpartition(" ")[0].rpartition("/")[2]
            done = work(field, unescape_controls(str(message.source)))
            if done is not None:
                message.target = escape_controls(done)
                message.markfuzzy(False)  # as editors do with what is typed anew
    return _saved(store)


def _xliff(data: bytes, work: Work) -> bytes:
    """Work as such programs do: what is fixed in the source is put in again as the same block."""
    root = ElementTree.fromstring(data)
    space = root.tag.removesuffix("xliff")
    for each in root.iter(f"{space}trans-unit"):
        source = each.find(f"{space}source")
        blocks = {code.text: code for code in source.iter(f"{space}ph")}
        output = [source.text or ""]
        for code in source:
            output += [code.text, code.tail or ""]
        done = work(each.get("resname"), unescape_controls("".join(output)))
        if done is not None:
            for before in each.findall(f"{space}target"):
                each.remove(before)
            each.insert(list(each).index(source) + 1, _target(f"{space}target", done, blocks))
    return ElementTree.tostring(root, encoding="utf-8")


def _target(tag: str, text: str, blocks: Mapping[str, Any]) -> Any:
    target = ElementTree.Element(tag)
    last: Any = None
    for part in re.split(
        "(" + "|".join(map(re.escape, [*blocks, "\0"])) + ")", escape_controls(text)
    ):
        if part in blocks:
            last = ElementTree.SubElement(target, blocks[part].tag, blocks[part].attrib)
            last.text = blocks[part].text
        elif last is None:
            target.text = (target.text or "") + part
        else:
            last.tail = (last.tail or "") + part
    return target


def _saved(store: Any) -> bytes:
    target = io.BytesIO()
    store.serialize(target)
    return target.getvalue()


# --- what programs do to XML that says the same -----------------------------------------------


def reordered(data: bytes) -> bytes:
    """Attributes in another order, the namespace with a prefix, UTF-16."""
    root = ElementTree.fromstring(data)
    for element in root.iter():
        element.attrib = dict(reversed(element.attrib.items()))
    return ElementTree.tostring(root, encoding="utf-16", xml_declaration=True)


def indented(data: bytes) -> bytes:
    """Other white space between the elements that hold no text."""
    return data.replace(b"\n  ", b"\n\n\t\t    ")


def in_cdata(data: bytes) -> bytes:
    """Words in CDATA sections in place of entities, written by another program."""
    document = minidom.parseString(data)
    stack = [document.documentElement]
    while stack:
        for child in list(stack.pop().childNodes):
            if child.nodeType == child.TEXT_NODE and child.data.strip() and "]]>" not in child.data:
                child.parentNode.replaceChild(document.createCDATASection(child.data), child)
            elif child.nodeType == child.ELEMENT_NODE:
                stack.append(child)
    return document.toxml(encoding="utf-8")


def resaved(data: bytes) -> bytes:
    """Opened and saved by translate-toolkit."""
    return _saved(xlifffile.parsestring(data))


REWRITES = [reordered, in_cdata, resaved]
