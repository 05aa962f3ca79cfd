// A button whose click says which token it saw: Python acts on each token once.
// Disabled and busy are said with aria-disabled, so that the keyboard keeps its place.
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
  button.onclick = () => {
    if (button.getAttribute("aria-disabled") === "false") {
      model.send({ token: model.get("token") });
    }
  };
  keepKeys(button);
  model.on("change", paint);
  paint();
  el.append(button);
  return () => model.off("change", paint);
}
export default { render };
