// The files of a folder, and beside them what differs from the account in the one that is chosen.
// The kernel writes the HTML of a difference; here is the list, its search and its keys.
const MOST = 500; // files that are listed at once
const SIGNS = ["=", "~", "-", "+"];
function render({ model, el }) {
  const get = (name) => model.get(name);
  const root = make(el, "div", "fv-folder");
  root.style.setProperty("--fv-height", `${get("height")}px`);
  const head = make(root, "p");
  head.setAttribute("role", "status");
  const bar = make(root, "div", "fv-bar chatkit-sticky");
  const labelled = (text, type) => {
    const label = make(bar, "label");
    const input = make(null, "input");
    input.type = type;
    type === "checkbox" ? label.append(input, text) : label.append(text, input);
    return input;
  };
  const search = labelled("Search", "search");
  search.className = "fv-search";
  const only = labelled("only what differs", "checkbox");
  const whole = labelled("all lines", "checkbox");
  const again = make(bar, "button", "chatkit-button small", "Read again");
  const sides = make(root, "div", "fv-sides");
  const list = make(sides, "div", "fv-files");
  list.tabIndex = 0;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Files");
  const pane = make(sides, "div", "fv-pane");
  pane.tabIndex = 0;
  pane.setAttribute("role", "region");
  const id = `fv-${Math.random().toString(36).slice(2)}`; // of this view alone
  let listed = [];

  const paintList = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), states = get("states");
    const matches = get("listed").map(([path, state], n) => ({ path, state, n })).filter(({ path, state }) =>
      (!only.checked || state) && words.every((word) => `${path} ${states[state]}`.toLowerCase().includes(word)));
    list.replaceChildren();
    listed = matches.slice(0, MOST);
    let group = null, folder = null;
    for (const { path, state, n } of listed) {
      const cut = path.lastIndexOf("/") + 1, here = path.slice(0, cut);
      if (here !== folder) {
        folder = here;
        group = make(list, "div");
        group.setAttribute("role", "group");
        group.setAttribute("aria-label", here || "the folder itself");
        if (here) make(group, "div", "fv-group", here).setAttribute("aria-hidden", "true");
      }
      const option = make(group, "div", "fv-file");
      option.id = `${id}-${n}`;
      option.dataset.n = n;
      option.setAttribute("role", "option");
      option.setAttribute("aria-label", `${path}, ${states[state]}`);
      make(option, "b", "", SIGNS[state]);
      make(option, "span", "", path.slice(cut)).dir = "auto";
    }
    if (!listed.length) make(list, "div", "fv-none", get("listed").length ? "No file has that." : "No files.");
    if (matches.length > MOST) make(list, "div", "fv-none", `… and ${(matches.length - MOST).toLocaleString("en")} more: search`);
    paintChosen();
  };
  const paintChosen = () => {
    const chosen = get("chosen");
    for (const option of list.querySelectorAll(".fv-file")) option.setAttribute("aria-selected", Number(option.dataset.n) === chosen);
    const at = document.getElementById(`${id}-${chosen}`) ?? list.querySelector(`#${id}-${chosen}`);
    at ? list.setAttribute("aria-activedescendant", at.id) : list.removeAttribute("aria-activedescendant");
    if (at && list.clientHeight) {
      const top = at.offsetTop - list.offsetTop, low = top + at.offsetHeight;
      if (top < list.scrollTop) list.scrollTop = top - 24;
      else if (low > list.scrollTop + list.clientHeight) list.scrollTop = low - list.clientHeight + 8;
    }
  };
  const paint = () => {
    head.textContent = get("heading");
    pane.innerHTML = get("difference");
    pane.setAttribute("aria-label", `${pane.querySelector(".fv-title")?.textContent ?? "No file"}: ${get("heading")}`);
    pane.scrollTop = 0;
  };
  const open = (n) => { if (n !== get("chosen")) model.send({ open: n }); };
  list.addEventListener("click", ({ target }) => {
    const option = target.closest(".fv-file");
    if (option) open(Number(option.dataset.n));
  });
  list.addEventListener("keydown", (event) => {
    const at = listed.findIndex(({ n }) => n === get("chosen")), last = listed.length - 1;
    const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    event.preventDefault();
    open(listed[to].n);
  });
  search.addEventListener("input", paintList);
  only.addEventListener("change", paintList);
  whole.addEventListener("change", () => root.classList.toggle("fv-all", whole.checked));
  again.onclick = () => model.send({ again: true });
  keepKeys(root);
  model.on("change:listed", paintList);
  model.on("change:chosen", paintChosen);
  model.on("change:heading change:difference", paint);
  paintList();
  paint();
}
export default { render: hearing(render) };
