// anywidget gives a model up whose script is not there within two seconds, as in a busy browser in
// which many are loaded at once: it is drawn, but whatever Python says to it is thrown away. So
// what a view draws hears for itself, and asks for what it has not heard.
const hearing = (render) => (context) => {
  const raw = context.model.set({}); // sets nothing, and returns the model itself
  let kind = raw?.comm && Object.getPrototypeOf(raw);
  while (kind && !Object.hasOwn(kind, "_handle_comm_msg")) kind = Object.getPrototypeOf(kind);
  const hear = kind && Object.getPrototypeOf(kind)._handle_comm_msg; // as any other widget does
  if (hear) {
    const lost = () => raw.comm?.send({ method: "request_state" }, {});
    raw.comm.on_msg((message) => hear.call(raw, message));
    Promise.resolve(raw._handle_comm_msg({ content: { data: {} } })).catch(lost);
  }
  return render(context);
};
