// Shows what was saved of a widget of chatkit where no kernel has it any more, in JupyterLab and
// in Notebook 7, and keeps what is saved up to date while the widget is used.
//
// JupyterLab prefers the view of a widget to the HTML in the same output, and writes "Error
// displaying widget: model not found" where the kernel has ended. The widgets of chatkit are
// marked with a type of their own, which this extension renders: the view that ipywidgets makes
// while the widget is live, and the HTML of the output otherwise.
//
// A prebuilt extension is a container of module federation: an object with `init` and `get` under
// its name in `_JUPYTERLAB`. Nothing is shared with others, so it is written here by hand.
(() => {
  const MARK = "application/vnd.chatkit.saved+json";
  const VIEW = "application/vnd.jupyter.widget-view+json";
  const HTML = "text/html";
  const RANK = -20; // that of VIEW is -10; the lowest is preferred
  const LOADING = 250; // ms in which a live widget is mostly there: what is saved does not flash
  const SETTLED = 1000; // ms after a change until the kernel is asked what to save
  const ENDED = ["restarting", "autorestarting", "terminating", "dead"];

  function createRenderer(rendermime, session) {
    if (!rendermime.mimeTypes.includes(VIEW)) return rendermime.createRenderer(HTML);
    // The renderer of ipywidgets itself: its widget manager looks for objects of that class.
    const view = rendermime.createRenderer(VIEW);
    const draw = view.renderModel.bind(view);
    let output = null; // the model of this output, whose HTML is kept up to date
    let shown = null; // what is shown of the HTML
    let forget = null; // ends to follow the live widget
    let manager = null;

    const isLive = () => forget !== null;

    function hideSaved() {
      shown?.dispose();
      shown = null;
    }

    async function showSaved() {
      if (view.isDisposed || isLive()) return;
      hideSaved();
      view.widgets.forEach((widget) => widget.hide());
      [...view.node.childNodes].filter((node) => node.nodeType === 3).forEach((n) => n.remove());
      view.removeClass("jupyter-widgets");
      shown = rendermime.createRenderer(HTML);
      view.addWidget(shown);
      await shown.renderModel(output);
    }

    function end() {
      if (!isLive()) return;
      forget();
      forget = null;
      void showSaved();
    }

    view.renderModel = async (model) => {
      output = model;
      if (isLive()) return; // what was saved has changed, the widget stays
      if (shown) await shown.renderModel(output);
      const timer = setTimeout(showSaved, LOADING);
      try {
        if (!manager) {
          manager = await view._manager.promise;
          manager.restored.connect(() => view.renderModel(output));
        }
        const id = output.data[VIEW]?.model_id;
        const widget = id && manager.has_model(id) ? await manager.get_model(id) : null;
        if (view.isDisposed || isLive()) return;
        if (!widget?.comm_live) {
          if (manager.restoredStatus) await showSaved();
          return;
        }
        hideSaved();
        await draw(output);
        if (view.widgets.length) forget = follow(widget, view.node, () => output, end);
        else await showSaved();
      } finally {
        if (isLive() || view.isDisposed) clearTimeout(timer);
      }
    };

    const onStatus = (_, status) => ENDED.includes(status) && end();
    session.statusChanged.connect(onStatus);
    session.kernelChanged.connect(end);
    view.disposed.connect(() => {
      session.statusChanged.disconnect(onStatus);
      session.kernelChanged.disconnect(end);
      forget?.();
    });
    return view;
  }

  // Ask the kernel for the HTML after each change that can be seen, at most once a second.
  function follow(widget, node, output, end) {
    let timer = 0;
    const ask = () => {
      timer = 0;
      if (!widget.comm_live) return;
      if (widget._msg_buffer) changed(); // ipywidgets holds back what the kernel would not know yet
      else widget.send({ chatkit: "save" });
    };
    const changed = () => (timer ||= setTimeout(ask, SETTLED));
    const keep = (content) => {
      const saved = content?.chatkit_saved;
      const { data, metadata } = output();
      if (saved && Object.keys(saved).some((kind) => saved[kind] !== data[kind])) {
        output().setData({ data: { ...data, ...saved }, metadata });
      }
    };
    const onLive = () => widget.comm_live || end();
    const observer = new MutationObserver(changed);
    observer.observe(node, { attributes: true, characterData: true, childList: true, subtree: true });
    node.addEventListener("input", changed);
    widget.on("msg:custom", keep);
    widget.on("comm_live_update", onLive);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      node.removeEventListener("input", changed);
      widget.off("msg:custom", keep);
      widget.off("comm_live_update", onLive);
    };
  }

  const plugin = {
    id: "chatkit:saved",
    autoStart: true,
    activate: (app) => {
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew: (panel) => {
          const { rendermime } = panel.content;
          const session = panel.context.sessionContext;
          const create = () => createRenderer(rendermime, session);
          rendermime.addFactory({ safe: false, mimeTypes: [MARK], createRenderer: create }, RANK);
        },
      });
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  const module = { __esModule: true, default: plugin };
  window._JUPYTERLAB.chatkit = { init: () => {}, get: async () => () => module };
})();
