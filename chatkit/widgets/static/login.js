// What is typed goes to Python as one message and is never part of the widget's state, so that no
// notebook keeps it; the password field is empty as soon as it has been sent.
function render({ model, el }) {
  const form = document.createElement("form");
  form.className = "chatkit-form";
  form.autocomplete = "off";
  const title = document.createElement("strong");
  title.textContent = model.get("title");
  const field = (label, type, value) => {
    const row = document.createElement("label");
    row.style.display = "block";
    row.style.margin = "0.5em 0";
    const input = document.createElement("input");
    input.type = type;
    input.value = value;
    input.required = true;
    input.spellcheck = false;
    input.autocomplete = type === "password" ? "new-password" : "off";
    input.style.display = "block";
    input.style.width = "28em";
    row.append(label, input);
    return [row, input];
  };
  const [whereRow, where] = field("Base address", "text", model.get("base_url"));
  const [accountRow, account] = field("Account id", "text", model.get("account_id"));
  const [tokenRow, token] = field("Access token", "password", "");
  const place = document.createElement("p");
  place.textContent = model.get("place");
  const button = document.createElement("button");
  button.type = "submit";
  button.textContent = "Check and keep";
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const paint = () => {
    said.textContent = model.get("said");
    for (const one of [where, account, token, button]) one.disabled = model.get("kept");
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    model.send({ base_url: where.value, account_id: account.value, token: token.value });
    token.value = "";
  };
  form.onkeydown = (event) => event.stopPropagation();
  model.on("change", paint);
  form.append(title, whereRow, accountRow, tokenRow, place, button, said);
  el.append(form);
  paint();
  return () => {
    token.value = "";
    model.off("change", paint);
  };
}
export default { render };
