// View: what stands on a screen, apart from inputs, and how components become elements.

// A place that does something: a link to the web, or a button.
const follow = (parent, action, env, label) => {
  if (action.name !== "open_url") {
    return make(parent, "button", "fp-link", { type: "button", text: label, onclick: () => env.run.act(action, "click"), ...AUTO });
  }
  const url = asText(env.prop(action, "url")), link = outside(parent, url);
  set(link, { text: label, ...AUTO, onclick: () => env.run.act(action, "click") });
  if (link.tagName === "SPAN") make(parent, "span", "fp-help", { text: ` ${url || "no address"} is not a web address` });
  return link;
};

const words = (tag, name) => (node, env) => {
  const element = make(null, tag, name, AUTO);
  const rich = node.type === "RichText" || node.markdown === true;
  let drawn = null;
  const update = () => {
    const value = env.prop(node, "text"), lines = (Array.isArray(value) ? value : [value]).map(asText);
    const text = lines.join("\n"), weight = asText(env.prop(node, "font-weight"));
    element.style.fontWeight = weight.includes("bold") ? "700" : "";
    element.style.fontStyle = weight.includes("italic") ? "italic" : "";
    element.style.textDecoration = truth(env.prop(node, "strikethrough")) ? "line-through" : "";
    if (text === drawn) return;
    drawn = text;
    if (rich) markdown(element, text);
    else set(element, { text });
  };
  return { element, update };
};

const still = (node, env) => {
  const element = make(null, "div", "fp-image");
  let drawn = null;
  const update = () => {
    const [source, alt, wide, high, ratio] = ["src", "alt-text", "width", "height", "aspect-ratio"].map((name) => env.prop(node, name));
    const key = JSON.stringify([source, alt]);
    if (key !== drawn) { element.replaceChildren(); image(element, source, alt); drawn = key; }
    const size = (value) => (numeric(value) ? `${Math.min(number(value), 2000)}px` : "");
    Object.assign(element.firstChild.style, {
      width: size(wide), height: size(high), objectFit: env.prop(node, "scale-type") === "cover" ? "cover" : "contain",
      aspectRatio: size(high) ? "" : numeric(ratio) && number(ratio) > 0 ? String(number(ratio)) : "",
    });
  };
  return { element, update };
};

const carousel = (node, env) => {
  const element = make(null, "div", "fp-carousel", { role: "group", "aria-label": "Pictures" });
  const track = make(element, "div", "fp-track", { tabindex: 0 });
  const dots = make(element, "div", "fp-dots");
  let drawn = "";
  const update = () => {
    const images = nodes(env.prop(node, "images")), key = JSON.stringify(images);
    track.style.aspectRatio = env.prop(node, "aspect-ratio") === "16:9" ? "16 / 9" : "4 / 3";
    track.style.setProperty("--fp-fit", env.prop(node, "scale-type") === "cover" ? "cover" : "contain");
    if (key === drawn) return;
    drawn = key;
    track.replaceChildren();
    dots.replaceChildren();
    for (const one of images) image(make(track, "div"), one.src, one["alt-text"]);
    images.forEach((one, n) => make(dots, "button", "", {
      type: "button", "aria-label": `Picture ${n + 1} of ${images.length}`, onclick: () => track.scrollTo({ left: track.children[n].offsetLeft - track.offsetLeft, behavior: "smooth" }),
    }));
    const mark = () => [...dots.children].forEach((dot, n) =>
      set(dot, { "aria-current": Math.round(Math.abs(track.scrollLeft) / (track.clientWidth || 1)) === n ? "true" : null }));
    track.onscroll = mark;
    mark();
  };
  return { element, update };
};

