// Some Python and a button that copies it; without a secure page the old way of copying.
async function copy(text, pre) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  getSelection().selectAllChildren(pre);
  if (!document.execCommand("copy")) throw new Error("select it and press Ctrl+C");
}
// Inputs of ipywidgets keep every key: what goes on to Jupyter is said again just above them.
const again = (event) => {
  const box = event.target.closest?.('[class*="chatkit-"] :is(.widget-text, .widget-textarea)');
  if (!box || !goesOn(event)) return;
  if (!box.parentElement.dispatchEvent(new KeyboardEvent("keydown", event))) event.preventDefault();
};
const stays = (event) => {
  if (event.target.closest?.('[class*="chatkit-"]') && !goesOn(event)) event.stopPropagation();
};
if (!document.chatkitKeys) {
  document.chatkitKeys = true;
  document.addEventListener("keydown", again, true);
  document.body.addEventListener("keydown", stays);
}
function render({ model, el }) {
  const root = document.createElement("div");
  const pre = document.createElement("pre");
  const button = document.createElement("button");
  root.className = "chatkit-code";
  pre.tabIndex = 0; // it may scroll
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "The same in Python");
  button.type = "button";
  button.className = "chatkit-button small";
  const paint = () => {
    pre.textContent = model.get("text");
    button.textContent = "Copy";
    root.hidden = !model.get("text");
  };
  button.onclick = () =>
    copy(model.get("text"), pre).then(
      () => (button.textContent = "Copied"),
      (error) => (button.textContent = error.message),
    );
  keepKeys(root);
  model.on("change:text", paint);
  paint();
  root.append(pre, button);
  el.append(root);
  return () => model.off("change:text", paint);
}
export default { render: hearing(render) };
