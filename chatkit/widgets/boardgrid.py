"""Board of all templates in all languages; each cell opens its form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import traitlets

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.localization import language
from chatkit.localization.board import MEANINGS, SIGNS, STATES, Board, format_heading
from chatkit.templates.codes import Codes, template_codes
from chatkit.util.display import cut
from chatkit.widgets.contentform import ContentForm
from chatkit.widgets.controls import Model, join_module, join_styles
from chatkit.widgets.fields import Panel

if TYPE_CHECKING:
    from chatkit.templates import Templates

_MAX_CODE_LENGTH, _MAX_REASON_LENGTH = 80, 160  #: characters of a template code, and of a reason


class BoardTable(Model):
    """A board as a table with a cell for each content; arrow keys go from cell to cell.

    Args:
        on_open: Called with the row and the column of a cell that is opened.
        height: How high the table may become, in pixels.
    """

    _esm = join_module(["keys.js", "side.js", "elements.js", "board/board.js"])
    _css = join_styles("board/board.css")

    states: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: The templates, and the languages by code, name and direction.
    codes: traitlets.List[str] = traitlets.List().tag(sync=True)
    languages: traitlets.List[Any] = traitlets.List().tag(sync=True)
    #: A digit for each cell: the number of its state.
    cells: traitlets.List[str] = traitlets.List().tag(sync=True)
    #: The reasons of states, each once; and the number of its reason by cell.
    reasons: traitlets.List[str] = traitlets.List().tag(sync=True)
    why: traitlets.Dict[str, int] = traitlets.Dict().tag(sync=True)
    #: The states to show; all if it is empty.
    only: traitlets.List[int] = traitlets.List().tag(sync=True)
    #: Row and column of the cell whose form is open.
    opened: traitlets.List[int] = traitlets.List().tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)

    def __init__(self, on_open: Callable[[int, int], object], height: int) -> None:
        super().__init__(
            states=[[state, SIGNS[state], MEANINGS[state]] for state in STATES], height=height
        )
        self._on_open = on_open

    def fill(self, board: Board) -> None:
        """Fill the table with a board."""
        reasons: dict[str, int] = {}
        rows, why = [], {}
        for r, code in enumerate(board.codes):
            row = ""
            for c, lang in enumerate(board.languages):
                cell = board[code, lang]
                row += str(STATES.index(cell.state))
                if cell.reasons:
                    reason = cut(cell.reason, _MAX_REASON_LENGTH)
                    why[f"{r},{c}"] = reasons.setdefault(reason, len(reasons))
            rows.append(row)
        with self.hold_sync(), self.hold_trait_notifications():
            self.codes = [cut(code, _MAX_CODE_LENGTH) for code in board.codes]
            self.languages = [
                [cut(lang, 20), cut(language.name(lang), 40)] for lang in board.languages
            ]
            self.cells, self.reasons, self.why = rows, list(reasons), why

    def _receive(self, message: Any) -> None:
        match message:
            case {"open": [int(r), int(c)]} if 0 <= r < len(self.codes) and 0 <= c < len(
                self.languages
            ):
                self._on_open(r, c)


class BoardGrid(Panel):
    """Templates × languages with the state of each content; Enter or a click opens its form.

    The API has no list of templates, so their codes are given, or remembered.

    In a program: `edit(code, lang_code)` returns the form, `refresh()` reads all anew.

    Args:
        templates: The templates of a client: `client.templates`.
        codes: The codes of the templates to show, or a file of them; without them those
            remembered.
        source: The language that the others are translated from.
        languages: Languages to show although no template has them yet.
        height: How high the table may become, in pixels.

    Raises:
        InputError: No code is named.

    >>> chatkit.widgets.BoardGrid(client.templates, ["order_ready"])
    <board: 1 template × 8 languages: 1 live, 7 unknown.>
    """

    def __init__(
        self,
        templates: Templates,
        codes: Codes | None = None,
        source: str = "en",
        *,
        languages: Iterable[str] = (),
        height: int = 480,
    ) -> None:
        self._templates, self._source = templates, source
        self._codes = None if codes is None else template_codes(codes)
        self._languages = list(languages)
        self.board = self._read_board()  #: the states that are shown
        self.form: ContentForm | None = None  #: the form of the cell that was opened last
        self._forms: dict[tuple[str, str], ContentForm] = {}
        self._table = BoardTable(
            lambda r, c: self._page.attempt(
                self.edit, self.board.codes[r], self.board.languages[c]
            ),
            height,
        )
        self._table.fill(self.board)
        super().__init__([self._table, self._page], "bd-boardgrid")

    def _read_board(self) -> Board:
        return self._templates.board(self._codes, self._source, languages=self._languages)

    def refresh(self) -> Board:
        """Read all contents anew and show their states."""
        self.board = self._read_board()
        self._table.fill(self.board)
        return self.board

    def edit(self, template_code: str, lang_code: str) -> ContentForm:
        """Open the form of a content below the table; one that is missing is begun there.

        Raises:
            InputError: The board has no such template or language.
        """
        try:
            cell = self.board[template_code, lang_code]
        except KeyError:
            message = (
                f"There is no {template_code} in {lang_code}: board.frame() lists the contents."
            )
            raise InputError(message) from None
        lang = language.normalize(cell.lang_code)
        self._forms = {key: form for key, form in self._forms.items() if form.touched}
        form = self._forms.get((template_code, lang))
        if form is None:
            resource = self._templates(template_code)
            form = ContentForm(resource, cell.lang_code, self._source, saved=self._refresh_states)
            self._forms[template_code, lang] = form
        self.form = form
        columns = list(map(language.normalize, self.board.languages))
        self._table.opened = [self.board.codes.index(template_code), columns.index(lang)]
        others = [
            f"{cut(code, 40)} in {lang}"
            for code, lang in self.unsaved
            if form is not self._forms[code, lang]
        ]
        self._page.status.write(f"Not saved yet: {', '.join(others)}." if others else "")
        self._page.show_in(self._page.below, form)
        form.focus()
        return form

    @property
    def unsaved(self) -> list[tuple[str, str]]:
        """The contents with edits that are not saved; their forms keep them."""
        return [place for place, form in self._forms.items() if form.touched]

    def _refresh_states(self) -> None:
        """Show the states again after a form was saved."""
        try:
            self.refresh()
        except ChatkitError as error:
            self._page.report(f"The board cannot be read again: {error}", wrong=True)

    @safe_repr
    def __repr__(self) -> str:
        return f"<board: {format_heading(self.board)}>"

    def _make_saved_page(self) -> str:
        return self.board._repr_html_()
