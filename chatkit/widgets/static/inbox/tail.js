// The live tail: rows come in batches, and the page never holds more than `limit` of them.
// Everything from a delivery is set as text; nothing of it is ever markup.
function made(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}
function button(text, act) {
  const element = made("button", "", text);
  element.type = "button";
  element.onclick = act;
  return element;
}
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = made("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser does not allow copying");
}
// One value of a body. What lies inside is made when it is opened for the first time.
function branch([sort, content, size], name, depth) {
  const label = made("span", "tl-name", name === undefined ? "" : `${name}: `);
  label.dir = "auto";
  if (sort !== "object" && sort !== "list") {
    const leaf = made("div", "tl-leaf");
    const value = made("bdi", `tl-${sort}`, sort === "text" ? `"${content}"` : content);
    leaf.append(label, value);
    return leaf;
  }
  const box = made("details");
  const about = sort === "list" ? `[${size}]` : `{${size}}`;
  const summary = made("summary");
  summary.append(label, made("span", "tl-size", about));
  box.append(summary);
  const inside = made("div", "tl-inside");
  const fill = () => {
    if (!box.open || inside.childElementCount) return;
    content.forEach((one, place) => {
      const pair = sort === "object" && Array.isArray(one[1]);
      const label = pair ? one[0] : one[0] === "rest" ? undefined : place;
      inside.append(branch(pair ? one[1] : one, label, depth + 1));
    });
  };
  box.append(inside);
  box.ontoggle = fill;
  box.open = depth < 12 && content.length <= 20; // a message lies ten levels deep
  fill();
  return box;
}
function tableRow(row) {
  const line = made("tr", row.verified ? "" : "tl-doubt");
  line.dataset.id = row.id;
  const open = button(`${row.id}`, undefined);
  open.setAttribute("aria-label", `Open delivery ${row.id}`);
  const first = made("td");
  first.append(open);
  const time = made("td", "tl-time", row.at);
  time.title = row.when;
  line.append(first, time);
  const what = row.more ? `${row.what} + ${row.more} more` : row.what;
  for (const text of [row.kind, what, row.contact, row.says]) {
    const cell = made("td");
    const inner = made("bdi", "", text);
    cell.title = text;
    cell.append(inner);
    line.append(cell);
  }
  const reason = row.reason ? `: ${row.reason}` : "";
  const verdict = made("td", "tl-verdict", (row.verified ? "✓ verified" : "⚠ not verified") + reason);
  verdict.title = verdict.textContent;
  line.append(verdict);
  return line;
}
function detail(sheet, found, close) {
  sheet.replaceChildren();
  sheet.hidden = false;
  if (found.problem) {
    sheet.append(made("p", "", found.problem), button("Close", close));
    return;
  }
  const head = made("h3", "", found.title);
  head.tabIndex = -1;
  const verdict = made("p", found.verified ? "tl-good" : "tl-bad", (found.verified ? "✓ Signature " : "⚠ Signature ") + found.verdict);
  const bar = made("div", "tl-bar");
  const said = made("span", "tl-said");
  said.setAttribute("role", "status");
  const test = button("Copy as a test case", () =>
    copy(found.test).then(() => (said.textContent = "Copied: paste it into a test file."), (error) => (said.textContent = error.message)),
  );
  test.className = "tl-test";
  if (!found.test) {
    test.disabled = true;
    said.textContent = "Too large for a test case: inbox.delivery(id).body has it.";
  }
  bar.append(test, button("Close", close), said);
  const headers = made("details");
  const list = made("dl");
  for (const [name, value] of found.headers) list.append(made("dt", "", name), made("dd", "", value));
  headers.append(made("summary", "", `Headers (${found.headers.length})`), list);
  const tree = made("div", "tl-tree");
  tree.setAttribute("aria-label", "Body");
  tree.setAttribute("role", "group");
  tree.append(branch(found.tree, undefined, 0));
  sheet.append(head, made("p", "tl-about", found.about), verdict, bar, headers, tree);
  head.focus();
}
function render({ model, el }) {
  const view = crypto.randomUUID?.() ?? String(Math.random());
  const root = made("div", "tl-tail");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Live tail of deliveries");
  keepKeys(root);
  const pause = button("", () => set("paused", !model.get("paused")));
  pause.className = "tl-pause";
  const kinds = made("select");
  const contact = made("input");
  contact.type = "search";
  contact.placeholder = "+15550100";
  contact.dir = "ltr";
  const state = made("span", "tl-state");
  state.setAttribute("role", "status");
  const count = made("span", "tl-count");
  const labelled = (text, input) => {
    const label = made("label", "", `${text} `);
    label.append(input);
    return label;
  };
  const bar = made("div", "tl-bar");
  bar.append(pause, labelled("Kind", kinds), labelled("Contact", contact), state, count);
  const pane = made("div", "tl-pane");
  pane.tabIndex = 0;
  pane.setAttribute("role", "group");
  pane.setAttribute("aria-label", "Deliveries, newest first");
  const table = made("table");
  const heads = made("tr");
  for (const name of ["Delivery", "Time (UTC)", "Kind", "What", "Contact", "Says", "Signature"]) {
    const head = made("th", "", name);
    head.scope = "col";
    heads.append(head);
  }
  const thead = made("thead");
  thead.append(heads);
  const body = made("tbody");
  table.append(thead, body);
  const empty = made("p", "tl-empty", "Nothing has come yet.");
  pane.append(table, empty);
  const sheet = made("div", "tl-sheet");
  sheet.hidden = true;
  const more = made("div", "tl-more");
  root.append(bar, pane, more, sheet);
  el.append(root);
  const side = sayMore(pane, more);

  let seen = 0;
  let passed = 0;
  let problem = "";
  let waiting = [];
  let queued = [];
  let frame = 0;
  let last; // the button of the row that is open: the keyboard goes back to it
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const paint = () => {
    const paused = model.get("paused");
    pause.textContent = paused ? "Go on" : "Pause";
    pause.disabled = model.get("stopped");
    const said = model.get("stopped") ? "stopped" : paused ? "paused" : "live";
    const told = problem ? `${said} · ${problem}` : said;
    if (state.textContent !== told) state.textContent = told;
    root.dataset.state = said;
    const more = passed ? `, ${passed.toLocaleString("en")} passed over` : "";
    count.textContent = `${body.childElementCount} rows, ${seen.toLocaleString("en")} new${more}`;
    empty.hidden = body.childElementCount > 0;
  };
  const options = () => {
    const names = [...new Set([...model.get("kinds"), model.get("kind")])].filter(Boolean);
    kinds.replaceChildren(new Option("all", ""), ...names.map((name) => new Option(name, name)));
    kinds.value = model.get("kind");
    contact.value = model.get("contact");
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
  contact.onchange = () => set("contact", contact.value.trim());
  model.on("msg:custom", hear);
  model.on("change:paused change:stopped", changed);
  model.on("change:kind change:contact change:kinds", options);
  options();
  fill(model.get("first"));
  model.send({ here: view });
  return () => {
    model.off("msg:custom", hear);
    model.off("change:paused change:stopped", changed);
    model.off("change:kind change:contact change:kinds", options);
    cancelAnimationFrame(frame);
    side.end();
    model.send({ gone: view });
  };
}
export default { render };
