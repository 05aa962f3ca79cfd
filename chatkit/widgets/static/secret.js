// A signing secret on its way to a person. It comes as a message and is never part of the
// widget's state, so that no notebook keeps it; it leaves the page when it is handed over.
async function copy(text, output) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  getSelection().selectAllChildren(output);
  if (!document.execCommand("copy")) throw new Error("Select it and press Ctrl+C");
}
const HIDDEN = "•".repeat(64);
function render({ model, el }) {
  const root = make(el, "div", "sc-secret");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Signing secret");
  const told = make(root, "p"), output = make(root, "output"), bar = make(root, "div");
  let wanted = "";
  const button = (text, act) => {
    const one = make(bar, "button", "chatkit-button small", text);
    one.onclick = act;
    return one;
  };
  const ask = (what) => {
    wanted = what;
    model.send({ ask: what });
  };
  const isShown = () => output.textContent !== HIDDEN;
  const show = button("Show", () => (isShown() ? hide() : ask("show")));
  const put = (text) => {
    output.textContent = text;
    show.textContent = isShown() ? "Hide" : "Show";
    output.setAttribute("aria-label", isShown() ? "Signing secret" : "Signing secret, hidden");
  };
  const hide = () => put(HIDDEN);
  button("Copy", () => ask("copy"));
  const keyring = button("Keep in keyring", () => ask("keyring"));
  const done = button("Done: forget it", () => ask("forget"));
  const said = make(bar, "span");
  said.setAttribute("role", "status");
  const paint = () => {
    const waits = model.get("waits");
    root.hidden = !model.get("text");
    if (!waits) {
      // the focus does not get lost with the buttons
      if (bar.contains(document.activeElement)) told.focus();
      hide();
    }
    output.hidden = bar.hidden = !waits;
    if (waits && model.get("kept") && keyring === document.activeElement) done.focus();
    keyring.hidden = model.get("kept");
    told.textContent = model.get("text");
  };
  const hear = (message) => {
    if (message.said !== undefined) said.textContent = message.said;
    if (!message.secret || !wanted) return;
    const before = isShown();
    const shown = wanted === "show";
    wanted = "";
    put(message.secret);
    if (shown) return;
    copy(message.secret, output).then(
      () => {
        said.textContent = "Copied.";
        if (!before) hide();
      },
      (error) => (said.textContent = error.message),
    );
  };
  told.tabIndex = -1;
  hide();
  keepKeys(root);
  model.on("msg:custom", hear);
  model.on("change", paint);
  paint();
  return () => {
    hide();
    model.off("msg:custom", hear);
    model.off("change", paint);
  };
}
export default { render: hearing(render) };
