// JupyterLab shows cells that begin with %%kernel as C++. It loads this file as it stands: what a
// bundler would write around it, a container of one module, is the last statement. It also makes the
// course's figures, whose one tone serves both themes, darker on white and brighter on black.
(() => {
  const CUDA = "text/x-c++src";
  const DRAWN = ":is(img.drawn, .jp-RenderedMarkdown img[src*='/exercises/'])";
  const STYLE = `[data-jp-theme-light="true"] ${DRAWN} { filter: brightness(0.8) }
    [data-jp-theme-light="false"] ${DRAWN} { filter: brightness(1.15) }`;
  let shared;

  async function fromLab(name) {
    const [version] = Object.values(shared[name]);
    return (await version.get())();
  }

  function watchCell(notebook, cell) {
    const update = () => {
      const isKernel = cell.sharedModel.getSource().startsWith("%%kernel");
      if (isKernel) cell.mimeType = CUDA;
      else if (cell.mimeType === CUDA) cell.mimeType = notebook.codeMimetype;
    };
    cell.contentChanged.connect(update);
    cell.mimeTypeChanged.connect(update); // the notebook sets it, too, once its kernel is known
    update();
  }

  function watchNotebook(notebook) {
    const seen = new WeakSet();
    const watchCells = () => {
      for (const cell of notebook.model?.cells ?? []) {
        if (cell.type !== "code" || seen.has(cell)) continue;
        seen.add(cell);
        watchCell(notebook, cell);
      }
    };
    const watchModel = () => {
      notebook.model?.cells.changed.connect(watchCells);
      watchCells();
    };
    notebook.modelChanged.connect(watchModel);
    watchModel();
  }

  async function plugin() {
    const { INotebookTracker } = await fromLab("@jupyterlab/notebook");
    return {
      id: "kernel-cells:plugin",
      autoStart: true,
      requires: [INotebookTracker],
      activate: (app, notebooks) => {
        document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
        notebooks.forEach(panel => watchNotebook(panel.content));
        notebooks.widgetAdded.connect((_, panel) => watchNotebook(panel.content));
      },
    };
  }

  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB["kernel-cells"] = {
    init: scope => void (shared = scope),
    get: async () => {
      const found = await plugin();
      return () => ({ __esModule: true, default: found });
    },
  };
})();
