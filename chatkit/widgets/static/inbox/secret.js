// A signing secret on its way to a person. It comes as a message and is never part of the
// widget's state, so that no notebook keeps it; it leaves the page when it is handed over.
async function copy(text, output) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  getSelection().selectAllChildren(output);
  if (!document.execCommand("copy")) throw new Error("Select it and press Ctrl+C");
}
function render({ model, el }) {
  const root = document.createElement("div");
  root.setAttribute("role", "group");
  root.className = "sc-secret";
  root.setAttribute("aria-label", "Signing secret");
  const told = document.createElement("p");
  const output = document.createElement("output");
  const bar = document.createElement("div");
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  let wanted = "";
  const button = (text, act) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = text;
    one.onclick = act;
    return one;
  };
  const ask = (what) => {
    wanted = what;
    model.send({ ask: what });
  };
  bar.append(
    button("Show", () => ask("show")),
    button("Copy", () => ask("copy")),
    button("Into the keyring", () => ask("keyring")),
    button("Done: forget it", () => ask("forget")),
    said,
  );
  const paint = () => {
    root.hidden = !model.get("webhook");
    if (root.hidden) output.textContent = "";
    output.hidden = !output.textContent;
    told.textContent = model.get("told");
  };
  const hear = (message) => {
    if (message.said !== undefined) said.textContent = message.said;
    if (!message.secret || !wanted) return;
    const show = wanted === "show";
    wanted = "";
    output.textContent = message.secret;
    output.hidden = false;
    if (show) return;
    copy(message.secret, output)
      .then(() => (said.textContent = "Copied."), (error) => (said.textContent = error.message))
      .finally(() => {
        if (said.textContent === "Copied.") output.textContent = "";
        output.hidden = !output.textContent;
      });
  };
  keepKeys(root);
  model.on("msg:custom", hear);
  model.on("change", paint);
  root.append(told, output, bar);
  el.append(root);
  paint();
  return () => {
    model.off("msg:custom", hear);
    model.off("change", paint);
  };
}
export default { render };
