// The messages with one contact. Each bubble comes as HTML in which Python has escaped every word
// of a stranger; one that has not changed stays as it is, with what is unfolded in it.
function render({ model, el }) {
  const view = crypto.randomUUID?.() ?? String(Math.random());
  const root = make(null, "div", "chatkit-conversation");
  const head = make(null, "h3");
  head.dir = "auto";
  const state = make(null, "span", "cv-state");
  state.setAttribute("role", "status");
  const note = make(null, "p");
  const log = make(null, "div", "cv-log");
  log.tabIndex = 0;
  log.setAttribute("role", "log");
  log.setAttribute("aria-label", "Messages, oldest first");
  const list = make(null, "ol");
  log.append(list);
  const more = make(null, "button", "chatkit-button small");
  root.append(head, state, note, more, log);
  keepKeys(root);
  el.append(root);

  const bubbles = new Map();
  let problem = "", asked = false;
  more.onclick = () => {
    asked = true;
    model.send({ older: true });
  };
  const bubble = (html, before) => {
    const template = make(null, "template");
    template.innerHTML = html;
    const line = template.content.firstElementChild;
    const rest = line.querySelector("details");
    if (rest && before?.line.querySelector("details")?.open) rest.open = true;
    return line;
  };
  const put = ({ title, note: words, older, items }) => {
    const height = log.scrollHeight, focused = more === document.activeElement;
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    head.textContent = title;
    note.textContent = words;
    note.hidden = !words;
    more.textContent = older;
    more.hidden = !older;
    if (focused && !older) log.focus();
    log.hidden = !items.length;
    const gone = new Set(bubbles.keys());
    let next = list.firstElementChild;
    for (const [key, html] of items) {
      gone.delete(key);
      const before = bubbles.get(key);
      if (before?.html !== html) {
        const line = bubble(html, before);
        if (before) {
          if (next === before.line) next = line;
          before.line.replaceWith(line);
        }
        bubbles.set(key, { html, line });
      }
      const { line } = bubbles.get(key);
      if (line === next) next = next.nextElementSibling;
      else list.insertBefore(line, next);
    }
    for (const key of gone) {
      bubbles.get(key).line.remove();
      bubbles.delete(key);
    }
    // who reads further up is not moved
    // the older ones that come last are seen, above what was the first
    if (asked) log.scrollTop = log.scrollHeight - height - log.clientHeight * 0.8;
    else if (atEnd) log.scrollTop = log.scrollHeight;
    asked = false;
  };
  const paint = () => {
    const mode = model.get("stopped") ? "stopped" : "live";
    root.dataset.state = mode;
    state.textContent = problem ? `${mode} · ${problem}` : mode;
  };
  const hear = (message) => {
    if (message.view && message.view !== view) return;
    if (message.all) put(message.all);
    if (message.problem !== undefined) problem = message.problem;
    paint();
  };
  model.on("msg:custom", hear);
  model.on("change:stopped", paint);
  put(model.get("first"));
  paint();
  requestAnimationFrame(() => (log.scrollTop = log.scrollHeight));
  model.send({ here: view });
  return () => model.send({ gone: view });
}
export default { render: hearing(render) };
