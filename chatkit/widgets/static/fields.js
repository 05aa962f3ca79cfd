// Draws the controls of a form. Each keeps its element as long as it is there: the cursor stays,
// and so does what is being typed. Ids are those of this view alone: labels and descriptions name
// the controls of this form, however many forms a page has.
const HIDDEN = "•".repeat(64);
const CONTROLS = "button, input, textarea, select, summary, [tabindex='0']";
const usable = (one) => one.checkVisibility() && !one.disabled && one.getAttribute("aria-disabled") !== "true";
const named = (one) => one?.dataset?.act && `${one.dataset.act} ${one.dataset.row}`;
function render({ model, el }) {
  const view = `chatkit-${Math.random().toString(36).slice(2)}`;
  let drawn = new Map();
  const enter = (one, value) => model.send({ id: one.id, entered: value });
  // What nobody may see comes with a press alone, as a message, and is gone from the page then.
  const press = (one) => {
    for (const other of one.now.submit ? drawn.values() : []) if (other.now.kind === "secret") {
      enter(other, other.input.value);
      other.input.value = "";
    }
    enter(one, one.now.token);
  };
  const act = (one) => {
    if (one.el.getAttribute("aria-disabled") === "false") press(one);
  };
  const labelled = (one, tag) => {
    one.label = make(one.el, "label", "chatkit-label");
    one.input = make(one.el, tag);
    one.input.id = one.label.htmlFor = `${view}-${one.id}`;
  };
  const makers = {
    html: (one) => { one.html = make(one.el, "div"); },
    code: (one) => { one.show = codeView(one.el); },
    text: (one, now) => {
      labelled(one, now.rows ? "textarea" : "input");
      if (!now.rows) one.input.type = "text";
      one.input.addEventListener(now.late ? "change" : "input", () => enter(one, one.input.value));
    },
    checkbox: (one) => {
      const label = make(one.el, "label", "chatkit-tick");
      one.input = make(label, "input");
      one.input.type = "checkbox";
      one.label = make(label, "span");
      one.input.onchange = () => enter(one, one.input.checked);
    },
    secret: (one) => {
      labelled(one, "input");
      one.input.type = "password";
      one.input.autocomplete = "new-password";
    },
    choice: (one, now) => {
      labelled(one, "select");
      const last = () => one.input.selectedIndex === one.now.options.length;
      one.input.onchange = () => enter(one, last() ? one.other.value : one.input.selectedIndex);
      if (!now.reference) return;
      one.other = make(one.el, "input");
      one.other.type = "text";
      one.other.placeholder = now.reference;
      one.other.setAttribute("aria-label", `${now.label} refers to`);
      one.other.oninput = () => enter(one, one.other.value);
    },
    button: (one) => {
      one.el.type = "button";
      one.el.onclick = () => act(one);
    },
    fold: (one) => {
      one.label = make(one.el, "summary");
      one.inner = make(one.el, "div", "chatkit-box");
    },
    group: (one, now) => {
      one.inner = one.el;
      if (!now.label) return;
      one.label = make(one.el, "span", "chatkit-label");
      one.label.id = `${view}-${one.id}`;
      one.inner = make(one.el, "div", "chatkit-box");
      one.el.setAttribute("role", "group");
      one.el.setAttribute("aria-labelledby", one.label.id);
    },
    // Rows that Python writes: their buttons say which row they are of. What is wide scrolls.
    table: (one) => {
      const pane = one.pane = make(one.el, "div", "chatkit-rows");
      one.side = showMore(pane, make(one.el, "div", "chatkit-more"));
      new ResizeObserver(() => {
        const wide = pane.scrollWidth > pane.clientWidth + 1;
        for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", one.now.label]])
          wide ? pane.setAttribute(name, value) : pane.removeAttribute(name);
      }).observe(pane);
      pane.onclick = ({ target }) => {
        const button = target.closest("[data-act]");
        if (button) enter(one, { act: button.dataset.act, row: button.dataset.row });
      };
    },
    // A signing secret on its way to a person: it comes as a message, is in no state, and leaves
    // the page when it is handed over.
    handover: (one) => {
      one.el.setAttribute("role", "group");
      one.el.setAttribute("aria-label", "Signing secret");
      one.about = make(one.el, "p");
      one.about.tabIndex = -1;
      one.output = make(one.el, "output");
      one.bar = make(one.el, "div");
      let asked = "";
      const button = (text, act) => {
        const made = make(one.bar, "button", "chatkit-button small", text);
        made.onclick = act;
        return made;
      };
      const ask = (what) => { asked = what; enter(one, what); };
      const isShown = () => one.output.textContent !== HIDDEN;
      const show = button("Show", () => (isShown() ? one.put(HIDDEN) : ask("show")));
      button("Copy", () => ask("copy"));
      one.keyring = button("Keep in keyring", () => ask("keyring"));
      one.done = button("Done: forget it", () => ask("forget"));
      const status = make(one.bar, "span");
      status.setAttribute("role", "status");
      one.put = (text) => {
        one.output.textContent = text;
        show.textContent = isShown() ? "Hide" : "Show";
        one.output.setAttribute("aria-label", isShown() ? "Signing secret" : "Signing secret, hidden");
      };
      one.hear = ({ message, secret }) => {
        if (message !== undefined) status.textContent = message;
        if (!secret || !asked) return;
        const before = one.output.textContent, copies = asked === "copy";
        asked = "";
        one.put(secret);
        if (copies) copy(secret, one.output).then(
          () => { status.textContent = "Copied."; one.put(before); },
          (error) => { status.textContent = error.message; },
        );
      };
    },
  };
  // What Python has set is shown; what is typed is not overtaken by an older answer.
  const fill = (one, now, old, value, name, input = one.input) => {
    const typing = input === document.activeElement;
    if (now.written !== old.written || (!typing && input[name] !== value)) {
      if (input[name] !== value) input[name] = value;
    }
  };
  const painters = {
    html: (one, now, old) => { if (now.value !== old.value) one.html.innerHTML = now.value ?? ""; },
    code: (one, now, old) => { if (now.value !== old.value) one.show(now.value ?? ""); },
    text: (one, now, old) => {
      one.input.placeholder = now.placeholder ?? "";
      one.input.lang = now.lang ?? "";
      if (now.rows) one.input.rows = now.rows;
      fill(one, now, old, now.value ?? "", "value");
    },
    checkbox: (one, now, old) => fill(one, now, old, now.value ?? false, "checked"),
    choice: (one, now, old) => {
      const refers = !!now.refers;
      if (String(now.options) !== String(old.options)) {
        const more = one.other ? ["a reference …"] : [];
        one.input.replaceChildren(...[...now.options, ...more].map((text) => new Option(text)));
        old = {};
      }
      fill(one, now, old, refers ? now.options.length : (now.value ?? 0), "selectedIndex");
      if (!one.other) return;
      one.other.hidden = !refers;
      if (refers) fill(one, now, old, now.value ?? "", "value", one.other);
    },
    button: (one, now) => {
      one.el.textContent = now.label;
      one.el.title = now.help ?? now.keys ?? "";
      if (now.keys) one.el.setAttribute("aria-keyshortcuts", now.keys);
      one.el.setAttribute("aria-disabled", !!now.disabled || !now.token);
      one.el.setAttribute("aria-busy", !now.token);
    },
    table: (one, now, old) => {
      if (now.value === old.value) return;
      const had = one.pane.contains(document.activeElement) && named(document.activeElement);
      const folds = () => [...one.pane.querySelectorAll("th > details")], name = (fold) => `${fold.closest("tbody").dataset.account} ${fold.firstChild.ariaLabel}`;
      const open = folds().filter((fold) => fold.open).map(name);
      one.pane.innerHTML = now.value ?? "";
      for (const fold of folds()) fold.open = open.includes(name(fold));
      if (had) [...one.pane.querySelectorAll("[data-act]")].find((button) => named(button) === had)?.focus();
      one.side.look();
    },
    handover: (one, now) => {
      one.el.hidden = !now.value;
      if (!now.waits) {
        if (one.bar.contains(document.activeElement)) one.about.focus(); // not lost with the buttons
        one.put(HIDDEN);
      }
      if (now.kept && one.keyring === document.activeElement) one.done.focus();
      one.output.hidden = one.bar.hidden = !now.waits;
      one.keyring.hidden = !!now.kept;
      one.about.textContent = now.value ?? "";
    },
  };
  // The help, the problems and the notes of a control stand below it, and describe it.
  const PARTS = {
    help: (part, text) => { part.textContent = text; },
    problems: (part, problems) => {
      part.replaceChildren(...problems.map(([severity, text]) => {
        const problem = make(null, "span", `chatkit-problem ${severity}`, text);
        problem.dir = "auto";
        problem.setAttribute("role", "alert");
        return problem;
      }));
      const fold = problems.length && part.closest("details");
      if (fold) fold.open = true;
    },
    notes: (part, html) => { part.innerHTML = html; },
  };
  const describe = (one, now, old) => {
    const id = (name) => `${view}-${one.id}-${name}`;
    for (const [name, write] of Object.entries(PARTS)) {
      one[name] ??= make(one.el, name === "help" ? "small" : "div", `chatkit-${name}`);
      one[name].id = id(name);
      if (name === "notes") one[name].setAttribute("aria-live", "polite");
      if (String(now[name] ?? "") !== String(old[name] ?? "")) write(one[name], now[name] ?? []);
    }
    const described = Object.keys(PARTS).filter((name) => now[name]).map(id);
    const wrong = !!now.problems?.some(([severity]) => severity === "error");
    for (const control of [one.input ?? one.el, one.other]) {
      if (!control) continue;
      control.setAttribute("aria-describedby", described.join(" "));
      if (!described.length) control.removeAttribute("aria-describedby");
      if (!one.input) continue;
      control.disabled = !!now.disabled;
      control.setAttribute("aria-invalid", wrong);
      if (now.kind !== "checkbox") control.setAttribute("aria-required", !!now.required);
    }
  };
  const TAGS = { fold: "details", button: "button" };
  const paint = (now, kept) => {
    const one = drawn.get(now.id) ?? { id: now.id, el: make(null, TAGS[now.kind] ?? "div"), now: {} };
    const old = one.now;
    one.now = now;
    if (!old.kind) makers[now.kind](one, now);
    kept.set(now.id, one);
    const field = one.input || (now.kind === "group" && one.label);
    const names = [field ? "chatkit-field" : `chatkit-${now.kind}`,
      now.row && "chatkit-line", now.required && "chatkit-required", now.problems && "chatkit-wrong", now.css];
    const css = names.filter(Boolean).join(" ");
    if (one.el.className !== css) one.el.className = css;
    one.el.style.display = now.hidden ? "none" : "";
    if (one.label && one.label.textContent !== now.label) one.label.textContent = now.label ?? "";
    if (one.label && now.name) one.label.title = now.name;
    painters[now.kind]?.(one, now, old);
    if (field) describe(one, now, old);
    if (!one.inner) return one;
    const parts = now.children.map((child) => paint(child, kept).el);
    for (const gone of [...one.inner.children]) if (!parts.includes(gone)) gone.remove();
    parts.forEach((part, n) => {
      if (one.inner.children[n] !== part) one.inner.insertBefore(part, one.inner.children[n]);
    });
    return one;
  };
  const draw = () => {
    const kept = new Map(), controls = () => [...el.querySelectorAll(CONTROLS)];
    const last = el.contains(document.activeElement) && document.activeElement;
    const place = controls().indexOf(last), bar = last && last.closest(".chatkit-bar");
    const { el: root } = paint(model.get("tree"), kept);
    if (root.parentElement !== el) el.append(root);
    drawn = kept;
    // Where the control with the focus goes away, the next one takes the focus.
    const now = document.activeElement;
    if (!last || last.checkVisibility() || (now !== last && now?.matches(CONTROLS))) return;
    const all = controls().filter(usable), rest = controls().slice(Math.max(place, 0)).find(usable);
    (all.find((one) => bar?.contains(one)) ?? rest ?? all.at(-1))?.focus();
  };
  const focus = (tries = 40) => {
    const one = drawn.get(model.get("focused"))?.el;
    if (!one) return;
    const fold = one.closest("details");
    if (fold) fold.open = true;
    if (!one.checkVisibility()) return void (tries && setTimeout(() => focus(tries - 1), 50));
    const controls = `${CONTROLS}, [tabindex]`;
    one.closest(".chatkit-planview")?.scrollIntoView({ block: "nearest" });
    (one.matches(controls) ? one : one.querySelector(controls))?.focus();
    model.set("focused", 0);
    model.save_changes();
  };
  const hear = (message) => drawn.get(message.id)?.hear?.(message);
  el.classList.add("chatkit-fields");
  el.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const { key, code, altKey, ctrlKey, metaKey } = event;
    const keys = [(ctrlKey || metaKey) && "Control", altKey && "Alt", altKey ? code.replace(/^(Key|Digit)/, "") : key];
    const form = event.target.closest(".chatkit-form"), combination = keys.filter(Boolean).join("+");
    const pressed = [...drawn.values()].find(({ el, now }) => now.keys === combination && form?.contains(el));
    if (pressed) {
      event.preventDefault();
      return act(pressed);
    }
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    [...drawn.values()].find((one) => one.now.submit && form?.contains(one.el))?.el.click();
  });
  keepKeys(el);
  model.on("change:tree", draw);
  model.on("change:focused", () => focus());
  model.on("msg:custom", hear);
  draw();
  focus();
  model.send({ here: view });
  return () => {
    model.send({ gone: view });
    for (const one of drawn.values()) {
      if (one.now.kind === "secret") one.input.value = "";
      if (one.put) one.put(HIDDEN);
    }
  };
}
export default { render: hearing(render) };
