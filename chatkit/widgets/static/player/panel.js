// Panel: beside the phone, what would be sent now and what was sent at each step.

const panel = (parent, { jump, restart }) => {
  const element = make(parent, "details", "fp-panel", { open: true });
  make(element, "summary", "", { text: "What is sent" });
  const bar = make(element, "div", "fp-tools");
  const label = make(bar, "label", "", { text: "Screen " });
  const screens = make(label, "select");
  make(bar, "button", "chatkit-button small", { type: "button", text: "Start again", onclick: restart });
  screens.onchange = () => jump(screens.value);
  const next = make(element, "section"), past = make(element, "section"), notes = make(element, "section");
  const part = (section, title) => { section.replaceChildren(); make(section, "h4", "", { text: title }); };
  const json = (section, value) => {
    const text = JSON.stringify(value, null, 2), line = text.replace(/\n */g, " ");
    make(section, "pre", "", { text: line.length < 48 ? line : text, tabindex: 0, dir: "ltr", role: "group", "aria-label": "JSON" });
  };
  let ids = "";
  const update = (run, footer) => {
    const all = [...run.screens.keys()], key = JSON.stringify(all);
    if (key !== ids) {
      screens.replaceChildren(...all.map((id) => make(null, "option", "", { value: id, text: id })));
      ids = key;
    }
    screens.value = run.here.id;
    const action = footer && isMap(footer["on-click-action"]) ? footer["on-click-action"] : null;
    next.hidden = !action || Boolean(run.answers);
    if (!next.hidden) {
      part(next, `${asText(action.name)} would send`);
      json(next, run.payload(action));
    }
    past.hidden = !run.steps.length;
    part(past, "Sent so far, the latest first");
    const latest = [...run.steps.entries()].reverse();
    for (const [n, step] of latest) {
      const to = step.next ? ` → ${step.next}` : "";
      make(past, "p", "", { text: `${n + 1}. ${step.screen}: ${step.action}${to}`, ...AUTO });
      json(past, step.payload);
    }
    notes.hidden = !run.doubts.size;
    part(notes, "Doubts");
    for (const doubt of run.doubts) make(notes, "p", "fp-doubt", { text: doubt, ...AUTO });
  };
  return { element, update };
};
