// One text after the other: its source, its translation, what the rules say of it.
// Each is shown from what was sent ahead, at once; the kernel is asked for the next ones meanwhile.
const PATIENCE = 250; // milliseconds after the last key until the rules are asked
function render({ model, el }) {
  const get = (name) => model.get(name);
  const root = make(el, "div", "qu-queue");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Texts to review");
  const labelled = (parent, text, field) => {
    const label = make(parent, "label", "qu-label");
    make(label, "span", "", text);
    label.append(field);
    return field;
  };
  const head = make(root, "div", "qu-head");
  const bar = make(head, "progress");
  bar.setAttribute("aria-label", "Texts that are answered");
  const count = make(head, "span", "qu-count");
  const jump = make(null, "input");
  jump.type = "number";
  jump.min = 1;
  labelled(head, "Text", jump);
  const of = make(head, "span");
  const place = make(root, "h4", "qu-place");
  place.tabIndex = -1;
  const state = make(null, "span", "qu-state");
  const source = make(root, "div", "qu-source");
  source.setAttribute("role", "group");
  const note = make(root, "div", "qu-note");
  const box = make(null, "textarea");
  box.rows = 4;
  labelled(root, "Translation", box);
  const length = make(root, "div", "qu-length");
  const list = make(root, "ul", "qu-findings");
  list.setAttribute("aria-live", "polite");
  const near = make(root, "div", "qu-near");
  near.setAttribute("role", "group");
  near.setAttribute("aria-label", "Suggestions");
  const comment = make(null, "input");
  comment.type = "text";
  labelled(root, "Comment for colleagues", comment);
  const actions = make(root, "div", "qu-actions");
  make(root, "div", "qu-note", "Ctrl+Enter takes the translation and goes on, Alt+↑ and Alt+↓ go, Alt+S skips, Alt+1 uses a suggestion, Alt+0 copies the source, Escape takes back what was typed.");
  const failed = make(root, "div", "qu-failed");
  failed.setAttribute("role", "alert");

  const items = new Map(), first = get("first");
  if ("n" in first) items.set(first.n, first); // nothing is waited for to show it
  let at = 0, timer = 0, dirty = false; // typed since the text was shown: what comes late must not go over it
  const last = () => get("answers").length - 1;
  const answer = (n) => get("answers")[n];
  const typed = () => items.has(at) && box.value !== items.get(at).text;
  const take = (item) => { items.set(item.n, item); if (item.n === at) draw(); };
  const button = (text, keys, act, name) => {
    const made = make(actions, "button", `chatkit-button small ${name ?? ""}`, text);
    if (keys) made.setAttribute("aria-keyshortcuts", keys);
    made.title = keys;
    made.onclick = act;
    return made;
  };
  const showFindings = (findings) => list.replaceChildren(...findings.map(([severity, message, hint]) => {
    const line = make(null, "li", severity);
    make(line, "b", "", severity === "error" ? "✗" : "!").ariaHidden = "true";
    make(line, "span", "", message).dir = "auto";
    if (hint) make(line, "i", "", hint);
    return line;
  }));
  const measure = () => {
    const item = items.get(at), now = [...box.value].length;
    length.textContent = item?.limit ? `${now.toLocaleString("en")} of ${item.limit.toLocaleString("en")} characters` : "";
    length.classList.toggle("qu-over", Boolean(item?.limit) && now > item.limit);
    go.textContent = item && !typed() && item.target && box.value === item.target ? "Right as it is" : "Take this";
    go.setAttribute("aria-disabled", String(!box.value.trim()));
  };
  const write = (parent, words) => {
    for (const [kind, text] of words) make(parent, { out: "del", in: "ins" }[kind] ?? "span", "", text);
  };
  const suggest = (item) => near.replaceChildren(...item.near.map(([text, alike, from, unlike], n) => {
    const one = make(null, "div"), made = make(one, "button");
    make(made, "b", "", `${alike} %`);
    const label = make(made, "span", "", text);
    label.dir = "auto";
    label.lang = item.lang;
    make(made, "small", "", from);
    made.setAttribute("aria-keyshortcuts", `Alt+${n + 1}`);
    made.onclick = () => use(n);
    if (unlike.length) {
      const words = make(make(one, "p", "", "Made from: "), "bdi");
      words.lang = item.from;
      write(words, unlike);
    }
    return one;
  }));
  const draw = () => {
    const item = items.get(at), open = last() >= 0;
    for (const part of root.children) if (part !== head && part !== failed) part.hidden = !item;
    jump.max = last() + 1;
    jump.value = open ? at + 1 : "";
    of.textContent = `of ${(last() + 1).toLocaleString("en")}`;
    const done = [...get("answers")].filter((one) => one !== " ").length;
    bar.max = Math.max(last() + 1, 1);
    bar.value = done;
    count.textContent = open ? `${done.toLocaleString("en")} answered` : "Nothing to review.";
    if (!item) return;
    place.replaceChildren();
    make(place, "bdi", "", item.template);
    make(place, "span", "", ` · ${item.language} · ${item.what} `);
    state.textContent = { a: "right as it is", e: "edited", s: "skipped" }[answer(at)] ?? item.state;
    state.dataset.state = answer(at) === " " ? item.state : "answered";
    place.append(state);
    source.replaceChildren();
    make(source, "small", "", item.changed ? "Source, and what changed in it" : "Source");
    const words = make(source, "p");
    words.dir = "auto";
    words.lang = item.from;
    write(words, item.source);
    note.textContent = item.note;
    box.lang = item.lang;
    box.dir = item.dir;
    if (!dirty && box.value !== item.text) box.value = item.text;
    comment.value = item.comment;
    showFindings(item.findings);
    suggest(item);
    measure();
  };
  const keep = () => {
    clearTimeout(timer);
    const item = items.get(at);
    if (!item) return;
    if (comment.value !== item.comment) { item.comment = comment.value; model.send({ comment: [at, comment.value] }); }
    if (typed() && box.value.trim()) { item.text = box.value; model.send({ answer: ["edit", at, box.value] }); }
  };
  const show = (n, focus = true) => {
    if (n < 0 || n > last()) return;
    keep();
    at = n;
    dirty = false;
    failed.textContent = "";
    draw();
    model.send({ look: n });
    if (focus) box.focus();
  };
  const next = () => {
    const left = [...get("answers")].findIndex((one, n) => n > at && one === " ");
    show(left < 0 ? Math.min(at + 1, last()) : left);
  };
  const answered = (kind) => {
    const item = items.get(at);
    if (!item) return;
    clearTimeout(timer);
    if (comment.value !== item.comment) { item.comment = comment.value; model.send({ comment: [at, comment.value] }); }
    if (kind !== "skip") item.text = box.value;
    else box.value = item.text = item.target;
    model.send({ answer: [kind, at, box.value] });
    dirty = false;
    const marks = [...get("answers")];
    marks[at] = { edit: "e", accept: "a", skip: "s" }[kind];
    model.set("answers", marks.join(""));
    next();
  };
  const done = () => {
    if (go.getAttribute("aria-disabled") === "true") return;
    answered(box.value === items.get(at)?.target ? "accept" : "edit");
  };
  const check = () => {
    clearTimeout(timer);
    timer = setTimeout(() => model.send({ check: [at, box.value] }), PATIENCE);
  };
  const put = (text) => {
    box.value = text;
    dirty = true;
    box.focus();
    measure();
    check();
  };
  const use = (n) => { if (items.get(at)?.near[n]) put(items.get(at).near[n][0]); };
  const copy = () => { if (items.has(at)) put(items.get(at).original); };
  button("← Previous", "Alt+ArrowUp", () => show(at - 1));
  button("Next →", "Alt+ArrowDown", () => show(at + 1));
  const go = button("Take this", "Control+Enter", done, "primary");
  button("Skip", "Alt+S", () => answered("skip"));
  button("Copy source", "Alt+0", copy);
  box.oninput = () => { dirty = true; measure(); check(); };
  jump.onchange = () => show(Math.min(Math.max(Number(jump.value) || 1, 1), last() + 1) - 1, false);
  comment.onchange = keep;
  root.onkeydown = (event) => {
    const { key, code, altKey, ctrlKey, metaKey } = event;
    const act = (ctrlKey || metaKey) && key === "Enter" ? done
      : altKey && key === "ArrowDown" ? () => show(at + 1)
      : altKey && key === "ArrowUp" ? () => show(at - 1)
      : altKey && code === "KeyS" ? () => answered("skip")
      : altKey && code === "Digit0" ? copy
      : altKey && /^Digit[1-9]$/.test(code) ? () => use(Number(code.slice(5)) - 1)
      : key === "Escape" && typed() ? () => { box.value = items.get(at).text; dirty = false; measure(); check(); } : null;
    if (!act) return;
    event.preventDefault();
    act();
  };
  const heard = (message) => {
    if (message.items) message.items.forEach(take);
    if (message.near && items.has(message.near[0])) { // the first suggestions of a language come after the text
      items.get(message.near[0]).near = message.near[1];
      if (message.near[0] === at) suggest(items.get(at));
    }
    if (message.checked && message.checked[0] === at && message.checked[1] === box.value) showFindings(message.checked[2]);
    if (message.failed) failed.textContent = message.failed;
  };
  keepKeys(el);
  model.on("msg:custom", heard);
  model.on("change:answers", draw);
  draw();
  model.send({ look: 0 });
  return () => clearTimeout(timer);
}
export default { render: hearing(render) };
