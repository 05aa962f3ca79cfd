// Run: where a person is in a flow, what was entered, what was sent. It draws nothing.

const DEEPEST = 60;
const EMPTY = {
  TextInput: "", TextArea: "", RadioButtonsGroup: "", Dropdown: "", DatePicker: "", CalendarPicker: "",
  OptIn: false, CheckboxGroup: [], ChipsSelector: [], PhotoPicker: [], DocumentPicker: [],
};
const list = (value) => (Array.isArray(value) ? value : []);
const nodes = (value) => list(value).filter(isMap);
const cases = (node) => (isMap(node.cases) ? node.cases : {});

// What a component holds, on all its branches.
const inside = (node) => [node.children, node.then, node.else, ...Object.values(cases(node))].flatMap(nodes);
// The branch of it that is chosen now.
const branch = (node, scope) => {
  if (node.type === "If") return holds(node.condition, scope) ? "then" : "else";
  if (node.type !== "Switch") return "children";
  const value = asText(resolve(node.value, scope));
  return Object.hasOwn(cases(node), value) ? value : "default";
};
const chosen = (node, name) => nodes(node.type === "Switch" ? Object.hasOwn(cases(node), name) && cases(node)[name] : node[name]);
const isSeen = (node, scope) => isOn(node.visible) && (node.visible === undefined || truth(resolve(node.visible, scope)));
const isOn = (value) => value === undefined || value === null || (truth(value) && value !== "false");

function* every(some, form = null) {
  for (const node of some) {
    yield [node, form];
    yield* every(inside(node), node.type === "Form" ? node : form);
  }
}
// The components that a person sees now.
function* seen(some, scope, form = null) {
  for (const node of some) {
    if (!isSeen(node, scope)) continue;
    yield [node, form];
    yield* seen(chosen(node, branch(node, scope)), scope, node.type === "Form" ? node : form);
  }
}

// Why a document cannot be walked at all; empty if it can.
const fault = (flow) => {
  if (!isMap(flow)) return "A flow document is a JSON object with a version and screens. This is something else.";
  if (!nodes(flow.screens).length) return "The document has no screens. Add one to “screens”, with an id, a title and a layout.";
  for (let level = [flow], deep = 0; level.length; deep++) {
    if (deep > DEEPEST) return `The document is nested deeper than ${DEEPEST} levels. No flow needs that.`;
    level = level.flatMap((one) => Object.values(one).filter((value) => value !== null && typeof value === "object"));
  }
  return "";
};

class Run {
  // `changed` draws.
  constructor(flow, changed) {
    Object.assign(this, { flow, changed });
    this.screens = new Map();
    nodes(flow.screens).forEach((screen, n) => {
      const id = typeof screen.id === "string" && screen.id ? screen.id : `screen ${n + 1}`;
      if (!this.screens.has(id)) this.screens.set(id, screen);
    });
    this.old = parseFloat(flow.version) < 5; // dates were milliseconds then
  }

