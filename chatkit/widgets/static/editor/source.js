// The source of an Editor: a text area over the same text in colours, with numbered lines.
// The coloured text is made of text nodes only: nothing in a document becomes markup.
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;
const BOUND = /\$\{[^}"]*\}|`[^`]*`/g;
const LONG = 1500; // characters of a line beyond which it is not coloured

function render({ model, el }) {
  const root = make(el, "div", "cs-source");
  keepKeys(root);
  const gutter = make(root, "div", "cs-gutter");
  gutter.setAttribute("aria-hidden", "true");
  const page = make(root, "div", "cs-page");
  const under = make(page, "div", "cs-under");
  under.setAttribute("aria-hidden", "true");
  const area = make(page, "textarea", "cs-area");
  Object.assign(area, { spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off" });
  area.setAttribute("aria-label", "Source of the flow, JSON");

  // --- colours -----------------------------------------------------------------------------
  const texts = (parent, name, text) => {
    const one = make(parent, "span", name);
    let last = 0;
    for (const match of text.matchAll(BOUND)) {
      one.append(text.slice(last, match.index));
      make(one, "span", "cs-bound", match[0]);
      last = match.index + match[0].length;
    }
    one.append(text.slice(last));
  };
  const colour = (text) => {
    const line = make(null, "div", "cs-line");
    if (text.length > LONG) {
      line.append(text);
      return line;
    }
    let last = 0;
    for (const match of text.matchAll(TOKEN)) {
      line.append(text.slice(last, match.index));
      if (match[2] !== undefined) {
        make(line, "span", "cs-key", match[1]);
        line.append(match[2]);
      } else if (match[1]) texts(line, "cs-string", match[1]);
      else make(line, "span", "cs-value", match[0]);
      last = match.index + match[0].length;
    }
    line.append(text.slice(last));
    return line;
  };

  // --- drawing: only lines that have changed are made anew -----------------------------------
  let lines = [];
  const draw = () => {
    const fresh = area.value.split("\n");
    let head = 0, tail = 0;
    const least = Math.min(lines.length, fresh.length);
    while (head < least && lines[head] === fresh[head]) head++;
    while (tail < least - head && lines.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
    const after = under.children[lines.length - tail] ?? null;
    for (let n = head; n < lines.length - tail; n++) under.children[head].remove();
    const made = document.createDocumentFragment();
    for (const text of fresh.slice(head, fresh.length - tail)) made.append(colour(text));
    under.insertBefore(made, after);
    while (gutter.children.length < fresh.length) make(gutter, "div", "", String(gutter.children.length + 1));
    while (gutter.children.length > fresh.length) gutter.lastChild.remove();
    lines = fresh;
  };
  const mark = () => {
    for (const one of root.querySelectorAll(".cs-message")) one.remove();
    for (const one of root.querySelectorAll("[data-worst]")) {
      delete one.dataset.worst;
      one.removeAttribute("title");
    }
    const weight = ["note", "warning", "error"];
    for (const { line, severity, message } of model.get("marks")) {
      const number = Math.min(Math.max(line, 1), lines.length) - 1;
      const one = under.children[number], side = gutter.children[number];
      if (weight.indexOf(side.dataset.worst) < weight.indexOf(severity)) one.dataset.worst = side.dataset.worst = severity;
      side.title = side.title ? `${side.title}\n${message}` : message;
      if (!one.querySelector(".cs-message")) make(one, "span", `cs-message cs-${severity}`, message);
    }
  };
  const scroll = () => {
    under.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`;
    gutter.scrollTop = area.scrollTop;
  };

  // --- what is typed -----------------------------------------------------------------------
  let wait = 0;
  const send = () => {
    clearTimeout(wait);
    wait = 0;
    if (area.value === model.get("text")) return;
    model.set("text", area.value);
    model.save_changes();
  };
  area.oninput = () => {
    draw();
    mark();
    scroll();
    clearTimeout(wait);
    wait = setTimeout(send, 350);
  };
  area.onblur = send;
  area.onscroll = scroll;
  area.onkeydown = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // a new line begins where the one before it began
    const before = area.value.slice(0, area.selectionStart), line = before.slice(before.lastIndexOf("\n") + 1);
    const more = /[{[]\s*$/.test(line) ? "  " : "";
    document.execCommand("insertText", false, `\n${/^ */.exec(line)[0]}${more}`);
  };
  const take = () => {
    if (wait || area.value === model.get("text")) return; // what is being typed is newer
    const { scrollTop, scrollLeft, selectionStart } = area;
    area.value = model.get("text");
    area.setSelectionRange(selectionStart, selectionStart);
    Object.assign(area, { scrollTop, scrollLeft });
    draw();
    mark();
    scroll();
  };
  const wide = () => { // of a letter: all have the same
    const one = make(under, "span", "", "0".repeat(50)), width = one.getBoundingClientRect().width / 50;
    one.remove();
    return width;
  };
  const go = ({ line, column, focus }) => {
    if (typeof line !== "number") return;
    const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const place = Math.min(from + column - 1, area.value.length);
    const show = () => {
      if (focus) area.focus({ preventScroll: true });
      area.setSelectionRange(place, place);
      const one = under.children[line - 1];
      one?.classList.remove("cs-there");
      void one?.offsetWidth; // so that it flashes again
      one?.classList.add("cs-there");
      const high = under.firstChild?.offsetHeight || 19;
      area.scrollTop = Math.max(0, (line - 1) * high - area.clientHeight / 3);
      area.scrollLeft = Math.max(0, /^ */.exec(lines[line - 1] ?? "")[0].length - 2) * wide();
      scroll();
    };
    setTimeout(show, area.clientHeight ? 0 : 150); // it may be about to be shown
  };
  model.on("change:text", take);
  model.on("change:marks", mark);
  model.on("msg:custom", go);
  take();
  draw();
  mark();
  return send;
}
export default { render: hearing(render) };
