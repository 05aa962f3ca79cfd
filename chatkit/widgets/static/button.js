// A button whose click says which token it saw: Python acts on each token once.
// Disabled and busy are said with aria-disabled, so that the keyboard keeps its place.
let focused = false; // of this button: it may be drawn again, at another place
function render({ model, el }) {
  const button = document.createElement("button");
  button.type = "button";
  const paint = () => {
    const idle = model.get("token") && !model.get("disabled");
    button.textContent = model.get("label");
    button.className = `chatkit-button ${model.get("kind")}`;
    button.setAttribute("aria-disabled", idle ? "false" : "true");
    button.setAttribute("aria-busy", model.get("token") ? "false" : "true");
  };
  const press = () => {
    if (button.getAttribute("aria-disabled") === "false") {
      model.send({ token: model.get("token") });
    }
  };
  button.onclick = press;
  keepKeys(button);
  model.on("change", paint);
  paint();
  button.onfocus = () => { focused = true; };
  button.onblur = () => setTimeout(() => { if (button.isConnected) focused = false; });
  el.append(button);
  const again = (tries) => {
    if (!focused || !tries) return;
    if (!button.isConnected) setTimeout(() => again(tries - 1), 50);
    else if (!document.activeElement?.matches("input, select, textarea, button")) button.focus();
  };
  again(20);
}
export default { render: hearing(render) };
