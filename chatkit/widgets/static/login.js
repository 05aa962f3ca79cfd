// What is typed goes to Python as one message and is never part of the widget's state, so that no
// notebook keeps it; the password field is empty as soon as it has been sent.
function render({ model, el }) {
  const make = (tag, parent, properties = {}) => {
    const made = Object.assign(document.createElement(tag), properties);
    parent.append(made);
    return made;
  };
  const form = make("form", el, { className: "chatkit-login", autocomplete: "off" });
  make("h3", form, { textContent: model.get("title") });
  const fields = make("div", form);
  const field = (name, properties) => {
    const row = make("label", fields, { textContent: name });
    return make("input", row, { required: true, spellcheck: false, autocomplete: "off", ...properties });
  };
  const where = field("Base address", {
    type: "text", value: model.get("base_url"), placeholder: "https://api.example.com", inputMode: "url",
  });
  const account = field("Account id", {
    type: "text", value: model.get("account_id"), placeholder: "1001",
  });
  const choices = make("fieldset", fields, { hidden: !model.get("fault") });
  make("legend", choices, { textContent: `${model.get("fault")} Where will the token be?` });
  const name = `chatkit-place-${Math.random()}`; // radio buttons of two forms in a page are apart
  const choice = (text, more, checked) => {
    const row = make("label", choices, { textContent: text });
    const input = make("input", row, { type: "radio", name, checked });
    row.prepend(input);
    make("small", row, { textContent: more });
    return input;
  };
  const file = choice("In a file that only you can read", model.get("file"), true);
  const nowhere = choice(
    "In a variable that I set in a terminal, before I start JupyterLab",
    "The token is not asked for here. In place of the dots, write it into this line:",
    false,
  );
  make("pre", nowhere.parentElement, { textContent: model.get("line") });
  const token = field("Access token", { type: "password", autocomplete: "new-password" });
  make("small", token.parentElement, {
    textContent: `${model.get("fault") ? "" : "It goes into the keyring of your system. "}`
      + "This notebook keeps nothing of it.",
  });
  const button = make("button", fields, { type: "submit", className: "chatkit-button primary" });
  const said = make("p", form, { className: "chatkit-said" });
  const next = make("pre", form, { tabIndex: 0 });
  const live = make("div", form); // said aloud: a region that was there before its words
  live.append(said, next);
  live.setAttribute("role", "status");
  let sent = false;
  const paint = () => {
    const kept = model.get("kept");
    fields.hidden = kept;
    token.parentElement.hidden = token.disabled = nowhere.checked;
    button.textContent = nowhere.checked ? "Keep address and account" : "Check and keep";
    button.setAttribute("aria-disabled", String(sent));
    said.textContent = sent ? "Asking the service …" : model.get("said");
    said.hidden = !said.textContent;
    said.className = `chatkit-said ${sent ? "" : kept ? "kept" : "wrong"}`;
    next.textContent = model.get("next_line");
    next.hidden = sent || !kept;
  };
  const answered = () => {
    const mine = sent;
    sent = model.get("busy");
    paint();
    if (mine && !sent) (model.get("kept") ? next : token.disabled ? where : token).focus();
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    if (sent) return;
    const place = nowhere.checked ? "nowhere" : "kept";
    model.send({ base_url: where.value, account_id: account.value, token: token.value, place });
    token.value = "";
    sent = true;
    paint();
  };
  file.onchange = nowhere.onchange = paint;
  keepKeys(form);
  model.on("change", answered);
  sent = model.get("busy");
  paint();
  return () => {
    token.value = "";
    model.off("change", answered);
  };
}
export default { render: hearing(render) };
