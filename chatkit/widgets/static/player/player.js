// The view of a Player: a phone that walks a flow, and the panel beside it.
// Nothing of a document becomes markup or code; player.py is told what was sent.

const phone = (root) => {
  const device = make(root, "div", "fp-phone", { role: "group", "aria-label": "Flow on a phone" });
  const sheet = make(make(device, "div", "fp-screen"), "div", "fp-sheet");
  const bar = make(sheet, "div", "fp-top");
  const back = make(bar, "button", "fp-plain", { type: "button" });
  const title = make(bar, "h3", "", { tabindex: -1, ...AUTO });
  const notice = make(sheet, "p", "fp-notice", { role: "alert", ...AUTO });
  const body = make(sheet, "div", "fp-body");
  const foot = make(sheet, "div", "fp-foot");
  const captions = make(foot, "div", "fp-captions");
  const send = make(foot, "button", "fp-send", { type: "button", ...AUTO });
  return { sheet, back, title, notice, body, foot, captions, send };
};

function render({ model, el }) {
  const root = make(el, "div", "fp-player");
  keepKeys(root);
  const parts = phone(root);
  const { sheet, body, title, back, foot, send } = parts;
  const id = `fp${Math.random().toString(36).slice(2)}`;
  let run = null, page = null, fresh = 0, inspector = null, begun = false, kept = false;

  // --- what the components ask for -------------------------------------------------------
  const env = {
    id,
    get run() { return run; },
    fresh: () => `${id}-${fresh++}`,
    form: () => run.here.form,
    prop: (node, name) => run.prop(node, name),
    touched: (node) => run.here.touched.has(node.name),
    touch: (node) => run.here.touched.add(node.name),
    say: (text) => { run.notice = text; draw(); },
    // What is wrong with an input: told once it was left, or because the flow says so.
    wrong: (node) => {
      const around = run.seen().find(([one]) => one === node)?.[1];
      const custom = run.custom(node, around), [kind, text] = run.problem(node);
      const isData = (value) => typeof value === "string" && /[$`]/.test(value);
      const hasMessage = isData(node["error-message"]) || isData(around?.["error-messages"]);
      if (custom && hasMessage && !run.here.edited.has(node.name)) return custom;
      return kind && env.touched(node) ? custom || text : "";
    },
    hint: (node) => {
      if (!(node.type in COUNTS)) return "";
      const { least, most } = bounds(node, (name) => env.prop(node, name));
      if (most === Infinity) return least > 1 ? `Choose at least ${least}.` : "";
      return least === most ? `Choose ${most}.` : least ? `Choose ${least} to ${most}.` : `Choose up to ${most}.`;
    },
  };
  // --- drawing -----------------------------------------------------------------------------
  const stop = (text) => {
    page = null;
    set(title, { text: "This flow cannot be shown" });
    set(parts.notice, { hidden: true });
    back.hidden = foot.hidden = true;
    body.replaceChildren(make(null, "p", "fp-broken", { text, ...AUTO }));
  };
  const answerText = (value) => {
    if (Array.isArray(value)) return value.map((one) => (isMap(one) ? one.file_name ?? answerText(one) : asText(one))).join(", ") || "–";
    return isMap(value) ? Object.values(value).map(asText).join(" – ") : asText(value) || "–";
  };
  const end = () => {
    const secret = new Set([...run.visits.values()].flatMap(({ screen }) => list(screen.sensitive)));
    page = null;
    set(title, { text: "Sent" });
    back.hidden = foot.hidden = true;
    const done = make(null, "div", "fp-done");
    icon(make(done, "span", "fp-seal"), DONE);
    make(done, "h4", "fp-heading", { text: "The answers were sent", tabindex: -1 });
    const names = Object.entries(run.answers);
    const rows = make(done, "dl");
    for (const [name, value] of names.slice(0, 50)) {
      make(rows, "dt", "", { text: name, ...AUTO });
      make(rows, "dd", "", { text: secret.has(name) ? "••••••••" : answerText(value), ...AUTO });
    }
    if (names.length) {
      const row = make(done, "details", "fp-frame");
      make(row, "summary", "", { text: "As a row: player.frame()" });
      const table = make(make(row, "div", "fp-wide", { tabindex: 0, role: "region", "aria-label": "The answers as a row" }), "table");
      const heads = make(make(table, "thead"), "tr"), cells = make(make(table, "tbody"), "tr");
      for (const [name, value] of names.slice(0, 50)) {
        make(heads, "th", "", { scope: "col", text: name, ...AUTO });
        make(cells, "td", "", { text: secret.has(name) ? "••••••••" : answerText(value), ...AUTO });
      }
    }
    if (!names.length) make(done, "p", "fp-help", { text: "This flow sends no answers: the payload is empty." });
    make(done, "button", "fp-second", { type: "button", text: "Start again", onclick: () => begin() });
    body.replaceChildren(done);
    return done;
  };
  const footer = () => {
    const node = run.seen().map(([one]) => one).find(({ type }) => type === "Footer");
    foot.hidden = !node;
    if (!node) return null;
    const texts = ["left-caption", "center-caption", "right-caption"].map((name) => asText(env.prop(node, name)));
    parts.captions.hidden = !texts.some(Boolean);
    parts.captions.replaceChildren(...texts.map((text) => make(null, "span", "", { text, ...AUTO })));
    const off = !isOn(env.prop(node, "enabled")), open = run.problems().some((one) => run.problem(one)[0] === "missing");
    set(send, { text: asText(env.prop(node, "label")) || "Continue", "aria-disabled": String(off || open) });
    send.onclick = () => {
      if (off) return;
      const wrong = run.problems();
      if (!wrong.length) return run.act(node["on-click-action"], "footer");
      wrong.forEach(env.touch);
      draw();
      body.querySelector("[aria-invalid='true'], .fp-bad :is(input, button), .fp-consent [aria-invalid]")?.focus();
    };
    return node;
  };
  const paint = () => {
    const moved = page !== run.here || run.answers;
    const active = () => root.getRootNode().activeElement, inside = root.contains(active());
    set(parts.notice, { text: run.notice, hidden: !run.notice });
    let node = null;
    if (run.answers) {
      if (body.firstChild?.className !== "fp-done") end();
    } else {
      const { screen } = run.here, name = resolve(screen.title, run.scope());
      if (moved) {
        page = run.here;
        const some = run.layout(screen);
        page.content = stack(some, env);
        body.replaceChildren(some.length ? page.content.element : broken("This screen has no components: add some to its layout.").element);
        body.scrollTop = 0;
      }
      set(title, { text: asText(name) || run.here.id });
      back.hidden = false;
      const deep = run.stack.length > 1;
      if (back.dataset.deep !== String(deep)) {
        back.replaceChildren();
        icon(back, deep ? BACK : CLOSE, deep ? "fp-turn" : "");
        back.dataset.deep = String(deep);
      }
      set(back, { "aria-label": deep ? "Back" : "Start again", title: deep ? "Back" : "Start again", onclick: () => (deep ? run.back() : begin()) });
      page.content.update();
      node = footer();
    }
    sheet.dir = direction([title.textContent, body.textContent]);
    inspector.update(run, node);
    if (moved && inside && !inspector.element.contains(active())) (run.answers ? body.querySelector("h4") : title).focus();
  };
  const draw = () => {
    if (!run?.here) return;
    try {
      paint();
    } catch (error) {
      stop(`The screen ${run.here.id} cannot be shown: ${error.message}`);
    }
    const log = JSON.stringify([run.steps, run.answers]);
    if (log === run.log || (kept && !run.walked)) return;
    run.log = log;
    const [steps, answers] = JSON.parse(log); // as they are now
    model.set({ steps, answers });
    model.save_changes();
  };

  // --- the document ----------------------------------------------------------------------------
  const begin = (at) => {
    try {
      const flow = model.get("problem") ? null : JSON.parse(model.get("source"));
      const why = model.get("problem") || fault(flow);
      inspector.element.hidden = Boolean(why);
      if (why) return stop(why);
      run = new Run(flow, draw);
      run.log = begun ? "" : JSON.stringify([[], null]); // a first look tells nothing
      kept = !begun && list(model.get("steps")).length > 0; // what another view has told stays meanwhile
      page = null;
      begun = true;
      run.start(run.screens.has(at) ? at : undefined);
      draw();
    } catch (error) {
      stop(`The flow cannot be played: ${error.message}`);
    }
  };
  inspector = panel(root, { jump: (at) => begin(at), restart: () => begin() });
  const renew = () => begin(run?.here?.id);
  for (const name of ["source", "problem"]) model.on(`change:${name}`, renew);
  begin();
}
export default { render: hearing(render) };
