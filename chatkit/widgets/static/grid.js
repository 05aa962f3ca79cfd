// The view of a Grid: it draws pages of rows, and tells what a person did. grid.py decides.
// Sent without its indents and whole-line comments: no text in here may span lines.

const ROW = 28, PAGE = 100, SPARE = 8;

const set = (element, values) => {
  for (const [name, value] of Object.entries(values)) {
    if (name === "text") { if (element.textContent !== value) element.textContent = value; }
    else if (name.startsWith("on")) element[name] = value;
    else if (value === null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
};
const make = (parent, tag, name, values = {}) => {
  const made = set(document.createElement(tag), { class: name, ...values });
  parent?.append(made);
  return made;
};
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const count = (n, noun) => n.toLocaleString("en") + (noun ? ` ${noun}${n === 1 ? "" : "s"}` : "");

function render({ model, el }) {
  const columns = model.get("columns"), last = columns.length - 1, noun = model.get("noun");
  const state = () => model.get("state"), tell = (message) => model.send(message);

  // --- what there is -----------------------------------------------------------------
  const root = make(el, "div", "gd-grid");
  keepKeys(root);
  const bar = make(root, "div", "gd-bar");
  const search = make(bar, "input", "gd-search", {
    type: "search", "aria-label": `Filter ${noun}s`, placeholder: "Filter rows", dir: "auto",
  });
  const button = (text, title, onclick) =>
    make(bar, "button", "", { type: "button", text, title, onclick });
  const only = button("Edited only", "Show only rows that were edited", () => filter(true));
  make(bar, "span", "gd-space");
  button("Add row", "Add an empty row at the end", () => { toEnd = true; tell({ do: "add" }); });
  const remove = button("Delete row", "Mark the selected rows to be deleted, or keep them", () => {
    const { top, rows: tall } = box();
    tell({ do: "delete", place: top, rows: tall, delete: data(at.row)?.m !== "delete" });
  });
  const back = button("Undo", "Take the last step back (Ctrl+Z)", () => tell({ do: "undo" }));
  const again = button("Redo", "Do it again (Ctrl+Y)", () => tell({ do: "redo" }));
  const table = make(root, "div", "gd-table", {
    role: "grid", "aria-label": `${noun}s`, "aria-multiselectable": true,
    "aria-colcount": columns.length, style: `max-height: ${model.get("height")}px`,
  });
  const head = make(table, "div", "gd-row gd-head", { role: "row", "aria-rowindex": 1 });
  const body = make(table, "div", "gd-body", { role: "rowgroup" });
  const foot = make(root, "div", "gd-foot");
  const said = make(foot, "span", "", { role: "status" });
  const why = make(foot, "span", "", { "aria-live": "polite", dir: "auto" });
  root.style.setProperty("--gd-columns", columns.map((c) => `calc(${c.wide}ch + 22px)`).join(" "));

  // `at` is the active cell, -1 the row of headings; `from` is the other corner of a selection
  let at = { row: state().rows ? 0 : -1, column: 0 }, from = null, editor = null, toEnd = false;
  let pages = new Map(), numbers = new Map(), asked = new Set(), shows = state().shows;
  let told = "Type to edit, paste from a spreadsheet, Ctrl+Z takes back", wanted = false, waiting;
  const drawn = new Map();
  const data = (row) => pages.get(Math.floor(row / PAGE))?.[row % PAGE];
  const note = (text) => { told = text; soon(); };
  const box = () => {
    const other = from ?? at, top = Math.max(0, Math.min(at.row, other.row));
    const left = Math.min(at.column, other.column);
    return {
      top, left, rows: Math.max(at.row, other.row) - top + 1,
      columns: Math.max(at.column, other.column) - left + 1,
    };
  };
  const closed = (row, n) => {
    const { name, fixed, closed: never } = columns[n], reason = row.m === "new" ? never : fixed;
    if (reason) return `${name} ${reason}`;
    return row.l?.includes(n) ? "This text is too long for a cell: edit it in the frame" : "";
  };
  const kind = (column) =>
    `gd-cell${column.kind === "number" ? " gd-number" : ""}${column.head ? " gd-first" : ""}`;

  // --- drawing -----------------------------------------------------------------------
  const heads = columns.map((column, n) => {
    const cell = make(head, "div", kind(column) + (column.fixed ? " gd-fixed" : ""), {
      role: "columnheader", "aria-colindex": n + 1,
      title: column.fixed ? `${column.name} ${column.fixed}` : "Click to sort",
      onclick: () => { go(-1, n); sort(n); },
    });
    make(cell, "span", "", { text: column.name || "row" });
    make(cell, "span", "", { "aria-hidden": true });
    return cell;
  });

  const drawRow = (place) => {
    let row = drawn.get(place);
    if (!row) {
      row = make(null, "div", "", {
        role: "row", "aria-rowindex": place + 2, style: `top: ${place * ROW}px`,
      });
      columns.forEach((_, n) => make(row, "div", "", {
        role: "gridcell", "aria-colindex": n + 1, dir: "auto", "data-row": place, "data-column": n,
      }));
      const below = Math.min(...[...drawn.keys()].filter((n) => n > place));
      body.insertBefore(row, drawn.get(below) ?? null); // a reader hears them in their order
      drawn.set(place, row);
    }
    const mark = data(place)?.m, b = box(), picked = place >= b.top && place < b.top + b.rows;
    set(row, { class: `gd-row${mark ? ` gd-${mark}` : ""}` });
    columns.forEach((_, n) =>
      drawCell(row.children[n], data(place), n, place === at.row && n === at.column,
        picked && n >= b.left && n < b.left + b.columns));
  };

  const drawCell = (cell, row, n, active, picked) => {
    if (editor?.cell === cell) return;
    const refused = row?.e?.[n], changed = row?.c?.includes(n), locked = row && closed(row, n);
    const value = row ? refused?.[0] ?? row.v[n] : "…", flag = typeof value === "boolean";
    const classes = { changed, refused, fixed: locked, chosen: picked, active };
    const names = Object.keys(classes).filter((name) => classes[name]).map((name) => ` gd-${name}`);
    const held = `The cell still holds ${row?.v[n] ?? "nothing"}`;
    const marks = [row?.m === "delete" && "to be deleted", changed && "changed"].filter(Boolean);
    set(cell, {
      class: kind(columns[n]) + names.join(""),
      text: flag ? (value ? "✓ true" : "✗ false") : (value ?? "").replaceAll("\n", " ↵ "),
      title: refused ? `${refused[1]}\n${held}` : String(value ?? ""),
      tabindex: active ? 0 : -1, "aria-selected": Boolean(picked), "aria-readonly": Boolean(locked),
      "aria-invalid": refused ? true : null,
      "aria-description": refused ? `refused: ${refused[1]}. ${held}` : marks.join(", ") || null,
    });
  };

  const draw = () => {
    wanted = false;
    const now = state(), end = now.rows - 1, [name, down] = now.sort;
    body.style.height = `${now.rows * ROW}px`;
    const top = Math.max(0, Math.floor(table.scrollTop / ROW) - SPARE);
    const low = Math.min(end, top + Math.ceil(table.clientHeight / ROW) + 2 * SPARE);
    need(top, low);
    for (const [place, row] of drawn) { // the active row stays: it may have the focus
      if ((place >= top && place <= low) || (place === at.row && place <= end)) continue;
      row.remove();
      drawn.delete(place);
    }
    for (let place = top; place <= low; place++) drawRow(place);
    if (drawn.has(at.row)) drawRow(at.row);
    heads.forEach((cell, n) => {
      const sorted = columns[n].name === name;
      set(cell, {
        "aria-sort": sorted ? (down ? "descending" : "ascending") : "none",
        tabindex: at.row < 0 && at.column === n ? 0 : -1,
      });
      set(cell.lastChild, { text: sorted ? (down ? " ▾" : " ▴") : "" });
    });
    const row = data(at.row), reason = row?.e?.[at.column]?.[1];
    const text = told || (reason ? `Refused: ${reason}` : "");
    const rows = now.rows === now.of ? "" : `${count(now.rows)} of `;
    set(said, { text: rows + count(now.of, "row") + (now.said && ` · ${now.said}`) });
    set(why, { class: text.startsWith("Refused") ? "gd-bad" : "", text });
    set(table, { "aria-rowcount": now.rows + 1 });
    set(only, { "aria-pressed": now.changed });
    back.disabled = !now.undo;
    again.disabled = !now.redo;
    set(remove, { text: row?.m === "delete" ? "Keep row" : "Delete row", disabled: at.row < 0 });
  };
  const soon = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

  // --- rows come page by page ----------------------------------------------------------
  // Ask for the pages of these rows; tell whether all are there.
  const need = (top, low) => {
    let whole = true;
    for (let page = Math.floor(top / PAGE); page <= Math.floor(low / PAGE) && low >= 0; page++) {
      whole &&= pages.has(page);
      if (!asked.has(page)) { asked.add(page); tell({ do: "page", page, shows }); }
    }
    return whole;
  };
  const hear = (message) => {
    if (message.told) note(message.told);
    else if (message.page === undefined) message.rows?.forEach((row) =>
      Object.assign(numbers.get(row.n) ?? {}, { c: null, e: null, l: null, m: "" }, row));
    else if (message.shows === shows) {
      pages.set(message.page, message.rows);
      message.rows.forEach((row) => numbers.set(row.n, row));
    }
    soon();
  };
  const changed = () => {
    const now = state();
    if (now.shows === shows) return soon();
    shows = now.shows;
    pages = new Map(); numbers = new Map(); asked = new Set();
    if (document.activeElement !== search) search.value = now.text;
    const focused = table.contains(document.activeElement);
    if (at.row >= now.rows) { at.row = now.rows - 1; from = null; }
    draw();
    if (toEnd) go(now.rows - 1, Math.max(0, columns.findIndex((column) => !column.closed)));
    else if (focused && !table.contains(document.activeElement)) go(at.row, at.column);
    toEnd = false;
  };
  setTimeout(() => pages.size || !state().rows || note("No rows yet: is the kernel busy?"), 8000);

  // --- moving and editing --------------------------------------------------------------
  const go = (row, column, extend = false) => {
    from = extend ? from ?? { ...at } : null;
    at = { row: clamp(row, extend ? 0 : -1, state().rows - 1), column: clamp(column, 0, last) };
    told = "";
    const top = at.row * ROW, room = table.clientHeight - head.offsetHeight - ROW;
    if (at.row >= 0) table.scrollTop = clamp(table.scrollTop, top - room, top);
    draw();
    const cell = at.row < 0 ? heads[at.column] : drawn.get(at.row)?.children[at.column];
    cell?.focus({ preventScroll: true });
    if (!cell) return;
    const start = cell.offsetLeft, right = start + cell.offsetWidth - table.clientWidth;
    const left = start - heads[0].offsetWidth; // the first column stays in view
    table.scrollLeft = at.column && clamp(table.scrollLeft, right, left);
  };
  const sort = (n) => {
    const [name, down] = state().sort, mine = columns[n].name, other = name !== mine;
    tell({ do: "sort", column: other || !down ? mine : null, descending: !other && !down });
  };
  const filter = (flip = false) => {
    table.scrollTop = 0;
    tell({ do: "filter", text: search.value, changed: state().changed !== flip });
  };
  const may = (row) => {
    const locked = row && closed(row, at.column);
    if (locked) note(locked);
    return row && !locked;
  };
  const edit = (first) => {
    const row = data(at.row), cell = drawn.get(at.row)?.children[at.column], { column } = at;
    if (editor || !cell || !may(row)) return;
    cell.textContent = "";
    const input = make(cell, "textarea", "gd-input", {
      rows: 1, spellcheck: "false", "aria-label": columns[column].name, dir: "auto",
    });
    input.value = row.e?.[column]?.[0] ?? row.v[column] ?? "";
    editor = { cell, input, was: input.value, row: row.n, column };
    if (first === undefined) input.select(); else input.value = first;
    input.focus();
    input.onblur = () => close(true);
    input.onkeydown = (event) => {
      if (!goesOn(event)) event.stopPropagation();
      const { key, shiftKey, altKey, isComposing } = event, step = shiftKey ? -1 : 1;
      if (isComposing || !["Enter", "Tab", "Escape"].includes(key)) return;
      event.preventDefault();
      if (key === "Enter" && altKey)
        return input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end");
      close(key !== "Escape");
      go(at.row + (key === "Enter" ? step : 0), at.column + (key === "Tab" ? step : 0));
    };
  };
  const close = (take) => {
    if (!editor) return;
    const { input, was, row, column } = editor, { value } = input;
    editor = null;
    input.remove();
    if (take && value !== was) {
      const shown = numbers.get(row);
      if (shown) { shown.v[column] = value; delete shown.e?.[column]; } // until the answer comes
      tell({ do: "set", row, column, value });
    }
    soon();
  };

  // --- the keyboard, the mouse, the clipboard --------------------------------------------
  table.addEventListener("keydown", (event) => {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event, command = ctrlKey || metaKey;
    const { row, column } = at, end = state().rows - 1, letter = key.toLowerCase();
    const tall = Math.max(1, Math.floor(table.clientHeight / ROW) - 2), here = data(row);
    const place = {
      ArrowUp: [command ? 0 : row - 1, column], ArrowDown: [command ? end : row + 1, column],
      ArrowLeft: [row, command ? 0 : column - 1], ArrowRight: [row, command ? last : column + 1],
      PageUp: [Math.max(0, row - tall), column], PageDown: [row + tall, column],
      Home: [command ? 0 : row, 0], End: [command ? end : row, last],
    }[key];
    if (event.getModifierState("AltGraph") && key.length === 1) edit(key); // @, on many keyboards
    else if (altKey) return;
    else if (place) go(...place, shiftKey);
    else if (command && letter === "a") { go(0, 0); from = { row: end, column: last }; soon(); }
    else if (command && letter === "z") tell({ do: shiftKey ? "redo" : "undo" });
    else if (command && letter === "y") tell({ do: "redo" });
    else if (command) return;
    else if (row < 0) { if (key === "Enter" || key === " ") sort(column); else return; }
    else if (key === "Enter" || key === "F2") edit();
    else if (key === " " && columns[column].kind === "flag") {
      if (may(here)) tell({ do: "set", row: here.n, column, value: here.v[column] !== true });
    } else if (key === "Escape") {
      if (here?.e?.[column]) tell({ do: "dismiss", row: here.n, column });
      go(row, column);
    } else if (key === "Delete" || key === "Backspace") {
      const { top, left, ...size } = box();
      tell({ do: "clear", place: top, column: left, ...size });
    } else if (key === "Process") return edit(""); // an input method begins to compose
    else if (key.length === 1) edit(key);
    else return;
    event.preventDefault();
  });

  const placed = ({ target }) => {
    const cell = target.closest("textarea") ? null : target.closest("[data-row]");
    return cell && [+cell.dataset.row, +cell.dataset.column];
  };
  body.addEventListener("mousedown", (event) => {
    const place = event.button === 0 && placed(event);
    if (!place) return;
    event.preventDefault();
    close(true);
    go(...place, event.shiftKey);
  });
  body.addEventListener("mousemove", (event) => {
    const place = event.buttons === 1 && body.contains(document.activeElement) && placed(event);
    if (place && !editor && (place[0] !== at.row || place[1] !== at.column)) go(...place, true);
  });
  body.addEventListener("dblclick", (event) => { if (placed(event)) edit(); });

  const quoted = (value) => {
    const text = String(value ?? "");
    return /[\t\r\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  table.addEventListener("copy", (event) => {
    if (editor || at.row < 0) return;
    event.preventDefault();
    const { top, left, rows, columns: wide } = box(), lines = [];
    if (!need(top, top + rows - 1)) return note("Rows are being fetched: copy again in a moment");
    for (let place = top; place < top + rows; place++) {
      const row = data(place), texts = row.v.map((value, n) => quoted(row.e?.[n]?.[0] ?? value));
      lines.push(texts.slice(left, left + wide).join("\t"));
    }
    event.clipboardData.setData("text/plain", lines.join("\n") + (rows > 1 ? "\n" : ""));
    note(`Copied ${count(rows * wide, "cell")}`);
  });
  table.addEventListener("paste", (event) => {
    if (editor || at.row < 0) return;
    event.preventDefault();
    const { top, left, ...size } = box(), text = event.clipboardData.getData("text/plain");
    tell({ do: "paste", place: top, column: left, text, ...size });
  });

  search.oninput = () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); };
  table.onscroll = soon;
  const sized = new ResizeObserver(soon);
  sized.observe(table);
  model.on("msg:custom", hear);
  model.on("change:state", changed);
  draw();
  return () => {
    sized.disconnect();
    model.off("msg:custom", hear);
    model.off("change:state", changed);
  };
}

export default { render };
