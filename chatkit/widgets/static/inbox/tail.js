// The live tail: rows come in batches, and the page never holds more than `limit` of them.
// Everything from a delivery is set as text.
function button(text, act) {
  const element = make(null, "button", "chatkit-button small", text);
  element.onclick = act;
  return element;
}
function tableRow(row) {
  const line = make(null, "tr", [row.verified ? "" : "tl-doubt", row.failed ? "tl-failed" : ""].join(" ").trim());
  line.dataset.id = row.id;
  const open = button(`${row.id}`, undefined);
  open.setAttribute("aria-label", `Open delivery ${row.id}`);
  const first = make(null, "td");
  first.append(open);
  const time = make(null, "td", "tl-time", row.at);
  time.title = row.when;
  line.append(first, time);
  const what = row.more ? `${row.what} + ${row.more} more` : row.what;
  const text = row.failed ? `✗ ${row.failed}` : row.text;
  for (const texts of [[row.kind], [what], [row.name, row.contact], [text]]) {
    const cell = make(null, "td", texts.length > 1 ? "tl-contact" : ""); // the number stays in sight beside a name from the right
    const filled = texts.filter(Boolean);
    cell.title = filled.join(" · ");
    filled.forEach((text, n) => cell.append(n ? " " : "", make(null, "bdi", texts.length > 1 && n === filled.length - 1 && n ? "tl-number" : "", text)));
    line.append(cell);
  }
  const reason = row.reason ? `: ${row.reason}` : "";
  const verdict = make(null, "td", "tl-verdict", (row.verified ? "✓ verified" : "⚠ not verified") + reason);
  verdict.title = verdict.textContent;
  line.append(verdict);
  return line;
}
function detail(sheet, delivery, close) {
  sheet.replaceChildren();
  sheet.hidden = false;
  if (delivery.problem) {
    sheet.append(make(null, "p", "", delivery.problem), button("Close", close));
    return;
  }
  const head = make(null, "h3", "", delivery.title);
  head.tabIndex = -1;
  const verdict = make(null, "p", delivery.verified ? "tl-good" : "tl-bad", (delivery.verified ? "✓ Signature " : "⚠ Signature ") + delivery.verdict);
  const failed = make(null, "p", "tl-bad", `✗ Failed: ${delivery.failed}`);
  const bar = make(null, "div", "tl-bar");
  bar.append(button("Close", close));
  const headers = make(null, "details");
  const list = make(null, "dl");
  for (const [name, value] of delivery.headers) list.append(make(null, "dt", "", name), make(null, "dd", "", value));
  headers.append(make(null, "summary", "", `Headers (${delivery.headers.length})`), list);
  const body = make(null, "pre", "", delivery.body);
  body.tabIndex = 0;
  body.setAttribute("aria-label", "Body");
  body.setAttribute("role", "group");
  sheet.append(head, make(null, "p", "tl-about", delivery.about), verdict, ...(delivery.failed ? [failed] : []), bar, headers, body);
  head.focus();
}
function render({ model, el }) {
  const view = crypto.randomUUID?.() ?? String(Math.random());
  const root = make(null, "div", "tl-tail");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Live tail of deliveries");
  keepKeys(root);
  const pause = button("", () => set("paused", !model.get("paused")));
  pause.classList.add("tl-pause");
  const kinds = make(null, "select");
  // each is written into the trait of its name, a moment after the last letter
  const inputs = {};
  for (const [name, hint] of [["contact", "+15550100"], ["search", "in bodies"]]) {
    const input = make(null, "input", `tl-${name}`);
    input.type = "search";
    input.placeholder = hint;
    if (name !== "search") input.dir = "ltr";
    let timer = 0;
    const write = () => {
      clearTimeout(timer);
      if (model.get(name) !== input.value.trim()) set(name, input.value.trim());
    };
    input.oninput = () => {
      clearTimeout(timer);
      timer = setTimeout(write, 400);
    };
    input.onchange = write;
    inputs[name] = input;
  }
  const state = make(null, "span");
  state.setAttribute("role", "status");
  const count = make(null, "span", "tl-count");
  const now = make(null, "span", "tl-now");
  now.append(state, count);
  const labelled = (text, input) => {
    const label = make(null, "label", "", `${text} `);
    label.append(input);
    return label;
  };
  const bar = make(null, "div", "tl-bar chatkit-sticky");
  bar.append(pause, labelled("Kind", kinds), labelled("Contact", inputs.contact), labelled("Search", inputs.search), now);
  const pane = make(null, "div", "tl-pane");
  pane.tabIndex = 0;
  pane.setAttribute("role", "group");
  pane.setAttribute("aria-label", "Deliveries, newest first");
  const table = make(null, "table");
  const heads = make(null, "tr");
  for (const name of ["Delivery", "Time (UTC)", "Kind", "What", "Contact", "Says", "Signature"]) {
    const head = make(null, "th", "", name);
    head.scope = "col";
    heads.append(head);
  }
  const thead = make(null, "thead");
  thead.append(heads);
  const body = make(null, "tbody");
  table.append(thead, body);
  const empty = make(null, "p", "tl-empty", "Nothing has come yet.");
  pane.append(table, empty);
  const sheet = make(null, "div", "tl-sheet");
  sheet.hidden = true;
  sheet.onkeydown = ({ key }) => { if (key === "Escape") close(); };
  const more = make(null, "div", "tl-more");
  root.append(bar, pane, more, sheet);
  el.append(root);
  const side = showMore(pane, more);

  let seen = 0;
  let passed = 0;
  let problem = "";
  let busy = false;
  let waiting = [];
  let queued = [];
  let frame = 0;
  let last; // the button of the row that is open: the keyboard goes back to it
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
    busy = name !== "paused" && !model.get("stopped"); // far back it takes seconds
    paint();
  };
  const paint = () => {
    const paused = model.get("paused");
    pause.textContent = paused ? "Go on" : "Pause";
    pause.disabled = model.get("stopped");
    const mode = model.get("stopped") ? "stopped" : paused ? "paused" : "live";
    const line = problem ? `${mode} · ${problem}` : busy ? `${mode} · searching …` : mode;
    if (state.textContent !== line) state.textContent = line;
    state.className = `chatkit-state ${mode}`;
    const more = passed ? `, ${passed.toLocaleString("en")} passed over` : "";
    const rows = body.childElementCount;
    count.textContent = `${rows} ${rows === 1 ? "row" : "rows"}, ${seen.toLocaleString("en")} new${more}`;
    empty.hidden = body.childElementCount > 0;
    const chosen = [kinds, ...Object.values(inputs)].some((one) => one.value);
    empty.textContent = chosen ? "Nothing that has come is as chosen." : "Nothing has come yet.";
    state.classList.toggle("tl-bad", Boolean(problem));
  };
  const options = () => {
    const names = [...new Set([...model.get("kinds"), model.get("kind")])].filter(Boolean);
    kinds.replaceChildren(new Option("all", ""), ...names.map((name) => new Option(name, name)));
    kinds.value = model.get("kind");
    // what somebody is typing stays
    for (const [name, input] of Object.entries(inputs)) if (input !== document.activeElement) input.value = model.get(name);
  };
  const draw = () => {
    frame = 0;
    const rows = queued.slice(0, model.get("limit"));
    queued = [];
    const fresh = document.createDocumentFragment();
    for (const row of rows) fresh.append(tableRow(row));
    const top = pane.scrollTop;
    const high = body.offsetHeight;
    body.prepend(fresh);
    // who reads further down is not moved
    if (top > 0) pane.scrollTop = top + body.offsetHeight - high;
    while (body.childElementCount > model.get("limit")) body.lastElementChild.remove();
    paint();
  };
  const add = (rows) => {
    queued = [...rows, ...queued].slice(0, model.get("limit"));
    frame ||= requestAnimationFrame(draw);
  };
  const fill = (rows) => {
    queued = [];
    waiting = [];
    body.replaceChildren();
    add(rows);
  };
  const hear = (message) => {
    if (message.view && message.view !== view) return;
    if (message.all || message.problem) busy = false;
    if (message.all) fill(message.all);
    if (message.rows) {
      seen += message.seen;
      passed += message.passed;
      if (model.get("paused")) waiting = [...message.rows, ...waiting].slice(0, model.get("limit"));
      else add(message.rows);
    }
    if (message.problem !== undefined) problem = message.problem;
    if (message.opened) detail(sheet, message.opened, close);
    if (!frame) paint();
  };
  const close = () => {
    sheet.hidden = true;
    sheet.replaceChildren();
    (last?.isConnected ? last : pane).focus();
  };
  const changed = () => {
    if (!model.get("paused") && waiting.length) {
      add(waiting);
      waiting = [];
    }
    paint();
  };
  body.onclick = (event) => {
    const line = event.target.closest("tr");
    if (!line || getSelection().toString()) return;
    last = line.querySelector("button");
    model.send({ open: Number(line.dataset.id), view });
  };
  kinds.onchange = () => set("kind", kinds.value);
  model.on("msg:custom", hear);
  model.on("change:paused change:stopped", changed);
  model.on("change:kind change:contact change:search change:kinds", options);
  options();
  fill(model.get("first"));
  model.send({ here: view });
  return () => {
    cancelAnimationFrame(frame);
    side.end();
    model.send({ gone: view });
  };
}
export default { render: hearing(render) };
