function draw({size, kernel, runs, strides, paddings, dilations}, place) {
  const [height, width] = size;
  let stride = 1, padding = 1, dilation = 1, at = 0, chosen = null, dragging = false;
  const image = $("div", {id: "image"}), matrix = $("div", {id: "matrix", class: "wide", tabindex: "0"});
  const said = $("p", {id: "said", "aria-live": "polite"});
  const run = () => runs[`${stride} ${padding} ${dilation}`];
  const extent = () => (kernel - 1) * dilation + 1;
  const steer = (row, column) => {
    const [down, across] = run(), middle = Math.floor(extent() / 2);
    const near = (n, most) => Math.max(0, Math.min(most - 1, Math.round((n + padding - middle) / stride)));
    return near(row, down) * across + near(column, across);
  };
  const go = (to) => { at = to; chosen = null; update(); };
  const under = () => {  // what lies under the window: "row column" of each of its elements
    const [, across] = run(), top = Math.floor(at / across) * stride - padding;
    const left = (at % across) * stride - padding;
    return new Set(range(kernel * kernel).map((k) =>
      `${top + Math.floor(k / kernel) * dilation} ${left + (k % kernel) * dilation}`));
  };
  const drawImage = () => {
    const covered = under(), rows = range(height + 2 * padding), columns = range(width + 2 * padding);
    show(image, $("div", {class: "cells", style: `grid-template-columns: repeat(${columns.length}, 30px); touch-action: none`},
      ...rows.flatMap((r) => columns.map((c) => {
        const row = r - padding, column = c - padding;
        const inside = row >= 0 && row < height && column >= 0 && column < width;
        const number = inside ? row * width + column + 1 : 0, hot = number && number === chosen;
        return $("div", {class: `cell ${covered.has(`${row} ${column}`) ? "read" : ""} ${hot ? "hot" : ""}`,
          "data-row": row, "data-column": column, style: inside ? null : "border-style: dashed"}, number);
      }))));
  };
  const drawMatrix = () => {
    const [, across, values] = run();
    show(matrix, $("div", {class: "cells", style: `grid-template-columns: repeat(${values[0].length}, 24px); max-width: none`},
      ...values.flatMap((row, k) => row.map((value, column) => $("div", {
        class: `cell ${column === at ? "write" : ""} ${chosen && value === chosen ? "hot" : ""}`, style: "min-width: 0; padding: 0",
        "data-k": k, "data-place": column, title: `element ${k} of the window at place (${Math.floor(column / across)}, ${column % across})`,
        onclick: () => { at = column; chosen = value || null; update(); }}, value)))));
  };
  const tell = () => {
    if (!run()) return;
    const [down, across, values] = run(), own = values.map((row) => row[at]);
    const outside = own.filter((value) => !value).length;
    const copies = chosen ? values.flat().filter((value) => value === chosen).length : 0;
    said.textContent = `Thread ${at}: the window at place (${Math.floor(at / across)}, ${at % across}) of ${down} × ${across}. `
      + `It reads ${kernel * kernel - outside} elements and writes ${kernel * kernel} into column ${at}`
      + (outside ? `, 0 for the ${outside} outside the image.` : ".")
      + (chosen ? ` Element ${chosen} is copied ${count(copies, "time")}: col2im adds these up.` : "");
  };
  const update = () => {
    if (!run()) { show(image); show(matrix); said.textContent = "The window is larger than the image: it finds no place."; return; }
    at = Math.min(at, run()[0] * run()[1] - 1);
    drawImage();
    drawMatrix();
    tell();
  };
  const cellAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("#image .cell");
  const follow = (event) => {
    const cell = cellAt(event);
    if (cell) go(steer(+cell.dataset.row, +cell.dataset.column));
  };
  image.addEventListener("pointerdown", (event) => { dragging = true; follow(event); });
  document.addEventListener("pointerup", () => { dragging = false; });
  image.addEventListener("pointermove", (event) => {
    if (dragging) return follow(event);
    const cell = cellAt(event), number = cell ? +cell.textContent || null : null;
    if (number !== chosen) { chosen = number; drawImage(); drawMatrix(); tell(); }
  });
  document.addEventListener("keydown", (event) => {
    const by = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
    if (!by || !run() || event.target.closest("input")) return;
    const [down, across] = run();
    const row = Math.floor(at / across) + by[0], column = at % across + by[1];
    if (row >= 0 && row < down && column >= 0 && column < across) go(row * across + column);
    event.preventDefault();
  });
  place.append($("h1", {}, `A window of ${kernel} × ${kernel} over an image of ${height} × ${width}`),
    $("div", {class: "bar"}, choice("stride", strides, 0, (v) => { stride = v; update(); }),
      choice("padding", paddings, 1, (v) => { padding = v; update(); }),
      choice("dilation", dilations, 0, (v) => { dilation = v; update(); })),
    $("p", {class: "soft"}, "Drag the window, or move it with the arrow keys; point at an element to see where it goes."),
    image, $("p", {class: "soft"}, "The matrix: a column for each place, a row for each element of the window"), matrix,
    legend(["read", "under the window"], ["write", "its column"]), said);
  update();
}
