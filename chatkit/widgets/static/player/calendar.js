// Calendar: a month to choose a day from, or the first and the last day of a range.

const shift = (date, days) => iso(new Date(Date.parse(date) + days * DAY));
const monthOf = (date, by) => {
  const [year, month] = date.split("-").map(Number);
  return iso(new Date(Date.UTC(year, month - 1 + by, 1)));
};
const named = (date, how) => new Date(date).toLocaleDateString(undefined, { timeZone: "UTC", ...how });
const MOVES = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

const calendar = (node, env) => {
  const field = fieldOf(node, env);
  const open = field.control(make(field.slot, "button", "fp-box fp-date", { type: "button" }));
  const sheet = make(field.slot, "div", "fp-calendar", { hidden: true });
  const heading = make(sheet, "p", "fp-label", AUTO);
  const bar = make(sheet, "div", "fp-month");
  const turn = (by, label, path) => icon(make(bar, "button", "fp-plain", { type: "button", "aria-label": label, onclick: () => { at = monthOf(at, by); draw(); } }), path, "fp-turn");
  turn(-1, "Month before", BACK);
  const title = make(bar, "span", "fp-title", { "aria-live": "polite" });
  turn(1, "Month after", NEXT);
  const days = make(sheet, "div", "fp-days", { role: "group" });
  const range = () => env.prop(node, "mode") === "range";
  const prop = (name) => env.prop(node, name);
  const value = () => {
    const held = env.form()[node.name];
    return isMap(held) ? [day(held["start-date"]), day(held["end-date"])] : [day(held), ""];
  };
  const start = () => {
    const today = iso(new Date()), from = day(prop("min-date")), to = day(prop("max-date"));
    return value()[0] || (from && from > today ? from : to && to < today ? to : today);
  };
  let at = "", first = "";
  const pick = (date) => {
    if (!range()) {
      env.run.write(node, date);
      show(false);
      chose(node, env, [], [node]);
    } else if (!first || date < first) {
      first = date;
      env.run.write(node, { "start-date": date, "end-date": "" });
    } else {
      env.run.write(node, { "start-date": first, "end-date": date });
      first = "";
      show(false);
      chose(node, env, [], [node]);
    }
    at = date;
    draw();
  };
  const draw = () => {
    const month = at.slice(0, 7), begin = `${month}-01`, [from, to] = value();
    const focused = days.contains(days.getRootNode().activeElement);
    set(title, { text: named(begin, { month: "long", year: "numeric" }) });
    days.replaceChildren();
    // 2024-01-01 was a Monday
    for (let n = 0; n < 7; n++) make(days, "span", "fp-week", { text: named(shift("2024-01-01", n), { weekday: "narrow" }), "aria-hidden": "true" });
    const lead = (new Date(begin).getUTCDay() + 6) % 7;
    for (let date = begin, n = 0; date.startsWith(month); date = shift(date, 1), n++) {
      const why = closed(date, prop), ends = date === from || date === to;
      const made = make(days, "button", `fp-day${ends ? " fp-picked" : to && date > from && date < to ? " fp-between" : ""}`, {
        type: "button", text: String(n + 1), "data-date": date, tabindex: date === at ? 0 : -1, "aria-disabled": why ? "true" : null,
        "aria-label": `${named(date, { dateStyle: "full" })}${why ? `. ${why}` : ""}`, "aria-pressed": String(ends), title: why || null,
        style: n ? null : `grid-column-start: ${lead + 1}`,
      });
      made.onclick = () => { if (!why) pick(date); };
    }
    if (focused) focus();
  };
  const focus = () => days.querySelector("[tabindex='0']")?.focus();
  const show = (on) => {
    sheet.hidden = !on;
    open.setAttribute("aria-expanded", String(on));
    if (on) { at = start(); draw(); sheet.scrollIntoView({ block: "nearest" }); focus(); } else { first = ""; open.focus(); }
  };
  open.onclick = () => show(sheet.hidden);
  days.onkeydown = (event) => {
    const flip = getComputedStyle(days).direction === "rtl" && /Left|Right/.test(event.key) ? -1 : 1;
    if (event.key in MOVES) at = shift(at, MOVES[event.key] * flip);
    else if (event.key === "PageUp" || event.key === "PageDown") at = monthOf(at, event.key === "PageUp" ? -1 : 1);
    else return;
    event.preventDefault();
    draw();
    focus();
  };
  sheet.onkeydown = (event) => { if (event.key === "Escape") show(false); };
  const update = () => {
    const some = value().filter(Boolean).map(read).join(" – ");
    set(open, { text: some || "Select", "aria-expanded": String(!sheet.hidden), "aria-labelledby": `${field.label.id} ${open.id}` });
    set(heading, { text: asText(prop("title")), hidden: !range() || !prop("title") });
    open.classList.toggle("fp-empty", !some);
    open.disabled = !isOn(prop("enabled"));
    if (!sheet.hidden && at) draw();
    field.update();
  };
  return { element: field.element, update };
};
