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
  // Enter in a line of text. What was typed last may still wait for its turn, so the kernel is
  // asked first: when it answers, all of that is on its way, before the press.
  let asked = "";
  const enter = (event) => {
    const { target, key, shiftKey, ctrlKey, altKey, metaKey } = event;
    if (key !== "Enter" || shiftKey || ctrlKey || altKey || metaKey || event.isComposing) return;
    const form = el.closest(`.${model.get("enter")}`);
    if (!form?.contains(target) || !target.matches("input")) return;
    event.preventDefault();
    asked = String(Math.random());
    model.send({ typed: asked });
  };
  const heard = (message) => {
    if (!asked || message.typed !== asked) return;
    asked = "";
    press();
  };
  if (model.get("enter")) document.addEventListener("keydown", enter, true);
  keepKeys(button);
  model.on("change", paint);
  model.on("msg:custom", heard);
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
  return () => {
    document.removeEventListener("keydown", enter, true);
    model.off("change", paint);
    model.off("msg:custom", heard);
  };
}
export default { render: hearing(render) };
