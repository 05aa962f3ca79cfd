// Elements: made with a class and a text, never with markup; in `parent`, if there is one.
const make = (parent, tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (tag === "button") made.type = "button";
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
};
