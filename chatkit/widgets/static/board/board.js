// A table of states: one element a cell, one cell in the order of the tab key.
const DENSE = 10; // languages from which on a cell has room for its sign only
const KINDS = ["live", "draft", "stale", "unknown", "broken", "missing"];
function render({ model, el }) {
  const root = make(el, "div", "bd-board");
  const bar = make(root, "div", "bd-bar chatkit-sticky");
  bar.role = "group";
  bar.setAttribute("aria-label", "Show templates that have");
  const pane = make(root, "div", "bd-pane");
  const side = showMore(pane, make(root, "div", "bd-more"));
  const about = make(root, "div", "bd-about");
  about.setAttribute("aria-live", "polite");
  let cells = [], at = [0, 0], chosen = [];
  const get = (name) => model.get(name);
  const state = (r, c) => Number(get("cells")[r][c]);
  const fits = (r, c) => !chosen.length || chosen.includes(state(r, c));
  const isVisible = (r) => cells[r] && !cells[r][0].parentElement.hidden;
  const whose = (r, c) => `${get("codes")[r]}, ${get("languages")[c][1]}`;
  const why = (r, c) => get("reasons")[get("why")[`${r},${c}`]] ?? "";

  const describe = () => {
    const [r, c] = at;
    about.replaceChildren();
    if (!isVisible(r)) return void (about.textContent = cells.length ? "No template has that." : "No templates.");
    const [word, sign] = get("states")[state(r, c)];
    make(about, "strong", "", `${sign} ${word}`);
    make(about, "bdi", "", whose(r, c));
    if (why(r, c)) make(about, "span", "", why(r, c)).dir = "auto";
    make(about, "em", "", word === "missing" ? "Enter begins it" : "Enter opens it");
  };
  const go = (r, c, focus = true) => {
    cells[at[0]]?.[at[1]]?.setAttribute("tabindex", -1);
    at = [r, c];
    const cell = cells[r]?.[c];
    if (!cell) return describe();
    cell.tabIndex = 0;
    if (focus) cell.focus();
    describe();
  };
  // The next template that is shown, from row r in steps of one, at most n of them.
  const step = (r, way, n = 1) => {
    let last = r;
    for (let next = r + way; next >= 0 && next < cells.length && n; next += way) {
      if (isVisible(next)) { last = next; n--; }
    }
    return last;
  };
  const paint = () => {
    const counts = get("states").map(() => 0);
    for (const row of get("cells")) for (const one of row) counts[one]++;
    bar.replaceChildren();
    const all = counts.reduce((sum, one) => sum + one, 0);
    const button = (label, on, act, kind) => {
      const made = make(bar, "button", `chatkit-button small ${kind}`);
      made.append(...label);
      made.setAttribute("aria-pressed", on);
      made.onclick = () => { act(); [...bar.children].find((one) => one.dataset.key === made.dataset.key)?.focus(); };
      made.dataset.key = kind;
      return made;
    };
    const choose = (only) => { model.set("only", only); model.save_changes(); };
    button([`All ${all.toLocaleString("en")}`], !chosen.length, () => choose([]), "all");
    get("states").forEach(([word, sign, meaning], n) => {
      if (!counts[n] && !chosen.includes(n)) return;
      const key = make(null, "i", KINDS[n], sign);
      key.ariaHidden = "true";
      const flip = () => choose(chosen.includes(n) ? chosen.filter((one) => one !== n) : [...chosen, n]);
      button([key, `${word} ${counts[n].toLocaleString("en")}`], chosen.includes(n), flip, KINDS[n]).title = meaning;
    });
  };
  const filter = () => {
    chosen = get("only");
    cells.forEach((row, r) => {
      let any = !row.length;
      row.forEach((cell, c) => {
        const fit = fits(r, c);
        cell.classList.toggle("bd-quiet", !fit);
        any ||= fit;
      });
      row[0] && (row[0].parentElement.hidden = !any);
    });
    paint();
    if (!isVisible(at[0])) {
      const first = cells.findIndex((_, r) => isVisible(r));
      return first < 0 ? describe() : go(first, at[1], false);
    }
    describe();
  };
  const mark = () => {
    pane.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", false);
    const [r, c] = get("opened");
    const cell = cells[r]?.[c];
    if (!cell) return;
    cell.setAttribute("aria-selected", true);
    if (!cell.contains(document.activeElement)) go(r, c, false);
  };
  const draw = () => {
    const focused = pane.contains(document.activeElement);
    const { scrollLeft, scrollTop } = pane;
    const languages = get("languages"), dense = languages.length > DENSE;
    const table = make(null, "div", dense ? "bd-dense" : "");
    table.role = "grid";
    table.setAttribute("aria-label", "Templates and languages");
    table.setAttribute("aria-readonly", true);
    const width = Math.min(Math.max(8, ...get("codes").map((code) => code.length)), 32);
    const wide = dense ? "42px" : "92px";
    table.style.setProperty("--bd-columns", `calc(${width * 1.12}ch + 22px) repeat(${languages.length}, ${wide})`);
    const line = (name) => {
      const row = make(table, "div", name);
      row.role = "row";
      return row;
    };
    const heading = (row, role, name, text) => {
      const cell = make(row, "div", name);
      cell.role = role;
      make(cell, "bdi", "", text);
      return cell;
    };
    const head = line("bd-head");
    heading(head, "columnheader", "bd-name", "template");
    for (const [code, name] of languages) {
      const cell = heading(head, "columnheader", "", code);
      cell.title = name;
      if (!dense && name !== code) make(cell, "small", "", name);
    }
    cells = get("codes").map((code, r) => {
      const row = line("bd-row");
      heading(row, "rowheader", "bd-name", code).title = code;
      return languages.map((_, c) => {
        const [word, sign] = get("states")[state(r, c)];
        const cell = make(row, "div", `bd-cell ${KINDS[state(r, c)]}`);
        make(cell, "b", "", sign).ariaHidden = "true";
        make(cell, "span", dense ? "bd-heard" : "", word);
        cell.role = "gridcell";
        cell.tabIndex = -1;
        return cell;
      });
    });
    pane.replaceChildren(table);
    pane.style.maxHeight = `${get("height")}px`;
    pane.scrollTo(scrollLeft, scrollTop);
    at = [Math.min(at[0], Math.max(cells.length - 1, 0)), Math.min(at[1], Math.max(languages.length - 1, 0))];
    filter();
    mark();
    go(at[0], at[1], focused);
    side.look();
  };
  const find = (target) => {
    const cell = target.closest?.(".bd-cell");
    const r = cell ? cells.findIndex((row) => row[0]?.parentElement === cell.parentElement) : -1;
    return r < 0 ? null : [r, cells[r].indexOf(cell)];
  };
  const open = () => {
    if (isVisible(at[0])) model.send({ open: at });
  };
  pane.onclick = (event) => {
    const place = find(event.target);
    if (place) { go(...place); open(); }
  };
  pane.onmouseover = (event) => {
    const place = find(event.target);
    const cell = place && cells[place[0]][place[1]];
    if (cell && !cell.title) {
      const [word] = get("states")[state(...place)];
      cell.title = [`${whose(...place)}: ${word}`, why(...place)].filter(Boolean).join("\n");
    }
  };
  pane.addEventListener("focusin", (event) => {
    const place = find(event.target);
    if (place && String(place) !== String(at)) go(...place, false);
  });
  root.onkeydown = (event) => {
    if (!find(event.target) || event.altKey) return;
    const [r, c] = at, last = get("languages").length - 1, whole = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowUp: () => go(step(r, -1, whole ? Infinity : 1), c),
      ArrowDown: () => go(step(r, 1, whole ? Infinity : 1), c),
      ArrowLeft: () => go(r, whole ? 0 : Math.max(c - 1, 0)),
      ArrowRight: () => go(r, whole ? last : Math.min(c + 1, last)),
      PageUp: () => go(step(r, -1, 10), c),
      PageDown: () => go(step(r, 1, 10), c),
      Home: () => go(whole ? step(r, -1, Infinity) : r, 0),
      End: () => go(whole ? step(r, 1, Infinity) : r, last),
      Enter: open,
      " ": open,
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  };
  keepKeys(el);
  model.on("change:cells change:height", draw);
  model.on("change:only", filter);
  model.on("change:opened", mark);
  draw();
  return side.end;
}
export default { render: hearing(render) };
