// Draws other widgets: one below the other, side by side, or each behind a tab.
function render({ model, el, host, signal }) {
  el.classList.add("chatkit-panel", ...model.get("css").split(" ").filter(Boolean));
  const titles = model.get("titles"), view = `chatkit-${Math.random().toString(36).slice(2)}`;
  const bar = titles.length ? make(el, "div", "chatkit-tabs") : null;
  bar?.setAttribute("role", "tablist");
  const choose = (n) => {
    model.set("open_tab", n);
    model.save_changes();
  };
  const tabs = titles.map((title, n) => {
    const tab = make(bar, "button", "", title);
    tab.setAttribute("role", "tab");
    tab.id = `${view}-tab-${n}`;
    tab.setAttribute("aria-controls", `${view}-page-${n}`);
    tab.onclick = () => choose(n);
    tab.onkeydown = (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      choose((n + by + tabs.length) % tabs.length);
      tabs[model.get("open_tab")].focus();
    };
    return tab;
  });
  if (bar) keepKeys(bar);
  const places = model.get("children").map((widget, n) => {
    const place = make(el, "div", model.get("places")[n]);
    if (bar) {
      place.id = `${view}-page-${n}`;
      place.setAttribute("role", "tabpanel");
      place.setAttribute("aria-labelledby", `${view}-tab-${n}`);
    }
    const draw = async (tries) => {
      try {
        return await (await host.getWidget(widget)).render({ el: place, signal });
      } catch (error) {
        if (!tries || signal.aborted) throw error;
        return draw(tries - 1); // a busy page: its script was not there in ten seconds
      }
    };
    draw(5);
    return place;
  });
  const show = () => tabs.forEach((tab, n) => {
    const chosen = n === model.get("open_tab");
    tab.setAttribute("aria-selected", chosen ? "true" : "false");
    tab.tabIndex = chosen ? 0 : -1;
    places[n].hidden = !chosen;
  });
  model.on("change:open_tab", show);
  show();
}
export default { render: hearing(render) };
