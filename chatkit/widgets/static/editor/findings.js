// The findings of an Editor: a list of buttons, each of which leads to its place.
function render({ model, el }) {
  const root = make(el, "div", "cl-findings");
  keepKeys(root);
  const head = make(root, "p", "cl-head");
  head.setAttribute("role", "status");
  head.tabIndex = -1;
  const list = make(root, "ul", "cl-list");
  const draw = () => {
    const findings = model.get("listed");
    head.textContent = findings.length ? model.get("summary") : "No findings: the platform would take it.";
    head.dataset.worst = ["error", "warning"].find((one) => findings.some(({ severity }) => severity === one)) ?? "none";
    const buttons = () => [...list.querySelectorAll("button")], place = buttons().indexOf(document.activeElement);
    list.replaceChildren();
    list.hidden = !findings.length;
    findings.forEach(({ severity, where, message, code, fixable }, n) => {
      const one = make(make(list, "li", ""), "button", `cl-one cl-${severity}`);
      make(one, "span", "cl-mark", severity);
      make(one, "span", "cl-message", message).dir = "auto";
      make(one, "span", "cl-where", [code, where].filter(Boolean).join(" · "));
      one.onclick = () => model.send({ go: n });
      if (!fixable) return;
      const fix = make(one.parentElement, "button", "chatkit-button small", "Fix");
      fix.title = "Fix it. Undo takes that back.";
      fix.setAttribute("aria-label", `Fix: ${message}`);
      fix.onclick = () => model.send({ fix: n });
    });
    // The focus goes on to the finding that is now in the place of the one that was fixed.
    if (place >= 0) (buttons()[Math.min(place, buttons().length - 1)] ?? head).focus();
  };
  model.on("change:listed change:summary", draw);
  draw();
}
export default { render: hearing(render) };