const navigation = (node, env) => {
  const element = make(null, "div", "fp-field");
  const label = make(element, "p", "fp-label", AUTO), about = make(element, "p", "fp-about", AUTO);
  const rows = make(element, "div", "fp-options");
  let drawn = "";
  const update = () => {
    for (const [part, name] of [[label, "label"], [about, "description"]]) {
      const label = asText(env.prop(node, name));
      set(part, { text: label, hidden: !label });
    }
    const items = nodes(env.prop(node, "list-items")), key = JSON.stringify(items);
    if (key === drawn) return;
    drawn = key;
    rows.replaceChildren();
    items.forEach((item, n) => {
      const part = (name) => (isMap(item[name]) ? item[name] : {});
      const row = make(rows, "button", `fp-option${env.prop(node, "media-size") === "large" ? " fp-large" : ""}`, { type: "button" });
      // its action as it is written: what it refers to is worked out when it is used
      const own = nodes(node["list-items"])[n] ?? item;
      row.onclick = () => env.run.act(own["on-click-action"] ?? node["on-click-action"], "click");
      row.disabled = !isOn(item.enabled);
      if (part("start").image) image(row, part("start").image, part("start")["alt-text"], "fp-thumb");
      const text = make(row, "span", "fp-words");
      if (item.badge) make(text, "span", "fp-badge", { text: asText(item.badge), ...AUTO });
      optionText(text, part("main-content"));
      const tags = list(item.tags);
      if (tags.length) make(text, "span", "fp-tags").append(...tags.map((tag) => make(null, "span", "", { text: asText(tag), ...AUTO })));
      if (item.end) optionText(make(row, "span", "fp-words fp-end"), part("end"));
      icon(row, NEXT, "fp-turn");
    });
  };
  return { element, update };
};

const link = (node, env) => {
  const element = make(null, "p", "fp-more");
  let drawn = null;
  const update = () => {
    const action = isMap(node["on-click-action"]) ? node["on-click-action"] : {};
    const text = asText(env.prop(node, "text")), key = JSON.stringify([text, env.prop(action, "url")]);
    if (key === drawn) return;
    drawn = key;
    element.replaceChildren();
    follow(element, action, env, text);
  };
  return { element, update };
};

// Form, If and Switch: of their branches the chosen one is shown.
const holder = (node, env) => {
  const element = make(null, "div", "fp-holder");
  const drawn = new Map();
  const update = () => {
    const name = branch(node, env.run.scope());
    for (const [other, part] of drawn) part.element.hidden = other !== name;
    if (!drawn.has(name)) {
      const part = stack(chosen(node, name), env);
      element.append(part.element);
      drawn.set(name, part);
    }
    drawn.get(name).update();
  };
  return { element, update };
};

const BUILD = {
  TextHeading: words("h4", "fp-heading"), TextSubheading: words("h4", "fp-subheading"), TextBody: words("div", "fp-text"),
  TextCaption: words("div", "fp-text fp-caption"), RichText: words("div", "fp-text fp-rich"),
  TextInput: text, TextArea: text, DatePicker: date, CalendarPicker: calendar, PhotoPicker: files, DocumentPicker: files,
  CheckboxGroup: group, RadioButtonsGroup: group, ChipsSelector: group, Dropdown: dropdown, OptIn: consent,
  EmbeddedLink: link, Image: still, ImageCarousel: carousel, NavigationList: navigation,
  Form: holder, If: holder, Switch: holder,
};

const broken = (text) => ({ element: make(null, "p", "fp-broken", { text, ...AUTO }), update: () => {} });
const build = (node, env) => {
  const type = asText(node.type);
  if (!Object.hasOwn(BUILD, type)) return broken(type ? `${type} is not a component of a flow.` : "A component without a type.");
  if (Object.hasOwn(EMPTY, type) && !(typeof node.name === "string" && node.name)) return broken(`This ${type} has no name, so nothing can be entered.`);
  try {
    return BUILD[type](node, env);
  } catch (error) {
    return broken(`This ${type} cannot be shown: ${error.message}`);
  }
};

// Components one below the other. A Footer is none of them: it stands at the foot of the phone.
const stack = (some, env) => {
  const element = make(null, "div", "fp-stack");
  const parts = some.filter(({ type }) => type !== "Footer").map((node) => ({ node, ...build(node, env) }));
  element.append(...parts.map((part) => part.element));
  const update = () => {
    for (const part of parts) {
      part.element.hidden = !isSeen(part.node, env.run.scope());
      if (part.element.hidden) continue;
      try {
        part.update();
      } catch (error) {
        const other = broken(`This ${part.node.type} cannot be shown: ${error.message}`);
        part.element.replaceWith(other.element);
        Object.assign(part, other);
      }
    }
  };
  return { element, update };
};
