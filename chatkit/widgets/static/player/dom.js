// Elements: made and changed with texts and attributes, never with markup.

const set = (element, values) => {
  for (const [name, value] of Object.entries(values)) {
    if (name === "text") { if (element.textContent !== value) element.textContent = value; }
    else if (name.startsWith("on")) element[name] = value;
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
};
const make = (parent, tag, name = "", values = {}) => {
  const made = set(document.createElement(tag), { class: name || null, ...values });
  parent?.append(made);
  return made;
};
const AUTO = { dir: "auto" }; // a text is written from the side of its own first letter

// An icon is a single line, drawn in the colour of the text.
const icon = (parent, path, name = "") => {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  set(made, { class: `fp-icon ${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" });
  made.append(set(document.createElementNS(space, "path"), { d: path }));
  parent.append(made);
};
const BACK = "M15 5l-7 7 7 7", CLOSE = "M6 6l12 12M18 6L6 18", NEXT = "M9 5l7 7-7 7", DONE = "M5 12.5l4.5 4.5L19 7.5";

// The address of a picture that is kept as base64; empty when it is none.
const KINDS = { "/9j/": "jpeg", iVBO: "png", R0lG: "gif", UklG: "webp" };
const picture = (text) => {
  const data = String(text ?? "").replace(/^data:[^,]*,/, "").replace(/\s+/g, "");
  const kind = KINDS[data.slice(0, 4)];
  return kind && /^[A-Za-z0-9+/_-]+=*$/.test(data) ? `data:image/${kind};base64,${data}` : "";
};
// A picture that cannot be drawn leaves its description.
const missing = (event) => {
  const image = event.target;
  image.replaceWith(make(null, "span", "fp-missing", { text: image.alt || "picture", role: "img", "aria-label": image.alt || "picture" }));
};
const image = (parent, source, alt, name) => {
  const address = picture(source);
  const made = make(parent, "img", name, { alt: asText(alt), onerror: missing });
  if (address) made.src = address;
  else missing({ target: made });
};

// A link to the web: it is followed only if it is one, and learns nothing of this page.
const address = (text) => {
  try {
    const { protocol, href } = new URL(text);
    return protocol === "https:" || protocol === "http:" ? href : "";
  } catch {
    return "";
  }
};
const outside = (parent, text) => {
  const href = address(text);
  const values = href ? { href, target: "_blank", rel: "noopener noreferrer", title: href } : { title: "This is not a web address." };
  return make(parent, href ? "a" : "span", href ? "fp-link" : "", values);
};

// Texts that begin with a letter of Hebrew, Arabic or the like are laid out from the right.
const direction = (texts) => {
  const letter = /\p{L}/u.exec(texts.join(" "))?.[0];
  return letter && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(letter) ? "rtl" : "ltr";
};
