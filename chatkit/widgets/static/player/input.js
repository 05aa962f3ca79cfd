// Input: the frame that every input has, texts, dates, files.

// After the label of what may be left empty.
const optional = (label, node, env) => {
  const asked = env.prop(node, "required");
  const needed = truth(asked) || (isMap(asked) && Object.values(asked).some(truth)) || (node.type in COUNTS && bounds(node, (name) => env.prop(node, name)).least > 0);
  label.classList.toggle("fp-optional", !needed);
};

// A field: its label, a slot for the control, help, and what is wrong with what was entered.
const fieldOf = (node, env, tag = "div") => {
  const element = make(null, tag, "fp-field");
  const label = make(element, tag === "fieldset" ? "legend" : "label", "fp-label", { id: env.fresh(), ...AUTO });
  const about = make(element, "p", "fp-about", AUTO);
  const slot = make(element, "div", "fp-slot");
  const foot = make(element, "div", "fp-under");
  const help = make(foot, "p", "fp-help", { id: env.fresh(), ...AUTO });
  const wrong = make(foot, "p", "fp-wrong", { id: env.fresh(), ...AUTO });
  const count = make(foot, "p", "fp-count", { "aria-hidden": "true" });
  let control = null;
  const range = (value) => (isMap(value) ? [value["start-date"], value["end-date"]].filter(Boolean).map(asText).join(" – ") : asText(value));
  return {
    element, slot, label, count,
    control: (one) => {
      control = one;
      one.id ||= env.fresh();
      label.htmlFor = one.id;
      return one;
    },
    touch: () => { if (!env.touched(node)) { env.touch(node); env.run.changed(); } },
    update: () => {
      const text = range(env.prop(node, "label"));
      set(label, { text: text || node.name || node.type });
      element.classList.toggle("fp-big", env.prop(node, "label-variant") === "large");
      optional(label, node, env);
      const description = asText(env.prop(node, "description"));
      set(about, { text: description, hidden: !description });
      const bad = env.wrong(node), hint = range(env.prop(node, "helper-text")) || env.hint(node);
      set(wrong, { text: bad, hidden: !bad });
      set(help, { text: hint, hidden: !hint || Boolean(bad) });
      element.classList.toggle("fp-bad", Boolean(bad));
      const types = control?.matches("input, textarea, select"); // a button has no such states
      const described = bad ? wrong.id : hint ? help.id : null;
      set(control ?? element, { "aria-describedby": described, "aria-invalid": types && bad ? "true" : null });
      if (types) set(control, { "aria-required": label.classList.contains("fp-optional") ? null : "true" });
    },
  };
};

const MODES = { number: "decimal", email: "email", phone: "tel", passcode: "numeric" };
const text = (node, env) => {
  const field = fieldOf(node, env);
  const area = node.type === "TextArea";
  const input = field.control(make(field.slot, area ? "textarea" : "input", "fp-box", { autocomplete: "off", spellcheck: "false", ...AUTO }));
  if (area) input.rows = 4;
  input.oninput = () => env.run.write(node, input.value);
  input.onblur = field.touch;
  const update = () => {
    const type = area ? "" : asText(env.prop(node, "input-type"));
    if (!area) set(input, { type: ["password", "passcode"].includes(type) ? "password" : "text", inputmode: MODES[type] ?? null });
    const value = asText(env.form()[node.name]), prop = (name) => env.prop(node, name);
    if (input.value !== value) input.value = value;
    input.disabled = !isOn(env.prop(node, "enabled"));
    const most = area ? limit(prop, "max-length", 600) : limit(prop, "max-chars", 0);
    const long = [...value].length;
    set(field.count, { text: most ? `${long}/${most}` : "", hidden: !most || (area && !("max-length" in node) && long < 400) });
    field.update();
  };
  return { element: field.element, update };
};

const date = (node, env) => {
  const field = fieldOf(node, env);
  const input = field.control(make(field.slot, "input", "fp-box", { type: "date" }));
  input.onchange = () => {
    const value = input.value && env.run.old ? String(Date.parse(input.value)) : input.value;
    env.run.write(node, value);
    if (value) chose(node, env, [], [node]);
  };
  input.onblur = field.touch;
  const update = () => {
    const value = day(env.form()[node.name]);
    if (input.value !== value && document.activeElement !== input) input.value = value;
    set(input, { min: day(env.prop(node, "min-date")) || null, max: day(env.prop(node, "max-date")) || null });
    input.disabled = !isOn(env.prop(node, "enabled"));
    field.update();
  };
  return { element: field.element, update };
};

// Photos and documents stay in the browser: what is sent is their names and kinds.
const files = (node, env) => {
  const photo = node.type === "PhotoPicker", noun = photo ? "photo" : "document";
  const field = fieldOf(node, env);
  const kept = make(field.slot, "ul", "fp-files");
  const bar = make(field.slot, "div", "fp-row");
  const input = make(bar, "input", "fp-unseen", { type: "file", multiple: true, tabindex: -1, "aria-hidden": "true" });
  const add = field.control(make(bar, "button", "fp-second", { type: "button", text: `Choose ${noun}s`, onclick: () => input.click() }));
  set(add, { "aria-labelledby": `${field.label.id} ${add.id}` });
  const sample = make(bar, "button", "fp-second", { type: "button", text: "Use a sample", onclick: () => take([{ name: photo ? "sample.jpg" : "sample.pdf", type: photo ? "image/jpeg" : kinds()[0] ?? "application/pdf", size: 1024 }]) });
  const kinds = () => list(env.prop(node, "allowed-mime-types")).map(asText);
  const take = (some) => {
    const taken = [...some].filter(({ type }) => photo ? type.startsWith("image/") : !kinds().length || kinds().includes(type));
    env.run.write(node, [...list(env.form()[node.name]), ...taken.map(({ name, type, size }) => ({ file_name: name, mime_type: type, size }))]);
    if (taken.length < some.length) env.say(`Only ${photo ? "pictures" : kinds().join(", ")} can be sent here.`);
  };
  input.onchange = () => { take(input.files); input.value = ""; };
  const update = () => {
    const value = list(env.form()[node.name]), off = !isOn(env.prop(node, "enabled"));
    kept.replaceChildren();
    value.forEach((one, n) => {
      const row = make(kept, "li");
      make(row, "span", "", { text: asText(one?.file_name), ...AUTO });
      icon(make(row, "button", "fp-plain", { type: "button", "aria-label": `Remove ${asText(one?.file_name)}`, onclick: () => { env.run.write(node, value.filter((_, at) => at !== n)); add.focus(); } }), CLOSE);
    });
    add.disabled = sample.disabled = off || value.length >= bounds(node, (name) => env.prop(node, name)).most;
    set(input, { accept: photo ? "image/*" : kinds().join(",") || null });
    field.update();
  };
  return { element: field.element, update };
};
