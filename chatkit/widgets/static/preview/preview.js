// A message drawn of texts and elements, never of markup, and nothing is fetched.
const ICONS = {
  custom: "M10 8V4l-7 7 7 7v-4c5 0 8.500 1.500 11 5-1-6-4-10-11-11z",
  visit_website: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  call_phone: "M6 3h3l2 5-2.500 1.500a12 12 0 0 0 6 6L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3z",
  copy_offer_code: "M9 9h11v11H9zM5 15H4V4h11v1",
  view_catalog: "M4 8h16l-1 12H5zM8 8a4 4 0 0 1 8 0",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01",
  video: "M4 5h16v14H4zM10 9l5 3-5 3z",
  document: "M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h7",
  all: "M4 7h16M4 12h16M4 17h16",
};
const SIMPLE = ["strong", "em", "s", "code"];
const icon = (parent, name) => {
  const space = "http://www.w3.org/2000/svg";
  const drawn = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name] ?? ICONS.document);
  drawn.append(path);
  parent.append(drawn);
};
const write = (parent, runs) => {
  let inner = parent, last = "";
  for (const [text, tags, mark] of runs) {
    if (String(tags) !== last) {
      inner = parent;
      for (const tag of tags) if (SIMPLE.includes(tag)) inner = make(inner, tag);
      last = String(tags);
    }
    if (!mark) inner.append(text);
    else make(inner, "span", `pv-${mark}`, text).title =
      { sample: "a sample value", missing: "no sample value", odd: "a character that is not seen" }[mark];
  }
};
const tap = (list, { kind, label, about }) => {
  const item = make(list, "li", ["custom", "visit_website"].includes(kind) ? "pv-turned" : "");
  icon(item, kind);
  write(make(item, "span"), label);
  item.title = about;
};
const draw = (root, message, notes, open, toggle) => {
  const phone = make(null, "div", "pv-phone");
  phone.dir = message.direction;
  phone.lang = message.lang_code.replaceAll("_", "-");
  const bubble = make(phone, "div", "pv-bubble");
  if (message.medium) {
    const box = make(bubble, "div", `pv-medium pv-${message.medium}`);
    icon(box, message.medium);
    make(box, "span", "", message.file || message.medium).dir = "auto";
  }
  for (const part of ["header", "body", "footer"]) {
    if (message[part].length) write(make(bubble, "div", `pv-${part}`), message[part]);
  }
  if (!message.body.length) make(bubble, "div", "pv-body pv-empty", "…");
  make(bubble, "div", "pv-time", "10:30").dir = "ltr";
  if (message.buttons.length) {
    const list = make(bubble, "ul", "pv-taps");
    const many = message.buttons.length > 3;
    for (const one of many && !open ? message.buttons.slice(0, 2) : message.buttons) tap(list, one);
    if (many) {
      const more = make(make(list, "li"), "button", "", open ? "See fewer options" : "See all options");
      more.type = "button";
      more.setAttribute("aria-expanded", open);
      icon(more, "all");
      more.onclick = toggle;
    }
  }
  const figure = make(null, "figure");
  figure.setAttribute("aria-label", `Message in ${message.name}, as a customer sees it`);
  figure.append(phone);
  if (notes.length) make(figure, "figcaption", "", notes.join(" "));
  root.replaceChildren(figure);
};
function render({ model, el }) {
  const root = make(el, "div", "pv-preview");
  let open = false;
  const paint = () => {
    const message = model.get("message");
    if (!message.body) return; // the model is open, and its content still on the way
    draw(root, message, model.get("notes"), open, () => {
      open = !open;
      paint();
      root.querySelector("button").focus();
    });
  };
  model.on("change", paint);
  paint();
}
export default { render: hearing(render) };
