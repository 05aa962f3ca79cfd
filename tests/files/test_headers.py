"""FoundColumns are found by what people call them, and data is never taken for a name."""

from __future__ import annotations

import pytest

from chatkit.files.columns import (
    FoundColumns,
    count_column_names,
    looks_like_data,
    match_names,
    row_of_names,
)
from chatkit.tables import TableRow


def rows(*cells: list[object]) -> list[TableRow]:
    return [TableRow(number, row) for number, row in enumerate(cells, 1)]


def columns(names: list[str], *data: list[object]) -> FoundColumns:
    return match_names(names, rows(*data))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "number",
            "Phone",
            "PHONE",
            "phone_number",
            "phoneNumber",
            "Phone 1 - Value",
            "Tel.",
            "Ph",
        ),
        *("Mobile Phone", "MobileNo", "Mob. No", "Cell", "WhatsApp", "WhatsApp No.", "Contact No"),
        *("Telefon", "Telefonnummer", "Handy-Nr.", "Rufnummer", "Nummer", "Mobilfunk / Handy"),
        *("Teléfono", "Teléfono móvil", "Número de teléfono", "Celular", "numéro de téléphone"),
        *("Portable", "Cellulare", "Telefone", "Telemóvel / telefone", "Telefoonnummer", "Cep Tel"),
        *("Телефон", "Номер телефона", "Мобильный", "Τηλέφωνο", "Telefonszám", "Komórka"),
        *(
            "电话",
            "手机号码",
            "手机号码（必填）",
            "携帯電話",
            "電話番号",
            "휴대폰 번호",
            "전화번호",
        ),
        *("رقم الهاتف", "جوال", "טלפון", "मोबाइल नंबर", "फ़ोन नंबर", "เบอร์โทรศัพท์", "Số điện thoại"),
    ],
)
def test_the_number_is_found_in_many_languages(name: str) -> None:
    assert columns(["Ref", name]).number == 1


@pytest.mark.parametrize(
    "name",
    [
        *("Fax", "Phone type", "Phone 1 - Label", "wa_phone_id", "Telephone status", "Phone model"),
        *("Kundennummer", "Order number", "Street", "E-mail", "Area code", "Last phone call", ""),
        *("Mobile Country Code", "numbers", "Telex", "Cellar", "Saphone", "Ext. number"),
    ],
)
def test_what_is_only_about_a_number_is_none(name: str) -> None:
    assert columns([name]).number is None


@pytest.mark.parametrize(
    "name",
    [
        *(
            "country_code",
            "Country Code",
            "CC",
            "Dial code",
            "Calling-Code",
            "ISD",
            "Ländervorwahl",
        ),
        *("Código de país", "Indicatif", "Prefisso internazionale", "DDI", "Код страны", "国番号"),
    ],
)
def test_the_country_code_is_found(name: str) -> None:
    data: tuple[list[object], ...] = (["+49"], ["49"], [None], [1])
    assert columns([name], *data).country_code == 0


def test_countries_are_not_their_codes() -> None:
    assert columns(["Country code"], ["DE"], ["FR"], ["+49"]).country_code is None


def test_the_best_of_several_numbers_is_taken_and_the_others_are_told() -> None:
    names = ["Nummer", "Home Phone", "Business Fax", "Mobile Phone", "Phone 2", "WhatsApp"]
    assert columns(names)[0] == 5 and columns(names).others == (3, 1, 4)
    assert columns(names[:5])[0] == 3
    assert columns(["Number", "Phone"]).number == 1
    assert columns(["Phone", "Phone 2"]).number == 0


def test_a_frame_of_ours_is_known_whatever_else_is_in_it() -> None:
    names = ["id", "number", "country_code", "name", "first_name", "last_name", "WhatsApp"]
    assert columns(names, ["1", "2", "+1", "A B", "A", "B", "3"])[:3] == (1, 2, (3,))


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        (["Name"], ["Name"]),
        (["Full name", "Phone"], ["Full name"]),
        (["Last Name", "First Name"], ["First Name", "Last Name"]),
        (
            ["First Name", "Middle Name", "Last Name", "Name Suffix"],
            ["First Name", "Middle Name", "Last Name"],
        ),
        (["Nachname", "Vorname"], ["Vorname", "Nachname"]),
        (["Name", "Vorname"], ["Vorname", "Name"]),
        (["Nom", "Prénom"], ["Prénom", "Nom"]),
        (["Nombre", "Apellidos"], ["Nombre", "Apellidos"]),
        (
            ["Nombre", "Primer apellido", "Segundo apellido"],
            ["Nombre", "Primer apellido", "Segundo apellido"],
        ),
        (["Nome", "Cognome"], ["Nome", "Cognome"]),
        (["Voornaam", "Tussenvoegsel", "Achternaam"], ["Voornaam", "Tussenvoegsel", "Achternaam"]),
        (["Имя", "Отчество", "Фамилия"], ["Имя", "Отчество", "Фамилия"]),
        (["Name", "Given Name", "Family Name"], ["Name"]),
        (["姓名", "电话"], ["姓名"]),
        (["Company name", "User name", "City"], []),
    ],
)
def test_the_name_or_its_parts_are_found(names: list[str], joined: list[str]) -> None:
    assert [names[place] for place in columns(names).name] == joined


def test_a_name_that_repeats_the_first_name_is_the_whole_name() -> None:
    data: list[list[object]] = [["Ana Cruz", "Ana"], ["Bob Diaz", "Bob"], ["Cy", None]]
    assert columns(["Name", "Vorname"], *data).name == (0,)
    assert columns(["Name", "Vorname"], ["Cruz", "Ana"], ["Ana", "Ana"]).name == (1, 0)


def test_names_that_are_ours_are_never_joined_again() -> None:
    assert columns(["name", "last_name"], ["New Name", "Cruz"]).name == (0,)


# --- which row names the columns ------------------------------------------------------------


def test_the_first_row_names_the_columns() -> None:
    assert row_of_names(rows(["Name", "Phone"], ["Ana", "+1 2025550187"]), []) == 0
    assert row_of_names(rows(["Foo", "Bar"], ["Ana", "Bob"]), []) == 0


def test_titles_stand_above_the_names() -> None:
    titled = rows(["Customer phone list", None], [None, 2026.0], ["Name", "Mobile"])
    assert row_of_names(titled[:1] + titled[2:], []) == 1
    assert row_of_names(rows(["Our people"], ["Phone"], ["+1 2025550187"]), []) == 1


def test_words_among_the_data_name_nothing() -> None:
    table = rows(["Lloji", "Telefoni"], ["Mobile", "2025550187"], ["Phone", "Cell"])
    assert row_of_names(table, []) == 0


def test_names_that_a_person_says_are_found() -> None:
    table = rows(["Liste", None], ["Kunde", "Erreichbar unter"], ["Ana", "Phone"])
    assert row_of_names(table, ["Erreichbar unter"]) == 1


def test_what_looks_like_data() -> None:
    assert looks_like_data(TableRow(1, ["Ana", "+49 (171) 234-567"]))
    assert looks_like_data(TableRow(1, ["Ana", 491712345678]))
    assert not looks_like_data(TableRow(1, ["Name", "Phone 1 - Value", None, "2026"]))


def test_data_has_few_words_that_name_columns() -> None:
    assert count_column_names(["Name", "Handy", "Notiz", None, 3]) == 2
    assert count_column_names(["Ana", "+49 171", "NA", "x" * 100]) == 0
