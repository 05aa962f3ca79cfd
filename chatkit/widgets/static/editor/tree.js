// The tree of an Editor: rows of a flow document, after the ARIA pattern of a tree.
// What a row says comes from strangers: it is only ever the text of an element.
const STEPS = { ArrowUp: -1, ArrowDown: 1 };

function render({ model, el }) {
  const root = make(el, "div", "ct-tree");
  keepKeys(root);
  const bar = make(root, "div", "ct-bar");
  const search = make(bar, "input", "ct-search");
  const menu = make(bar, "div", "ct-offers");
  const unique = `ct-${crypto.randomUUID()}`;
  Object.assign(search, { type: "text", placeholder: "Add …", autocomplete: "off", spellcheck: false });
  Object.assign(menu, { id: unique, hidden: true });
  menu.setAttribute("role", "listbox");
  menu.setAttribute("aria-label", "What can be added");
  const attributes = { role: "combobox", "aria-label": "Add at the selected row", "aria-autocomplete": "list", "aria-controls": unique, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(attributes)) search.setAttribute(name, value);
  const send = (what, more = {}) => model.send({ do: what, pointer: here, ...more });
  const button = (parent, text, title, act) => {
    const one = make(parent, "button", "chatkit-button small", text);
    one.title = title;
    one.setAttribute("aria-label", title.replace(/ \(.*/, ""));
    one.onclick = () => { if (one.getAttribute("aria-disabled") !== "true") act(); };
    return one;
  };
  const tools = make(root, "div", "ct-tools");
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", "The selected row");
  const moving = [
    button(tools, "↑", "Move up (Alt+↑)", () => send("move", { by: -1 })),
    button(tools, "↓", "Move down (Alt+↓)", () => send("move", { by: 1 })),
    button(tools, "Duplicate", "Duplicate (Ctrl+D)", () => send("duplicate")),
    button(tools, "Remove", "Remove (Delete)", () => send("remove")),
  ];
  const list = make(root, "div", "ct-rows");
  list.setAttribute("role", "tree");
  list.setAttribute("aria-label", "Screens and components");
  const open = new Map(); // by pointer: what a person has folded or unfolded
  let visible = [], latest = null, here = model.get("selected"), asked = 0;

  const parentOf = (rows, n) => {
    for (let m = n - 1; m >= 0; m--) if (rows[m].level < rows[n].level) return m;
    return -1;
  };
  const opens = (rows, n) => rows[n + 1]?.level > rows[n].level;
  const isOpen = (rows, n) => open.get(rows[n].pointer) ?? rows[n + 1]?.kind !== "item";
  const choose = (pointer) => {
    if (pointer === here) return;
    here = pointer; // at once: the next key does not wait for Python
    asked = Math.max(asked, model.get("answered")) + 1;
    model.send({ do: "select", pointer, n: asked });
    draw();
  };
  const fold = (n, state) => { open.set(model.get("rows")[n].pointer, state); draw(); };

  const draw = () => {
    const rows = model.get("rows"), selected = here;
    const focused = list.contains(document.activeElement);
    const at = rows.findIndex((row) => row.pointer === selected);
    if (selected !== latest) for (let n = at; (n = parentOf(rows, n)) >= 0;) open.set(rows[n].pointer, true);
    latest = selected; // what is newly selected is seen
    visible = [];
    let closed = Infinity;
    rows.forEach((row, n) => {
      if (row.level > closed) return;
      closed = opens(rows, n) && !isOpen(rows, n) ? row.level : Infinity;
      visible.push(n);
    });
    list.replaceChildren(...visible.map((n) => {
      const row = rows[n], one = document.createElement("div");
      one.className = `ct-row ct-${row.kind}`;
      one.setAttribute("role", "treeitem");
      one.setAttribute("aria-level", row.level + 1);
      one.setAttribute("aria-selected", String(n === at));
      one.tabIndex = n === at ? 0 : -1;
      one.dataset.n = n;
      one.style.paddingInlineStart = `${4 + 14 * row.level}px`;
      const turn = make(one, "span", "ct-turn", opens(rows, n) ? (isOpen(rows, n) ? "▾" : "▸") : "");
      turn.setAttribute("aria-hidden", "true");
      if (opens(rows, n)) {
        one.setAttribute("aria-expanded", String(isOpen(rows, n)));
        turn.onclick = (event) => { event.stopPropagation(); fold(n, !isOpen(rows, n)); };
      }
      make(one, "span", "ct-name", row.name).dir = "auto";
      make(one, "span", "ct-text", row.text).dir = "auto";
      const hidden = opens(rows, n) && !isOpen(rows, n) ? row.below : "";
      const worst = row.wrong || hidden;
      if (worst) {
        const mark = make(one, "span", `ct-mark ct-${worst}`, worst === "error" ? "✕" : "!");
        mark.setAttribute("role", "img");
        mark.setAttribute("aria-label", row.wrong ? worst : `${worst} inside`);
      }
      one.onclick = () => { choose(row.pointer); one.focus(); };
      drags(one, row);
      one.ondblclick = () => { if (opens(rows, n)) fold(n, !isOpen(rows, n)); };
      return one;
    }));
    const current = list.querySelector("[aria-selected=true]");
    if (current && focused) current.focus({ preventScroll: true });
    if (current) {
      const top = current.offsetTop - list.offsetTop;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + current.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + current.offsetHeight - list.clientHeight;
    }
    const still = !model.get("movable") || model.get("locked");
    for (const one of moving) one.setAttribute("aria-disabled", String(still));
    search.disabled = model.get("locked") || !model.get("offers").length;
  };
  // What can be added: a list below the search, in groups, each with a line of help.
  const choices = () => [...menu.querySelectorAll("[role=option]")];
  const point = (to) => {
    for (const one of choices()) one.setAttribute("aria-selected", String(one === to));
    if (to) search.setAttribute("aria-activedescendant", to.id);
    else search.removeAttribute("aria-activedescendant");
    to?.scrollIntoView({ block: "nearest" });
  };
  const shut = () => { menu.hidden = true; search.setAttribute("aria-expanded", "false"); point(null); };
  const pick = (what) => { search.value = ""; shut(); send("add", { what }); };
  const offer = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    menu.replaceChildren(...model.get("offers").flatMap(([group, some]) => {
      const matches = some.filter(([name, about]) => words.every((word) => `${name} ${about} ${group}`.toLowerCase().includes(word)));
      if (!matches.length) return [];
      const part = document.createElement("div");
      part.setAttribute("role", "group");
      part.setAttribute("aria-label", group);
      make(part, "div", "ct-group", group).setAttribute("aria-hidden", "true");
      for (const [name, about] of matches) {
        const one = make(part, "div", "ct-offer");
        one.id = `${unique}-${n++}`;
        one.setAttribute("role", "option");
        make(one, "b", "", name);
        make(one, "span", "ct-about", about);
        one.onmousedown = (event) => event.preventDefault(); // the search keeps the focus
        one.onclick = () => pick(name);
      }
      return [part];
    }));
    if (!n) make(menu, "div", "ct-none", "Nothing of that name can be added here.");
    point(words.length ? choices()[0] : null);
  };
  const unfold = () => { offer(); menu.hidden = false; search.setAttribute("aria-expanded", "true"); };
  search.onclick = unfold;
  // The undo of the browser, pressed in another field, may bring back what was typed here.
  search.oninput = ({ inputType }) => {
    if (!inputType?.startsWith("history")) unfold();
    else if (document.activeElement !== search) search.value = "";
  };
  const elsewhere = ({ type, key, target }) => {
    if (!menu.hidden && (type === "keydown" ? key === "Escape" : !bar.contains(target))) shut();
  };
  document.addEventListener("pointerdown", elsewhere, true);
  document.addEventListener("keydown", elsewhere, true);
  search.onblur = shut;
  search.onkeydown = (event) => {
    const all = choices(), at = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
    if (event.key in STEPS) {
      if (menu.hidden) return unfold(), event.preventDefault();
      point(all[(at + STEPS[event.key] + all.length) % all.length] ?? all[0]);
    } else if (event.key === "Enter" && all[at]) pick(all[at].querySelector("b").textContent);
    else if (event.key === "Escape" && !menu.hidden) shut();
    else return;
    event.preventDefault();
  };
  // Rows are dragged among those of one list, and within their screen.
  let dragged = null;
  const edge = (event, one) => event.offsetY > one.offsetHeight / 2;
  const movable = ({ kind, pointer }) => ["screen", "component", "item", "odd"].includes(kind) && pointer;
  const screenOf = (pointer) => pointer.split("/").slice(0, 3).join("/");
  const listOf = (pointer) => pointer.replace(/\/[^/]*$/, "");
  const takes = (row) => dragged && row.pointer !== dragged.pointer && !row.pointer.startsWith(`${dragged.pointer}/`)
    && (listOf(row.pointer) === listOf(dragged.pointer)
      || (dragged.kind === "component" && ["component", "slot"].includes(row.kind) && screenOf(row.pointer) === screenOf(dragged.pointer)));
  const drags = (one, row) => {
    one.draggable = Boolean(movable(row)) && !model.get("locked");
    const clear = () => { delete one.dataset.drop; };
    one.ondragstart = (event) => { dragged = row; event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", row.text || row.name); };
    one.ondragend = () => { dragged = null; };
    one.ondragover = (event) => {
      if (!takes(row)) return;
      event.preventDefault();
      one.dataset.drop = row.kind === "slot" ? "into" : edge(event, one) ? "after" : "before";
    };
    one.ondragleave = clear;
    one.ondrop = (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (takes(row)) model.send({ do: "drop", pointer: dragged.pointer, target: row.pointer, after: edge(event, one) });
      clear();
    };
  };
  // The preview stands in the same editor: it shows the screen of the selected row.
  const follow = () => {
    const screens = el.closest(".chatkit-editor")?.querySelector(".fp-tools select");
    const id = model.get("screen");
    if (!screens || screens.value === id || ![...screens.options].some((one) => one.value === id)) return;
    screens.value = id;
    screens.dispatchEvent(new Event("change"));
  };
  list.onkeydown = (event) => {
    const n = Number(event.target.dataset?.n ?? -1), rows = model.get("rows");
    if (n < 0) return;
    const place = visible.indexOf(n), command = event.ctrlKey || event.metaKey;
    const go = (m) => {
      if (!rows[m]) return;
      choose(rows[m].pointer);
      list.querySelector(`[data-n="${m}"]`)?.focus();
    };
    if (event.altKey && event.key in STEPS) moving[event.key === "ArrowUp" ? 0 : 1].click();
    else if (command && event.key.toLowerCase() === "d") moving[2].click();
    else if (command && event.key.toLowerCase() === "z") model.send({ do: event.shiftKey ? "redo" : "undo" });
    else if (event.key === "Delete") moving[3].click();
    else if (command || event.altKey) return;
    else if (event.key in STEPS) go(visible[place + STEPS[event.key]]);
    else if (event.key === "Home") go(visible[0]);
    else if (event.key === "End") go(visible.at(-1));
    else if (event.key === "ArrowRight" && opens(rows, n)) isOpen(rows, n) ? go(n + 1) : fold(n, true);
    else if (event.key === "ArrowLeft") opens(rows, n) && isOpen(rows, n) ? fold(n, false) : go(parentOf(rows, n));
    else return;
    event.preventDefault();
  };
  const take = () => { // what Python has selected, once it has heard all that was chosen here
    if (model.get("answered") < asked || here === model.get("selected")) return follow();
    here = model.get("selected");
    draw();
    follow();
  };
  model.on("change:rows change:movable change:locked", draw);
  model.on("change:selected change:answered", take);
  model.on("change:offers", () => { if (!menu.hidden) offer(); draw(); });
  model.on("change:screen", follow);
  draw();
  return () => {
    document.removeEventListener("pointerdown", elsewhere, true);
    document.removeEventListener("keydown", elsewhere, true);
  };
}
export default { render: hearing(render) };
