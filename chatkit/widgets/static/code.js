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
  const root = make(el, "div"), show = codeView(root);
  const paint = () => show(model.get("text"));
  keepKeys(root);
  model.on("change:text", paint);
  paint();
}
export default { render: hearing(render) };
