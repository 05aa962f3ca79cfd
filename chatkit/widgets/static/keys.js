// The keys of a widget: what is typed stays in it, and a table keeps the letters that would be
// commands to a notebook. Ctrl+S and whatever else Jupyter does with Ctrl, Cmd, Alt or a function
// key goes on to it, unless the widget has used it, or it edits the text in an input.
const EDITS = /^([acvxyzZ]|Arrow.*|Home|End|Backspace|Delete|Insert)$/;
const goesOn = (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (event.defaultPrevented || event.isComposing || event.getModifierState("AltGraph")) return false;
  if (!ctrlKey && !metaKey && !altKey) return /^F[0-9]+$/.test(key);
  return !EDITS.test(key) || !target.matches("input, textarea, select");
};
const keepKeys = (root) => root.addEventListener("keydown", (event) => {
  if (!goesOn(event)) event.stopPropagation();
});