  get here() { return this.stack.at(-1); }
  // Whether somebody has gone a step.
  get walked() { return Boolean(this.answers) || this.steps.length > 0; }
  routes(id) { return list(isMap(this.flow.routing_model) ? this.flow.routing_model[id] : null).filter((one) => this.screens.has(one)); }
  layout(screen) { return nodes(isMap(screen.layout) ? screen.layout.children : null); }
  // Where the actions of some components go by themselves.
  targets(screen) {
    const text = JSON.stringify(screen.layout ?? null);
    return new Set([...text.matchAll(/"next":\{[^{}]*"name":("(?:\\.|[^"\\])*")/g)].map((match) => JSON.parse(match[1])));
  }

  entry() {
    const ids = [...this.screens.keys()];
    const reached = isMap(this.flow.routing_model)
      ? new Set(ids.flatMap((id) => this.routes(id).filter((to) => to !== id)))
      : new Set(ids.flatMap((id) => [...this.targets(this.screens.get(id))].filter((to) => to !== id)));
    return ids.find((id) => !reached.has(id)) ?? ids[0];
  }

  start(id = this.entry()) {
    Object.assign(this, { stack: [], visits: new Map(), steps: [], answers: null, doubts: new Set(), notice: "" });
    this.enter(id, {});
  }

  scope(visit = this.here) {
    const screen = Object.fromEntries([...this.visits].map(([id, { data, form }]) => [id, { data, form }]));
    return { data: visit.data, form: visit.form, screen, doubt: (text) => void this.doubts.add(text) };
  }
  prop(node, name) { return resolve(node[name], this.scope()); }

  enter(id, passed) {
    const screen = this.screens.get(id);
    const declared = Object.entries(isMap(screen.data) ? screen.data : {}).filter(([, value]) => isMap(value));
    const data = { ...Object.fromEntries(declared.map(([key, value]) => [key, value.__example__])), ...passed };
    const visit = { id, screen, data, form: Object.create(null), inits: new Map(), touched: new Set(), edited: new Set() };
    this.visits.set(id, visit);
    this.stack.push(visit);
    this.notice = "";
    this.fill();
  }

  // Give each input its first value; a later one only when what it comes from has changed.
  fill() {
    const { screen, form, inits } = this.here;
    for (const [node, around] of every(this.layout(screen))) {
      if (!Object.hasOwn(EMPTY, node.type) || typeof node.name !== "string") continue;
      const all = around && resolve(around["init-values"], this.scope());
      const value = resolve(node["init-value"], this.scope()) ?? (isMap(all) && Object.hasOwn(all, node.name) ? all[node.name] : undefined);
      const key = JSON.stringify(value);
      if (node["data-source"] !== undefined) this.prune(node);
      if (inits.has(node.name) && inits.get(node.name) === key) continue;
      inits.set(node.name, key);
      const empty = EMPTY[node.type];
      if (isEmpty(value)) form[node.name] = Array.isArray(empty) ? [] : empty;
      else if (Array.isArray(empty)) form[node.name] = list(value).map(asText);
      else if (empty === false) form[node.name] = truth(value);
      else form[node.name] = isMap(value) ? value : asText(value);
    }
  }

  // What was chosen from a list goes when the list no longer has it.
  prune(node) {
    const { form } = this.here, held = form[node.name];
    const ids = nodes(this.prop(node, "data-source")).map(({ id }) => asText(id));
    if (Array.isArray(held)) form[node.name] = held.filter((id) => ids.includes(id));
    else if (held && !ids.includes(held)) form[node.name] = "";
  }

  seen() { return [...seen(this.layout(this.here.screen), this.scope())]; }
  // The error text that the flow itself sets for an input.
  custom(node, form) {
    const all = form && this.prop(form, "error-messages");
    const own = this.prop(node, "error-message") ?? (isMap(all) && Object.hasOwn(all, node.name) ? all[node.name] : "");
    return typeof own === "string" ? own : "";
  }
  // [kind, text] of what is wrong with an input: "missing", "wrong", or "" if nothing is.
  problem(node) {
    return Object.hasOwn(EMPTY, node.type) ? check(node, this.here.form[node.name], (name) => this.prop(node, name), this.scope().doubt) : ["", ""];
  }
  problems() { return this.seen().filter(([node]) => this.problem(node)[0]).map(([node]) => node); }

  write(node, value) {
    this.here.form[node.name] = value;
    this.here.edited.add(node.name);
    this.changed();
  }

  // What an action would send now; a reference to nothing sends null.
  payload(action) {
    const plain = isMap(action?.payload) ? resolve(action.payload, this.scope()) : {};
    return JSON.parse(JSON.stringify(plain, (_, value) => (value === undefined ? null : value)));
  }

  // `from` is where it stands: in the "footer", on a "click" elsewhere, or on a "select".
  act(action, from) {
    if (this.answers || !isMap(action)) return;
    const payload = this.payload(action);
    const next = isMap(action.next) ? action.next.name : undefined;
    this.notice = "";
    if (action.name === "navigate") {
      if (this.screens.has(next)) this.step("navigate", payload, () => this.enter(next, payload));
      else this.notice = `This leads to the screen ${asText(next) || "without a name"}, and there is none of that name.`;
    } else if (action.name === "complete") {
      this.step("complete", payload, () => { this.answers = payload; });
    } else if (action.name === "update_data") {
      this.here.data = { ...this.here.data, ...payload };
      this.fill();
    } else if (action.name === "open_url") {
      this.step("open_url", { url: asText(this.prop(action, "url")) }, () => {});
    } else if (action.name === "data_exchange") {
      this.step("data_exchange", payload, () => this.guess(payload, from));
    } else {
      this.notice = `${asText(action.name) || "An action without a name"} is not an action of a flow.`;
    }
    this.changed();
  }

  step(action, payload, go) {
    const step = { screen: this.here.id, action, payload };
    this.steps.push(step);
    go();
    if (this.here.id !== step.screen) step.next = this.here.id;
  }

  // What an endpoint would decide: the next screen in the routing model, with its examples, or the end.
  guess(payload, from) {
    if (from === "select") return;
    const { screen, id } = this.here;
    const others = this.targets(screen);
    const routes = this.routes(id);
    if (screen.terminal === true && from === "footer") this.answers = payload;
    else if (routes.length) this.enter(routes.find((one) => !others.has(one)) ?? routes[0], {});
    else this.notice = "The endpoint decides what comes next, and the routing model names no screen after this one.";
  }

  back() {
    if (this.stack.length < 2) return;
    this.notice = "";
    this.stack.pop();
    this.changed();
  }
}
