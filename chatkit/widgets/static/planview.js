// A table that Python writes: its buttons say which row they are of, and the focus stays where it
// was while the view changes. A file that Python sends is saved by the browser.
const SETTLED = 60; // ms in which what is hidden, and what is shown in its place, have both come
const CONTROLS = "button, input, select, summary, [tabindex='0']";
const ENTERED = "button, input, select, textarea, [contenteditable='true']";
const usable = (one) => one.checkVisibility() && !one.disabled && one.getAttribute("aria-disabled") !== "true";
const named = (one) => one?.dataset?.act && `${one.dataset.act} ${one.dataset.row}`;

// Where the control with the focus goes away, the next one of the view takes the focus.
const keepFocus = (inside) => {
  let last = null, place = 0, name = "", timer = 0;
  const root = () => inside.closest(".chatkit-planview");
  const here = (target) => target.closest(".chatkit-planview") === root();
  const controls = () => [...root().querySelectorAll(CONTROLS)];
  const entered = ({ target }) => {
    if (root()?.contains(target) && here(target)) {
      last = target;
      place = controls().indexOf(target);
      name = named(target);
      watch.observe(root(), { attributeFilter: ["style", "class"], childList: true, subtree: true });
    } else if (last?.checkVisibility()) last = null; // somebody went on; else Jupyter only tidied up
  };
  const find = () => {
    timer = 0;
    if (!last || !root() || last.checkVisibility()) return;
    const at = document.activeElement; // may still be what is hidden
    if (at !== last && at?.matches(ENTERED) && at.checkVisibility()) return void (last = null);
    const all = controls(), bar = last.isConnected && last.closest(".chatkit-bar");
    const near = bar ? all.filter((one) => bar.contains(one)) : [];
    const same = name && all.find((one) => named(one) === name && usable(one));
    const next = same || near.find(usable) || all.slice(Math.max(place, 0)).find(usable) || all.findLast(usable);
    next?.focus();
  };
  const watch = new MutationObserver(() => { timer ||= setTimeout(find, SETTLED); });
  document.addEventListener("focusin", entered);
  return () => {
    clearTimeout(timer);
    watch.disconnect();
    document.removeEventListener("focusin", entered);
  };
};

function render({ model, el }) {
  const pane = make(el, "div", "chatkit-rows"), more = make(el, "div", "chatkit-more");
  keepKeys(pane);
  const side = showMore(pane, more);
  const fits = new ResizeObserver(() => {
    // what is moved sideways is moved by keys too
    const wide = pane.scrollWidth > pane.clientWidth + 1;
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", model.get("label")]])
      wide ? pane.setAttribute(name, value) : pane.removeAttribute(name);
  });
  fits.observe(pane);
  const whole = new Set(); // what all is shown of, however often it is drawn
  const unfold = (button) => {
    const on = whole.has(button.ariaLabel);
    button.closest("tbody").classList.toggle("whole", on);
    button.setAttribute("aria-expanded", on);
    button.textContent = on ? "Show less" : "Show all";
  };
  const paint = () => {
    const had = pane.contains(document.activeElement) && named(document.activeElement);
    pane.innerHTML = model.get("html");
    pane.querySelectorAll("[data-more]").forEach(unfold);
    if (had) [...pane.querySelectorAll("[data-act]")].find((one) => named(one) === had)?.focus();
    side.look();
  };
  pane.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-act]"), more = target.closest("[data-more]");
    if (more) {
      whole.delete(more.ariaLabel) || whole.add(more.ariaLabel);
      unfold(more);
    }
    if (button) model.send({ act: button.dataset.act, row: button.dataset.row });
  });
  // What a click has opened is gone to, once.
  const reveal = (tries = 40) => {
    if (!model.get("opened")) return;
    const view = el.closest(".chatkit-planview"), heading = view?.querySelector("strong")?.closest("p");
    if (!heading?.checkVisibility()) return void (tries && setTimeout(() => reveal(tries - 1), 50));
    model.set("opened", false);
    model.save_changes();
    view.scrollIntoView({ block: "nearest" });
    heading.tabIndex = -1; // whose button went away with what stood here goes on with what came
    const lost = document.activeElement === document.body, bar = view.querySelector(".chatkit-sticky");
    const next = lost && [...bar.querySelectorAll("input, button")].find(usable);
    (next || heading).focus({ preventScroll: true });
  };
  model.on("change:html", paint);
  model.on("change:opened", () => reveal());
  paint();
  reveal();
  const free = keepFocus(el);
  return () => {
    free();
    side.end();
    fits.disconnect();
  };
}
export default { render: hearing(render) };
