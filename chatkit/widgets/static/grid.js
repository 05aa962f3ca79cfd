// The view of a Grid: it draws pages of rows, and tells what a person did. grid.py decides.
// Sent without its indents and whole-line comments: no text in here may span lines.

const ROW = 28, PAGE = 100, AHEAD = 100, SPARE = 8, LEAST = 48;

function render({ model, el }) {
  const noun = model.get("noun"), state = () => model.get("state");
  const send = (message) => {
    const { renewed, arranged } = state();
    model.send({ ...message, renewed, arranged });
  };

  // --- what there is -----------------------------------------------------------------
  const root = make(el, "div", "gd-grid");
  keepKeys(root);
  const bar = make(root, "div", "gd-bar chatkit-sticky");
  const search = make(bar, "input", "gd-search", {
    type: "search", "aria-label": `Filter ${noun}s`, placeholder: "Filter rows", dir: "auto",
  });
  const only = button(bar, "Edited only", () => filter(true), {
    title: "Show only rows that were edited",
  });
  const which = button(bar, "Columns", () => columnsPanel(grid, which), { "aria-haspopup": "dialog" });
  const more = button(bar, "More", () => morePanel(), { "aria-haspopup": "dialog" });
  make(bar, "span", "gd-space");
  button(bar, "Add row", () => { toEnd = true; send({ do: "add" }); }, {
    title: "Add an empty row at the end",
  });
  const remove = button(bar, "Delete row", () => {
    const { place, rows } = box();
    send({ do: "delete", place, rows, delete: data(at.row)?.m !== "delete" });
  }, { title: "Mark the selected rows to be deleted, or keep them" });
  const back = button(bar, "Undo", () => send({ do: "undo" }), {
    title: "Take the last step back (Ctrl+Z)",
  });
  const again = button(bar, "Redo", () => send({ do: "redo" }), { title: "Do it again (Ctrl+Y)" });
  button(bar, "Review changes", () => send({ do: "review" }), {
    class: "chatkit-button small primary", title: "Show below what would be sent; nothing is sent yet",
  });
  const table = make(root, "div", "gd-table", {
    role: "grid", "aria-label": `${noun}s`, "aria-multiselectable": true,
    style: `max-height: ${model.get("height")}px`,
  });
  const head = make(table, "div", "gd-row gd-head", { role: "row", "aria-rowindex": 1 });
  const body = make(table, "div", "gd-body", { role: "rowgroup" });
  const foot = make(root, "div", "gd-foot");
  const status = make(foot, "span", "", { role: "status" });
  const all = button(foot, "Show all rows", () => { search.value = ""; send({ do: "filter" }); });
  const side = showMore(table, make(foot, "span", "gd-side"));
  const why = make(foot, "span", "", { "aria-live": "polite", dir: "auto" });
  const keeps = ["theirs", "mine"].map((keep) => button(foot, `Keep ${keep}`, () => {
    send({ do: "decide", row: data(at.row).n, column: columns[at.column].name, keep });
    go(at.row, at.column);
  }, { hidden: true }));
  const none = make(table, "div", "gd-none", { text: "No row is like that.", hidden: true });

  // `at` is the active cell, -1 the row of headings; `from` is the other corner of a selection
  let at = { row: state().rows ? 0 : -1, column: 0 }, from = null, editing = null, toEnd = false;
  let pages = new Map(), numbers = new Map(), asked = new Set(), shows = state().shows;
  let hint = "Type to edit, paste from a spreadsheet, Ctrl+Z takes back", wanted = false;
  let columns = [], last = 0, heads = [], letter = 0, laid = "", named = "";
  let drag = null; // the column whose edge is drawn, with its width until Python has it
  const drawn = new Map();
  const data = (row) => pages.get(Math.floor(row / PAGE))?.[row % PAGE];
  const note = (text) => { hint = text; soon(); };
  const box = () => {
    const other = from ?? at, place = Math.max(0, Math.min(at.row, other.row));
    const left = Math.min(at.column, other.column), right = Math.max(at.column, other.column);
    const rows = Math.max(at.row, other.row) - place + 1;
    return { place, left, rows, wide: right - left + 1 };
  };
  const chosen = () => {
    const { place, rows, left, wide } = box();
    return { place, rows, columns: columns.slice(left, left + wide).map(({ name }) => name) };
  };
  const closed = (row, { label, fixed, closed: never }) => {
    const reason = row.m === "new" ? never : fixed;
    return reason && `${label} ${reason}`;
  };
  const kind = (n) =>
    `gd-cell${columns[n].kind === "number" ? " gd-number" : ""}${n ? "" : " gd-first"}`;

  // --- columns -----------------------------------------------------------------------
  const widths = () => model.get("column_layout");
  const grid = {
    root, send, state, answers: {},
    all: () => model.get("columns"),
    visible: () => widths().map(([name]) => name),
    open: () => grid.all().filter((c) => c.kind === "text" && !(c.fixed && c.closed)),
    focus: (name) => go(-1, columns.findIndex((column) => column.name === name)),
    lay: (layout) => send({ do: "layout", layout }),
    show: (name, on) => grid.lay(on ? [...widths(), [name, 0]] : widths().filter((c) => c[0] !== name)),
    move: (name, by) => {
      const layout = [...widths()], n = layout.findIndex((column) => column[0] === name);
      layout.splice(clamp(n + by, 0, last), 0, ...layout.splice(n, 1));
      grid.lay(layout);
    },
    fit: (name) => {
      const { n, label } = columns.find((column) => column.name === name);
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = getComputedStyle(table).font;
      const texts = [...pages.values()].flat().map((row) => String(row.e?.[n]?.[0] ?? row.v[n] ?? ""));
      const wide = Math.max(...[`${label} ⋮ ▾`, ...texts].map((text) => pen.measureText(text).width));
      grid.lay(widths().map((c) => (c[0] === name ? [name, clamp(Math.ceil(wide * 1.05) + 20, LEAST, 900)] : c)));
    },
    widen: (name, by) => {
      const wide = heads[columns.findIndex((column) => column.name === name)].offsetWidth;
      grid.lay(widths().map((c) => (c[0] === name ? [name, Math.max(LEAST, wide + by)] : c)));
    },
  };
  // Room that is left goes to the texts whose width nobody has chosen.
  const stretch = () => {
    if (!letter) {
      const probe = make(root, "span", "gd-probe", { text: "0".repeat(20) });
      letter = probe.offsetWidth / 20;
      probe.remove();
    }
    const usual = columns.map((c) => c.px || Math.round(c.wide * letter) + 34);
    const resized = columns.findIndex(({ name }) => name === drag?.name);
    if (resized >= 0) usual[resized] = Math.max(LEAST, drag.wide);
    const grows = columns.map((c, n) =>
      (c.px || n === resized || !["text", "json"].includes(c.kind) ? 0 : usual[n]));
    const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
    const spare = Math.max(0, table.clientWidth - sum(usual)), parts = sum(grows) || 1;
    const pixels = usual.map((wide, n) => `${Math.floor(wide + (spare * grows[n]) / parts)}px`);
    if (pixels.join(" ") === laid) return;
    laid = pixels.join(" ");
    root.style.setProperty("--gd-columns", laid);
    side.look();
  };
  const build = () => {
    const known = new Map(model.get("columns").map((column, n) => [column.name, { ...column, n }]));
    columns = widths().filter(([name]) => known.has(name))
      .map(([name, px]) => ({ ...known.get(name), px }));
    last = columns.length - 1;
    const hidden = known.size - columns.length;
    which.textContent = hidden ? `Columns (${hidden} hidden)` : "Columns";
    const before = named;
    named = JSON.stringify(columns.map(({ px, wide, ...column }) => column));
    if (named === before) { // other widths alone: headings stay, one may be drawn at just now
      if (!drag?.held) drag = null;
      from = null;
      return draw();
    }
    drag = null;
    const focused = table.contains(document.activeElement);
    drawn.forEach((row) => row.remove());
    drawn.clear();
    head.replaceChildren();
    heads = columns.map(heading);
    table.setAttribute("aria-colcount", columns.length);
    at.column = clamp(at.column, 0, last);
    from = null;
    if (focused) go(at.row, at.column); else draw();
  };
  const heading = ({ name, label, fixed }, n) => {
    const cell = make(head, "div", kind(n) + (fixed ? " gd-fixed" : ""), {
      role: "columnheader", "aria-colindex": n + 1, "aria-label": label, draggable: true,
      title: `${name}${fixed ? ` ${fixed}` : ""}. Enter sorts, Space opens the options`,
      onclick: () => { go(-1, n); sort(n); },
      ondragstart: (event) => (drag?.held ? event.preventDefault() : event.dataTransfer.setData("gd", n)),
      ondragover: (event) => { if (event.dataTransfer.types.includes("gd")) event.preventDefault(); },
      ondrop: (event) => {
        event.preventDefault();
        const moved = +event.dataTransfer.getData("gd");
        grid.move(columns[moved].name, n - moved);
      },
    });
    make(cell, "span", "gd-name", { text: label });
    make(cell, "span", "gd-mark", { "aria-hidden": true });
    button(cell, "", (event) => { event.stopPropagation(); options(n); }, {
      class: "gd-options", tabindex: -1, "aria-label": `Options of ${label}`,
    });
    const edge = make(cell, "span", "gd-edge", {
      onclick: (event) => event.stopPropagation(), ondblclick: () => grid.fit(name), title: "Double click fits it to its texts",
    });
    edge.onpointerdown = (event) => {
      const start = cell.offsetWidth - event.clientX;
      drag = { name, wide: cell.offsetWidth, held: true };
      edge.setPointerCapture(event.pointerId);
      edge.onpointermove = (moved) => {
        if (drag?.held) drag.wide = start + moved.clientX;
        stretch();
      };
      edge.onlostpointercapture = () => {
        if (drag) drag.held = false;
        edge.onpointermove = null;
        grid.widen(name, 0);
      };
    };
    return cell;
  };
  const options = (n) => { go(-1, n); columnPanel(grid, heads[n], columns[n]); };
  const morePanel = () => panel(root, more, "More", (menu, close) => {
    const item = (text, act) => button(menu, text, () => { close(); act(); });
    item("Copy with headings", () => copied(true));
    item("Find and replace …", () => replacePanel(grid, more));
  });

  // --- drawing -----------------------------------------------------------------------
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
    const mark = data(place)?.m, b = box(), picked = place >= b.place && place < b.place + b.rows;
    set(row, { class: `gd-row${mark ? ` gd-${mark}` : ""}` });
    columns.forEach((_, n) =>
      drawCell(row.children[n], data(place), n, place === at.row && n === at.column,
        picked && n >= b.left && n < b.left + b.wide));
  };

  const drawCell = (cell, row, place, active, picked) => {
    const column = columns[place], { n } = column;
    const refused = row?.e?.[n], changed = row?.c?.includes(n), locked = row && closed(row, column);
    const value = row ? refused?.[0] ?? row.v[n] : "…", flag = typeof value === "boolean";
    const contested = row?.k?.includes(n);
    const classes = { changed, refused: refused && !contested, conflict: contested, fixed: locked, chosen: picked, active };
    const names = Object.keys(classes).filter((name) => classes[name]).map((name) => ` gd-${name}`);
    const held = `The cell still holds ${row?.v[n] ?? "nothing"}`;
    const marks = [row?.m === "delete" && "to be deleted", changed && "changed"].filter(Boolean);
    set(cell, {
      class: kind(place) + names.join(""),
      text: flag ? (value ? "✓ true" : "✗ false") : (value ?? "").replaceAll("\n", " ↵ "),
      title: refused ? `${refused[1]}\n${held}` : String(value ?? ""),
      tabindex: active ? 0 : -1, "aria-selected": Boolean(picked), "aria-readonly": Boolean(locked),
      "aria-invalid": refused ? true : null,
      "aria-description": refused ? `${contested ? "in conflict" : "refused"}: ${refused[1]}. ${held}` : marks.join(", ") || null,
    });
  };

  const draw = () => {
    wanted = false;
    const now = state(), end = now.rows - 1, [name, down] = now.sort;
    const { text: looked, changed: edited, ...byColumn } = now.filter;
    const names = Object.values(byColumn).flatMap(Object.keys);
    if (table.clientWidth) stretch();
    body.style.height = `${now.rows * ROW}px`;
    table.style.minHeight = `${Math.min(model.get("height"), (now.of + 1) * ROW + 2)}px`; // whatever is looked for
    none.hidden = now.rows || !now.of;
    const top = Math.max(0, Math.floor(table.scrollTop / ROW) - SPARE);
    const low = Math.min(end, top + Math.ceil(table.clientHeight / ROW) + 2 * SPARE);
    need(top, low);
    need(Math.max(0, top - AHEAD), Math.min(end, low + AHEAD)); // before they are scrolled to
    for (const [place, row] of drawn) { // the active row stays: it may have the focus
      if ((place >= top && place <= low) || (place === at.row && place <= end)) continue;
      row.remove();
      drawn.delete(place);
    }
    for (let place = top; place <= low; place++) drawRow(place);
    if (drawn.has(at.row)) drawRow(at.row);
    heads.forEach((cell, n) => {
      const mine = columns[n].name, sorted = mine === name, filtered = names.includes(mine);
      cell.classList.toggle("gd-filtered", filtered);
      set(cell, {
        "aria-sort": sorted ? (down ? "descending" : "ascending") : "none",
        "aria-description": filtered ? "filtered" : null,
        tabindex: at.row < 0 && at.column === n ? 0 : -1,
      });
      set(cell.querySelector(".gd-mark"), { text: sorted ? (down ? " ▾" : " ▴") : "" });
    });
    const row = data(at.row), reason = row?.e?.[columns[at.column]?.n]?.[1];
    const contested = row?.k?.includes(columns[at.column]?.n);
    const text = hint || (reason ? `${contested ? "In conflict" : "Refused"}: ${reason}` : "");
    for (const keep of keeps) keep.hidden = !contested;
    const rows = now.rows === now.of ? "" : `${count(now.rows)} of `;
    set(status, { text: rows + count(now.of, "row") + (now.edits && ` · ${now.edits}`) });
    set(why, { class: /^(Refused|In conflict)/.test(text) ? "gd-bad" : null, text });
    set(table, { "aria-rowcount": now.rows + 1 });
    set(only, { "aria-pressed": edited });
    set(all, { hidden: !(looked || edited || names.length) });
    back.disabled = !now.undo;
    again.disabled = !now.redo;
    set(remove, { text: row?.m === "delete" ? "Restore row" : "Delete row", disabled: at.row < 0 });
  };
  const soon = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

  // --- rows come page by page ----------------------------------------------------------
  // Ask for the pages of these rows; tell whether all are there.
  const need = (top, low) => {
    let whole = true;
    for (let page = Math.floor(top / PAGE); page <= Math.floor(low / PAGE) && low >= 0; page++) {
      whole &&= pages.has(page);
      if (!asked.has(page)) { asked.add(page); send({ do: "page", page, shows }); }
    }
    return whole;
  };
  const hear = (message) => {
    if (message.note) note(message.note);
    else if (message.values) grid.answers.values?.(message);
    else if (message.preview) grid.answers.preview?.(message);
    else if (message.whole !== undefined) {
      const here = data(at.row)?.n === message.row && columns[at.column].name === message.column;
      if (here) edit(undefined, message.whole);
    } else if (message.reviewed) note("The changes stand below the table");
    else if (message.page === undefined) message.rows?.forEach((row) =>
      Object.assign(numbers.get(row.n) ?? {}, { c: null, e: null, k: null, l: null, m: "" }, row));
    else if (message.shows === shows) {
      if (hint === busy) hint = "";
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
    if (document.activeElement !== search) search.value = now.filter.text;
    const focused = table.contains(document.activeElement);
    if (at.row >= now.rows) { at.row = now.rows - 1; from = null; }
    draw();
    if (toEnd) go(now.rows - 1, firstOpen());
    else if (focused && !table.contains(document.activeElement)) go(at.row, at.column);
    toEnd = false;
  };
  const busy = "No rows yet: is the kernel busy?";
  setTimeout(() => pages.size || !state().rows || note(busy), 8000);

  // --- moving and editing --------------------------------------------------------------
  const go = (row, column, extend = false) => {
    from = extend ? from ?? { ...at } : null;
    at = { row: clamp(row, extend ? 0 : -1, state().rows - 1), column: clamp(column, 0, last) };
    hint = "";
    const top = at.row * ROW, space = table.clientHeight - head.offsetHeight - ROW;
    if (at.row >= 0) table.scrollTop = clamp(table.scrollTop, top - space, top);
    draw();
    const cell = at.row < 0 ? heads[at.column] : drawn.get(at.row)?.children[at.column];
    cell?.focus({ preventScroll: true });
    if (!cell) return;
    const start = cell.offsetLeft, right = start + cell.offsetWidth - table.clientWidth;
    const left = start - heads[0].offsetWidth; // the first column stays in view
    table.scrollLeft = at.column && clamp(table.scrollLeft, right, left);
  };
  const firstOpen = () => Math.max(0, columns.findIndex((column) => !column.closed));
  // The next cell of a row that can be written, or -1.
  const nextOpen = (row, n, step) => {
    for (n += step; columns[n]; n += step) if (row && !closed(row, columns[n])) return n;
    return -1;
  };
  const sort = (n) => {
    const [name, down] = state().sort, mine = columns[n].name, other = name !== mine;
    send({ do: "sort", column: other || !down ? mine : null, descending: !other && !down });
  };
  const filter = (flip = false) => {
    table.scrollTop = 0;
    const wanted = state().filter;
    send({ do: "filter", ...wanted, text: search.value, changed: wanted.changed !== flip });
  };
  const may = (row) => {
    const locked = row && closed(row, columns[at.column]);
    if (locked) note(locked);
    return row && !locked;
  };
  const edit = (first, whole) => {
    const row = data(at.row), cell = drawn.get(at.row)?.children[at.column];
    const { n, name, label } = columns[at.column];
    if (editing || !cell || !may(row)) return;
    if (first === undefined && whole === undefined && !row.e?.[n] && row.l?.includes(n))
      return send({ do: "whole", row: row.n, column: name });
    const text = whole ?? row.e?.[n]?.[0] ?? row.v[n] ?? "";
    editing = { row: row.n, n, name, ...editor(root, cell, label, String(text), { first, end }) };
  };
  const end = (take, down, right) => {
    close(take);
    if (right) {
      const n = nextOpen(data(at.row), at.column, right);
      if (n >= 0) return go(at.row, n);
      const row = at.row + right, start = right > 0 ? -1 : columns.length;
      if (row >= 0 && row < state().rows) return go(row, Math.max(0, nextOpen(data(row), start, right)));
    }
    if (down !== undefined) go(at.row + down, at.column);
  };
  const close = (take) => {
    if (!editing) return;
    const { input, was, row, n, name, close } = editing, { value } = input;
    editing = null;
    close();
    if (take && value !== was) {
      const cached = numbers.get(row);
      if (cached) { cached.v[n] = value; delete cached.e?.[n]; } // until the answer comes
      send({ do: "set", row, column: name, value });
    }
    soon();
  };

  // --- the keyboard, the mouse, the clipboard --------------------------------------------
  table.addEventListener("keydown", (event) => {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event, command = ctrlKey || metaKey;
    const { row, column } = at, low = state().rows - 1, letter = key.toLowerCase();
    const tall = Math.max(1, Math.floor(table.clientHeight / ROW) - 2), here = data(row);
    const place = {
      ArrowUp: [command ? 0 : row - 1, column], ArrowDown: [command ? low : row + 1, column],
      ArrowLeft: [row, command ? 0 : column - 1], ArrowRight: [row, command ? last : column + 1],
      PageUp: [Math.max(0, row - tall), column], PageDown: [row + tall, column],
      Home: [command ? 0 : row, 0], End: [command ? low : row, last],
    }[key];
    const { n, name, kind } = columns[column];
    if (event.getModifierState("AltGraph") && key.length === 1) edit(key); // @, on many keyboards
    else if (row < 0 && (key === " " || (altKey && key === "ArrowDown"))) options(column);
    else if (altKey) return;
    else if (key === "Tab" && here?.m === "new") {
      const next = nextOpen(here, column, shiftKey ? -1 : 1);
      if (next < 0) return;
      go(row, next);
    } else if (place) go(...place, shiftKey);
    else if (command && letter === "a") { go(0, 0); from = { row: low, column: last }; soon(); }
    else if (command && letter === "z") send({ do: shiftKey ? "redo" : "undo" });
    else if (command && letter === "y") send({ do: "redo" });
    else if (command) return;
    else if (row < 0) { if (key === "Enter") sort(column); else return; }
    else if (key === "Enter" || key === "F2") edit();
    else if (key === " " && kind === "flag") {
      if (may(here)) send({ do: "set", row: here.n, column: name, value: here.v[n] !== true });
    } else if (key === "Escape") {
      if (here?.e?.[n]) send({ do: "dismiss", row: here.n, column: name });
      go(row, column);
    } else if (key === "Delete" || key === "Backspace") send({ do: "clear", ...chosen() });
    else if (key === "Process") return edit(""); // an input method begins to compose
    else if (key.length === 1) edit(key);
    else return;
    event.preventDefault();
  });

  const placed = ({ target }) => {
    const cell = target.closest("[data-row]");
    return cell && [+cell.dataset.row, +cell.dataset.column];
  };
  body.addEventListener("mousedown", (event) => {
    const place = event.button === 0 && placed(event);
    if (!place) return;
    event.preventDefault();
    close(true);
    go(...place, event.shiftKey);
    // A selection that is drawn beyond an edge goes on there until the button is let go.
    let pulling = 0;
    const pull = ({ clientX, clientY }) => {
      const { top, bottom, left, right } = table.getBoundingClientRect();
      const down = clientY > bottom ? 1 : clientY < top + head.offsetHeight ? -1 : 0;
      const aside = clientX > right ? 1 : clientX < left ? -1 : 0;
      clearInterval(pulling);
      if (down || aside) pulling = setInterval(() => go(at.row + down, at.column + aside, true), 50);
    };
    document.addEventListener("mousemove", pull);
    document.addEventListener("mouseup", () => {
      clearInterval(pulling);
      document.removeEventListener("mousemove", pull);
    }, { once: true });
  });
  body.addEventListener("mousemove", (event) => {
    const place = event.buttons === 1 && body.contains(document.activeElement) && placed(event);
    if (place && !editing && (place[0] !== at.row || place[1] !== at.column)) go(...place, true);
  });
  body.addEventListener("dblclick", (event) => { if (placed(event)) edit(); });

  const quoted = (value) => {
    const text = String(value ?? "");
    return /[\t\r\n]|^"/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  // Writes what is selected into the clipboard: that of an event, or else of the browser.
  const copied = (headings, clipboard) => {
    const { place, left, rows, wide } = box(), picked = columns.slice(left, left + wide);
    if (rows < 1) return;
    if (!need(place, place + rows - 1)) return note("Rows are being fetched: copy again in a moment");
    const lines = headings ? [picked.map(({ name }) => quoted(name)).join("\t")] : [];
    for (let n = place; n < place + rows; n++) {
      const row = data(n);
      lines.push(picked.map((column) => quoted(row.e?.[column.n]?.[0] ?? row.v[column.n])).join("\t"));
    }
    const text = lines.join("\n") + (lines.length > 1 ? "\n" : "");
    const done = () => note(`Copied ${count(rows * wide, "cell")}${headings ? " with headings" : ""}`);
    if (clipboard) { clipboard.setData("text/plain", text); return done(); }
    const refused = () => note("The browser does not let this page copy");
    (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(done, refused);
  };
  table.addEventListener("copy", (event) => {
    if (at.row < 0) return;
    event.preventDefault();
    copied(false, event.clipboardData);
  });
  table.addEventListener("paste", (event) => {
    const none = !state().rows; // rows are made: there is no cell to begin with yet
    if (at.row < 0 && !none) return;
    event.preventDefault();
    const { place, left, rows, wide } = none ? { place: 0, left: firstOpen(), rows: 1, wide: 1 } : box();
    const names = columns.slice(left).map(({ name }) => name);
    const text = event.clipboardData.getData("text/plain");
    send({ do: "paste", place, columns: names, text, rows, wide });
  });

  search.oninput = later(() => filter());
  table.onscroll = soon;
  const sized = new ResizeObserver(soon);
  sized.observe(table);
  model.on("msg:custom", hear);
  model.on("change:state", changed);
  model.on("change:column_layout", build);
  model.on("change:columns", build);
  build();
  return () => {
    close(false);
    sized.disconnect();
    side.end();
  };
}

export default { render: hearing(render) };
