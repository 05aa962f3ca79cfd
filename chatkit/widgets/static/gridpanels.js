// The panels of a Grid: dialogs over the page, which are made when they are opened.

const set = (element, values) => {
  for (const [name, value] of Object.entries(values)) {
    if (name === "text") { if (element.textContent !== value) element.textContent = value; }
    else if (name.startsWith("on") || name === "checked" || name === "value") element[name] = value;
    else if (value === null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
};
const make = (parent, tag, name, values = {}) => {
  const made = set(document.createElement(tag), { class: name || null, ...values });
  parent?.append(made);
  return made;
};
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const count = (n, noun) => n.toLocaleString("en") + (noun ? ` ${noun}${n === 1 ? "" : "s"}` : "");
const button = (parent, text, onclick, values = {}) =>
  make(parent, "button", "chatkit-button small", { type: "button", text, onclick, ...values });
const field = (parent, text, tag, values) => {
  const label = make(parent, "label", "gd-field", { text });
  return make(label, tag, "", values);
};
const tick = (parent, text, checked, onchange) => {
  const label = make(parent, "label", "gd-tick");
  const box = make(label, "input", "", { type: "checkbox", checked, onchange });
  make(label, "span", "", { text, dir: "auto" });
  return box;
};
const choice = (parent, text, options, values = {}) => {
  const select = field(parent, text, "select", {});
  options.forEach(([value, text]) => make(select, "option", "", { value, text }));
  return set(select, values);
};
const later = (act) => { // waits until somebody has stopped typing
  let waiting;
  return () => { clearTimeout(waiting); waiting = setTimeout(act, 200); };
};

// Puts a box below an element, or above it where there is no room, and always into the window.
const place = (box, anchor, gap = 4) => {
  const { left, top, bottom } = anchor.getBoundingClientRect(), tall = box.offsetHeight;
  const low = bottom + gap + tall <= innerHeight ? bottom + gap : Math.max(4, top - gap - tall);
  box.style.left = `${clamp(left, 4, innerWidth - box.offsetWidth - 4)}px`;
  box.style.top = `${Math.min(low, innerHeight - tall - 4)}px`;
};
// Opens a dialog beside an element, which moves with it and goes out of sight with the grid. Escape and a click elsewhere end it, and the focus goes back.
const panel = (root, anchor, label, fill, back = () => anchor.focus()) => {
  const box = make(root, "div", "gd-panel", { popover: "auto", role: "dialog", "aria-label": label });
  const stay = ({ target }) => target.contains(root) && place(box, anchor);
  const seen = new IntersectionObserver(([{ isIntersecting }]) =>
    box.classList.toggle("gd-away", !isIntersecting));
  box.addEventListener("toggle", ({ newState }) => {
    if (newState !== "closed") return;
    document.removeEventListener("scroll", stay, true);
    seen.disconnect();
    box.remove();
    if (document.activeElement === document.body) back();
  });
  fill(box, () => box.hidePopover());
  box.showPopover();
  place(box, anchor);
  document.addEventListener("scroll", stay, true);
  seen.observe(root);
  box.querySelector("input, select, button").focus();
  return box;
};

// What can be done with one column: filter, move, widen, hide.
const columnPanel = (grid, anchor, { name, label }) => panel(grid.root, anchor, `Column ${label}`, (box, close) => {
  const filter = structuredClone(grid.state().filter);
  const wants = (sort, value) => { // undefined: whatever it is
    filter[sort][name] = value;
    grid.send({ do: "filter", ...filter });
  };
  const contains = field(box, "Contains", "input", { value: filter.contains[name] ?? "", dir: "auto" });
  contains.oninput = later(() => wants("contains", contains.value || undefined));
  const kinds = [["", "any"], ["true", "empty"], ["false", "not empty"]];
  const empty = choice(box, "Cells", kinds, { value: String(filter.empty[name] ?? "") });
  empty.onchange = () => wants("empty", empty.value ? empty.value === "true" : undefined);
  const list = make(box, "fieldset", "gd-values");
  make(list, "legend", "", { text: "Only these values" });
  const ticked = new Set(filter.values[name]);
  grid.answers.values = ({ column, values, others }) => {
    if (column !== name) return;
    const known = new Set(values.map(([text]) => text));
    const more = [...ticked].filter((text) => !known.has(text)).map((text) => [text, 0]);
    for (const [text, n] of [...more, ...values]) {
      tick(list, `${text || "(empty)"} · ${count(n)}`, ticked.has(text), ({ target }) => {
        ticked[target.checked ? "add" : "delete"](text);
        wants("values", ticked.size ? [...ticked] : undefined);
      });
    }
    if (others) make(list, "p", "", { text: `and ${count(others, "other value")}: use Contains` });
    place(box, anchor);
  };
  grid.send({ do: "values", column: name });
  const bar = make(box, "div", "gd-buttons");
  button(bar, "Clear filter", () => {
    close();
    filter.contains[name] = filter.empty[name] = undefined;
    wants("values", undefined);
  });
  button(bar, "Sort A–Z", () => { close(); grid.send({ do: "sort", column: name }); });
  button(bar, "Sort Z–A", () => { close(); grid.send({ do: "sort", column: name, descending: true }); });
  button(bar, "Fit", () => grid.fit(name));
  button(bar, "Move left", () => grid.move(name, -1));
  button(bar, "Move right", () => grid.move(name, 1));
  button(bar, "Narrower", () => grid.widen(name, -40));
  button(bar, "Wider", () => grid.widen(name, 40));
  button(bar, "Hide", () => { close(); grid.show(name, false); });
}, () => grid.focus(name));

// Which columns are shown.
const columnsPanel = (grid, anchor) => panel(grid.root, anchor, "Columns", (box, close) => {
  const visible = grid.visible(), all = grid.all();
  const shown = visible.map((name) => all.find((column) => column.name === name));
  const list = make(box, "div", "gd-values gd-all");
  for (const { name, label } of new Set([...shown, ...all]))
    tick(list, label, visible.includes(name), ({ target }) => grid.show(name, target.checked));
  button(make(box, "div", "gd-buttons"), "Reset columns", () => { close(); grid.lay([]); });
});

// Find and replace: what would change is shown before anything does.
const replacePanel = (grid, anchor) => panel(grid.root, anchor, "Find and replace", (box, close) => {
  const text = field(box, "Find", "input", { dir: "auto" });
  const by = field(box, "Replace with", "input", { dir: "auto" });
  const options = [["", "all columns that can be written"]];
  const column = choice(box, "In", options.concat(grid.open().map(({ name, label }) => [name, label])));
  const exact = tick(box, "Match case", true);
  const lines = make(box, "div", "gd-preview", { role: "status" });
  const bar = make(box, "div", "gd-buttons");
  const asked = (what) => ({
    do: what, text: text.value, by: by.value, column: column.value || null, case: exact.checked,
  });
  const replace = button(bar, "Replace", () => { close(); grid.send(asked("replace")); });
  const look = () => grid.send(asked("preview"));
  grid.answers.preview = ({ preview, count: n, refused }) => {
    lines.replaceChildren();
    const all = grid.state().rows === grid.state().of ? "" : " of the rows that are shown";
    if (text.value) make(lines, "p", "", { text: `${count(n, "cell")}${all} would change` });
    if (refused) make(lines, "p", "", { text: `${count(refused, "cell")} cannot, and stay` });
    for (const [row, name, before, after, reason] of preview) {
      const line = make(lines, "p", "gd-line", { dir: "auto" });
      make(line, "span", "", { text: `${row} ${name} ` });
      make(line, "del", "", { text: before });
      make(line, "span", "", { text: " → " });
      make(line, "ins", "", { text: after || "(empty)" });
      if (reason) make(line, "span", "gd-bad", { text: ` ${reason}` });
    }
    replace.disabled = !n;
    place(box, anchor);
  };
  text.oninput = by.oninput = later(look);
  column.onchange = exact.onchange = look;
  replace.disabled = true;
});

// A text that is edited: in its cell as long as there is room, and then in a box over the table.
const editor = (root, cell, label, text, { first, end }) => {
  const box = make(root, "div", "gd-editor", { popover: "manual" });
  const input = make(box, "textarea", "gd-input", {
    rows: 1, spellcheck: "false", "aria-label": label, dir: "auto",
  });
  make(box, "div", "gd-hint", { text: "Enter takes it · Alt+Enter begins a line · Escape leaves it" });
  const stay = () => {
    const { left, top, width } = cell.getBoundingClientRect(), wide = box.matches(".gd-long");
    const space = clamp(innerWidth - 24, 100, 440);
    box.style.width = `${wide ? Math.max(width, space) : width}px`;
    input.style.height = "28px";
    if (!wide && (input.value.includes("\n") || input.scrollWidth > input.clientWidth + 1)) {
      box.classList.add("gd-long");
      return stay();
    }
    if (wide) input.style.height = `${clamp(input.scrollHeight + 2, 84, 260)}px`;
    box.style.left = `${clamp(left, 4, innerWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${Math.min(top, innerHeight - box.offsetHeight - 4)}px`;
  };
  input.value = first ?? text;
  box.showPopover();
  stay();
  input.focus();
  if (first === undefined) input.select();
  input.oninput = stay;
  input.onblur = () => end(true);
  document.addEventListener("scroll", stay, true);
  input.onkeydown = (event) => {
    const { key, shiftKey, altKey, isComposing } = event, step = shiftKey ? -1 : 1;
    if (isComposing || !["Enter", "Tab", "Escape"].includes(key)) return;
    event.preventDefault();
    if (key === "Enter" && altKey) {
      input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end");
      return stay();
    }
    end(key !== "Escape", key === "Enter" ? step : 0, key === "Tab" ? step : 0);
  };
  const close = () => {
    input.onblur = null;
    document.removeEventListener("scroll", stay, true);
    box.remove();
  };
  return { input, was: text, close };
};
