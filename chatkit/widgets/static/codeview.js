// Some Python, and a button that copies it; without a secure page the old way of copying.
async function copy(text, element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  getSelection().selectAllChildren(element);
  if (!document.execCommand("copy")) throw new Error("Select it and press Ctrl+C");
}
const codeView = (root) => {
  root.classList.add("chatkit-code");
  const pre = make(root, "pre");
  pre.tabIndex = 0; // it may scroll
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "The same in Python");
  const button = make(root, "button", "chatkit-button small", "Copy");
  button.onclick = () =>
    copy(pre.textContent, pre).then(
      () => (button.textContent = "Copied"),
      (error) => (button.textContent = error.message),
    );
  return (text) => {
    pre.textContent = text;
    button.textContent = "Copy";
    root.hidden = !text;
  };
};
