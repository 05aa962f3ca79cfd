// Choice: inputs where something is picked: boxes, radio buttons, chips, a list, consent.

// What a choice sets off: the actions of what was left and of what was taken.
const chose = async (node, env, left, taken) => {
  // an action as it is written: what it refers to is worked out when it is used
  const own = (one) => nodes(node["data-source"]).find(({ id }) => asText(id) === one.id) ?? one;
  const both = [...left.map((one) => [own(one), "on-unselect-action"]), ...taken.map((one) => [own(one), "on-select-action"])];
  for (const [one, key] of both) if (isMap(one?.[key])) await env.run.act(one[key], "select");
  const key = taken.length || node.type === "Dropdown" ? "on-select-action" : "on-unselect-action";
  if (isMap(node[key]) && !both.some(([one]) => isMap(one?.[key]))) await env.run.act(node[key], "select");
};
const options = (env, node) => nodes(env.prop(node, "data-source")).map((one) => ({ ...one, id: asText(one.id) }));

const optionText = (parent, one) => {
  make(parent, "span", "fp-title", { text: asText(one.title), ...AUTO });
  for (const key of ["description", "metadata"]) {
    if (one[key]) make(parent, "span", `fp-${key}`, { text: asText(one[key]), ...AUTO });
  }
};

// Boxes, radio buttons and chips are drawn anew only when there are others to choose from.
const group = (node, env) => {
  const single = node.type === "RadioButtonsGroup", chips = node.type === "ChipsSelector";
  const field = fieldOf(node, env, "fieldset");
  const rows = make(field.slot, "div", chips ? "fp-chips" : "fp-options");
  let drawn = "", inputs = [];
  const value = () => (single ? [env.form()[node.name]] : list(env.form()[node.name]));
  const pick = (one, on) => {
    const old = value(), all = options(env, node);
    const now = single ? [one.id] : all.map(({ id }) => id).filter((id) => (id === one.id ? on : old.includes(id)));
    env.run.write(node, single ? one.id : now);
    const left = all.filter(({ id }) => old.includes(id) && !now.includes(id));
    chose(node, env, left, now.includes(one.id) ? [one] : []);
  };
  const draw = (all) => {
    inputs = [];
    rows.replaceChildren();
    for (const one of all) {
      const row = make(rows, "label", `${chips ? "fp-chip" : "fp-option"}${env.prop(node, "media-size") === "large" ? " fp-large" : ""}`);
      if (one.image) image(row, one.image, one["alt-text"], "fp-thumb");
      else if (/^#[0-9a-f]{6}$/i.test(one.color ?? "")) make(row, "span", "fp-thumb", { style: `background: ${one.color}`, role: "img", "aria-label": one["alt-text"] || null });
      optionText(make(row, "span", "fp-words"), one);
      const input = make(row, "input", "", { type: single ? "radio" : "checkbox", name: `${env.id}-${node.name}` });
      input.onchange = () => pick(one, input.checked);
      inputs.push([input, one, row]);
    }
    if (!all.length) make(rows, "p", "fp-help", { text: "There is nothing to choose from." });
  };
  const update = () => {
    const all = options(env, node), key = JSON.stringify(all), off = !isOn(env.prop(node, "enabled")), now = value();
    if (key !== drawn) { draw(all); drawn = key; }
    const full = !single && now.length >= bounds(node, (name) => env.prop(node, name)).most;
    for (const [input, one, row] of inputs) {
      input.checked = now.includes(one.id);
      input.disabled = off || !isOn(one.enabled) || (full && !input.checked);
      row.classList.toggle("fp-off", input.disabled);
      row.classList.toggle("fp-picked", input.checked);
    }
    field.update();
  };
  return { element: field.element, update };
};

const dropdown = (node, env) => {
  const field = fieldOf(node, env);
  const select = field.control(make(make(field.slot, "div", "fp-select"), "select", "fp-box"));
  const about = make(field.slot, "p", "fp-help", AUTO);
  let drawn = "";
  select.onchange = () => {
    const all = options(env, node), old = env.form()[node.name];
    env.run.write(node, select.value);
    chose(node, env, all.filter(({ id }) => id === old), all.filter(({ id }) => id === select.value));
  };
  select.onblur = field.touch;
  const update = () => {
    const all = options(env, node), key = JSON.stringify(all), value = asText(env.form()[node.name]);
    if (key !== drawn) {
      select.replaceChildren();
      make(select, "option", "", { value: "", text: all.length ? "Select" : "There is nothing to choose from" });
      for (const one of all) make(select, "option", "", { value: one.id, text: asText(one.title), disabled: !isOn(one.enabled) });
      drawn = key;
    }
    select.value = value;
    select.disabled = !isOn(env.prop(node, "enabled"));
    const one = all.find(({ id }) => id === value);
    set(about, { text: [one?.description, one?.metadata].filter(Boolean).map(asText).join(" · "), hidden: !one?.description && !one?.metadata });
    field.update();
  };
  return { element: field.element, update };
};

const consent = (node, env) => {
  const element = make(null, "div", "fp-field fp-consent");
  const row = make(element, "div", "fp-row");
  const input = make(row, "input", "", { type: "checkbox", id: env.fresh() });
  const words = make(row, "div", "fp-words");
  const label = make(words, "label", "", { for: input.id, ...AUTO });
  const wrong = make(element, "p", "fp-wrong", { id: env.fresh(), ...AUTO });
  if (isMap(node["on-click-action"])) {
    words.append(" ");
    follow(words, node["on-click-action"], env, "Read more");
  }
  input.onchange = () => {
    env.run.write(node, input.checked);
    chose(node, env, input.checked ? [] : [node], input.checked ? [node] : []);
  };
  const update = () => {
    set(label, { text: asText(env.prop(node, "label")) });
    input.checked = env.form()[node.name] === true;
    const text = env.touched(node) ? env.run.problem(node)[1] : "";
    set(wrong, { text, hidden: !text });
    set(input, { "aria-required": String(truth(env.prop(node, "required"))), "aria-invalid": text ? "true" : null, "aria-describedby": text ? wrong.id : null });
    optional(label, node, env);
  };
  return { element, update };
};
