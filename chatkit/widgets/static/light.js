// Draws the controls of a form, with the class names that those of ipywidgets have. Each keeps
// its element as long as it is there: the cursor stays, and so does what is being typed.
const CSS = {
  html: "widget-inline-hbox widget-html", text: "widget-inline-hbox widget-text",
  checkbox: "widget-inline-hbox widget-checkbox", dropdown: "widget-inline-hbox widget-dropdown",
  fold: "chatkit-fold", box: "widget-container widget-box", model: "", button: "",
};
let labels = 0;
function render({ model, el }) {
  let drawn = new Map();
  const put = (parent, tag, name = "") => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    parent?.append(made);
    return made;
  };
  const enter = (one, value) => model.send({ id: one.id, entered: value });
  const labelled = (one, tag) => {
    one.label = put(one.el, "label", "widget-label");
    one.input = put(one.el, tag);
    one.input.id = one.label.htmlFor = `chatkit-light-${++labels}`;
  };
  const makers = {
    html: (one) => { one.inner = put(one.el, "div", "widget-html-content"); },
    text: (one, now) => {
      labelled(one, now.rows ? "textarea" : "input");
      if (!now.rows) one.input.type = "text";
      one.input.addEventListener(now.late ? "change" : "input", () => enter(one, one.input.value));
    },
    checkbox: (one) => {
      const label = put(one.el, "label", "widget-label-basic");
      one.input = put(label, "input");
      one.input.type = "checkbox";
      one.label = put(label, "span");
      one.input.onchange = () => enter(one, one.input.checked);
    },
    dropdown: (one) => {
      labelled(one, "select");
      one.input.onchange = () => enter(one, one.input.selectedIndex);
    },
    button: (one) => {
      one.el.onclick = () => {
        if (one.el.getAttribute("aria-disabled") === "false") enter(one, one.now.token);
      };
    },
    fold: (one) => {
      one.label = put(one.el, "summary");
      one.inner = put(one.el, "div", "widget-container widget-box widget-vbox");
      one.el.ontoggle = () => { if (one.el.open !== !!one.now.value) enter(one, one.el.open); };
    },
    box: (one) => { one.inner = one.el; },
    model: async (one, now) => {
      const { widget_manager: manager } = model;
      one.el.append((await manager.create_view(await manager.get_model(now.model))).el);
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
    html: (one, now, old) => { if (now.value !== old.value) one.inner.innerHTML = now.value ?? ""; },
    text: (one, now, old) => {
      one.input.placeholder = now.placeholder ?? "";
      if (now.rows) one.input.rows = now.rows;
      fill(one, now, old, now.value ?? "", "value");
    },
    checkbox: (one, now, old) => fill(one, now, old, now.value ?? false, "checked"),
    dropdown: (one, now, old) => {
      if (String(now.options) !== String(old.options)) {
        one.input.replaceChildren(...now.options.map((text) => new Option(text)));
        old = {};
      }
      fill(one, now, old, now.value, "selectedIndex");
    },
    button: (one, now) => {
      one.el.textContent = now.label;
      one.el.setAttribute("aria-disabled", !!now.disabled || !now.token);
      one.el.setAttribute("aria-busy", !now.token);
    },
    fold: (one, now) => {
      one.label.textContent = now.title;
      one.el.open = !!now.value;
    },
  };
  const TAGS = { fold: "details", button: "button" };
  const paint = (now, kept) => {
    const key = now.id || now.model;
    const one = drawn.get(key) ?? { id: now.id, el: put(null, TAGS[now.kind] ?? "div"), now: {} };
    const old = one.now;
    one.now = now;
    if (!old.kind) {
      if (now.kind === "button") one.el.type = "button";
      makers[now.kind ?? "model"](one, now);
    }
    kept.set(key, one);
    const way = now.kind === "box" ? (now.row ? "widget-hbox" : "widget-vbox") : "";
    const names = ["jupyter-widgets", CSS[now.kind ?? "model"], way, ...(now.classes ?? [])];
    const css = now.kind === "button" ? "chatkit-button plain" : names.filter(Boolean).join(" ");
    if (one.el.className !== css) one.el.className = css;
    one.el.style.display = now.hidden ? "none" : "";
    if (one.label && "description" in now) one.label.textContent = now.description;
    if (one.input) one.input.disabled = !!now.disabled;
    painters[now.kind]?.(one, now, old);
    if (one.inner && now.kind !== "html") {
      const parts = (now.children ?? []).map((child) => paint(child, kept).el);
      for (const gone of [...one.inner.children]) if (!parts.includes(gone)) gone.remove();
      parts.forEach((part, n) => {
        if (one.inner.children[n] !== part) one.inner.insertBefore(part, one.inner.children[n]);
      });
    }
    return one;
  };
  const draw = () => {
    const kept = new Map();
    const { el: root } = paint(model.get("tree"), kept);
    if (root.parentElement !== el) el.append(root);
    drawn = kept;
  };
  const focus = ({ focus: id }) => {
    const one = drawn.get(id)?.el;
    const controls = "input, textarea, select, button, summary";
    if (one) (one.matches(controls) ? one : one.querySelector(controls))?.focus();
  };
  el.classList.add("chatkit-light");
  keepKeys(el);
  model.on("change:tree", draw);
  model.on("msg:custom", focus);
  draw();
  return () => {
    model.off("change:tree", draw);
    model.off("msg:custom", focus);
  };
}
export default { render: hearing(render) };
