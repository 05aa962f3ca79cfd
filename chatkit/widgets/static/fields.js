// Draws the controls of a form. Each keeps its element as long as it is there: the cursor stays,
// and so does what is being typed. Ids are those of this view alone: labels and descriptions name
// the controls of this form, however many forms a page has.
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
  const labelled = (one, tag) => {
    one.label = make(one.el, "label", "chatkit-label");
    one.input = make(one.el, tag);
    one.input.id = one.label.htmlFor = `${view}-${one.id}`;
  };
  const makers = {
    html: (one) => { one.html = make(one.el, "div"); },
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
    choice: (one) => {
      labelled(one, "select");
      one.input.onchange = () => enter(one, one.input.selectedIndex);
    },
    radio: (one, now) => {
      makers.group(one, now);
      one.radios = now.options.map((text, n) => {
        const row = make(one.inner, "label", "chatkit-tick"), radio = make(row, "input");
        radio.type = "radio";
        radio.name = `${view}-${one.id}`;
        radio.onchange = () => enter(one, n);
        make(row, "span", "", text);
        make(one.inner, "div", "chatkit-detail").innerHTML = now.details[n];
        return radio;
      });
      one.inner = null;
    },
    button: (one) => {
      one.el.type = "button";
      one.el.onclick = () => {
        if (one.el.getAttribute("aria-disabled") === "false") press(one);
      };
    },
    fold: (one) => {
      one.label = make(one.el, "summary");
      one.inner = make(one.el, "div", "chatkit-box");
      one.el.ontoggle = () => { if (one.el.open !== !!one.now.value) enter(one, one.el.open); };
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
  };
  // What Python has set is shown; what is typed is not overtaken by an older answer.
  const fill = (one, now, old, value, name) => {
    const typing = one.input === document.activeElement;
    if (now.written !== old.written || (!typing && one.input[name] !== value)) {
      if (one.input[name] !== value) one.input[name] = value;
    }
  };
  const painters = {
    html: (one, now, old) => { if (now.value !== old.value) one.html.innerHTML = now.value ?? ""; },
    text: (one, now, old) => {
      one.input.placeholder = now.placeholder ?? "";
      if (now.rows) one.input.rows = now.rows;
      fill(one, now, old, now.value ?? "", "value");
    },
    checkbox: (one, now, old) => fill(one, now, old, now.value ?? false, "checked"),
    choice: (one, now, old) => {
      if (String(now.options) !== String(old.options)) {
        one.input.replaceChildren(...now.options.map((text) => new Option(text)));
        old = {};
      }
      fill(one, now, old, now.value ?? 0, "selectedIndex");
    },
    button: (one, now) => {
      one.el.textContent = now.label;
      one.el.setAttribute("aria-disabled", !!now.disabled || !now.token);
      one.el.setAttribute("aria-busy", !now.token);
    },
    radio: (one, now) => one.radios.forEach((radio, n) => { radio.checked = n === (now.value ?? 0); }),
    fold: (one, now) => { one.el.open = !!now.value; },
  };
  // The help, the problems and the notes of a control stand below it, and describe it.
  const PARTS = {
    help: (part, text) => { part.textContent = text; },
    problems: (part, problems) => part.replaceChildren(...problems.map(([severity, text]) => {
      const problem = make(null, "span", `chatkit-problem ${severity}`, text);
      problem.dir = "auto";
      problem.setAttribute("role", "alert");
      return problem;
    })),
    notes: (part, html) => { part.innerHTML = html; },
  };
  const describe = (one, now, old) => {
    const control = one.input ?? one.el;
    const id = (name) => `${view}-${one.id}-${name}`;
    for (const [name, write] of Object.entries(PARTS)) {
      one[name] ??= make(one.el, name === "help" ? "small" : "div", `chatkit-${name}`);
      one[name].id = id(name);
      if (String(now[name] ?? "") !== String(old[name] ?? "")) write(one[name], now[name] ?? []);
    }
    const described = Object.keys(PARTS).filter((name) => now[name]).map(id);
    control.setAttribute("aria-describedby", described.join(" "));
    if (!described.length) control.removeAttribute("aria-describedby");
    if (!one.input) return;
    one.input.disabled = !!now.disabled;
    one.input.setAttribute("aria-invalid", !!now.problems?.some(([severity]) => severity === "error"));
    if (now.kind !== "checkbox") one.input.setAttribute("aria-required", !!now.required);
  };
  const TAGS = { fold: "details", button: "button" };
  const paint = (now, kept) => {
    const one = drawn.get(now.id) ?? { id: now.id, el: make(null, TAGS[now.kind] ?? "div"), now: {} };
    const old = one.now;
    one.now = now;
    if (!old.kind) makers[now.kind](one, now);
    kept.set(now.id, one);
    const field = one.input || (["group", "radio"].includes(now.kind) && one.label);
    const names = [field ? "chatkit-field" : `chatkit-${now.kind}`,
      now.row && "chatkit-line", now.required && "chatkit-required", now.problems && "chatkit-wrong", now.css];
    const css = names.filter(Boolean).join(" ");
    if (one.el.className !== css) one.el.className = css;
    one.el.style.display = now.hidden ? "none" : "";
    if (one.label && one.label.textContent !== now.label) one.label.textContent = now.label ?? "";
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
    const kept = new Map();
    const { el: root } = paint(model.get("tree"), kept);
    if (root.parentElement !== el) el.append(root);
    drawn = kept;
  };
  const focus = (tries = 40) => {
    const one = drawn.get(model.get("focused"))?.el;
    if (!one) return;
    if (!one.checkVisibility()) return void (tries && setTimeout(() => focus(tries - 1), 50));
    const controls = "input, textarea, select, button, summary, [tabindex]";
    (one.matches(controls) ? one : one.querySelector(controls))?.focus();
    model.set("focused", 0);
    model.save_changes();
  };
  const focusSoon = () => focus();
  el.classList.add("chatkit-fields");
  el.addEventListener("keydown", (event) => {
    const button = [...drawn.values()].find((one) => one.now.submit);
    if (button && event.key === "Enter" && event.target.matches("input")) button.el.click();
  });
  keepKeys(el);
  model.on("change:tree", draw);
  model.on("change:focused", focusSoon);
  draw();
  focus();
  return () => {
    for (const one of drawn.values()) if (one.now.kind === "secret") one.input.value = "";
    model.off("change:tree", draw);
    model.off("change:focused", focusSoon);
  };
}
export default { render: hearing(render) };
