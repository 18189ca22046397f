function draw({size, runs}, place) {
  const sides = Object.keys(runs).map(Number), all = size * size;
  let side = 4, part = "all", chosen = null;  // chosen: [matrix, number]
  const names = ["a", "b", "c"], boxes = names.map((name) => $("div", {id: name}));
  const said = $("p", {id: "said", "aria-live": "polite"}), parts = $("span", {});
  const total = $("p", {id: "total"});
  const per = (list, k) => part === "all" ? list : list.slice(part * k, (part + 1) * k);
  const loads = (t) => per(runs[side][t][0], 2), uses = (t) => per(runs[side][t][1], 2 * side);
  const spell = (number) => number < all ? `a[${Math.floor(number / size)}][${number % size}]`
    : `b[${Math.floor((number - all) / size)}][${number % size}]`;
  const threads = (what, number) => range(all).filter((t) => what(t).includes(number));
  // What lights up: for each matrix, the elements that are loaded and those that are used.
  const lit = () => {
    const loaded = new Set(), used = new Set();
    if (chosen) {
      const [matrix, number] = chosen;
      if (matrix === 2) { loads(number).forEach((n) => loaded.add(n)); uses(number).forEach((n) => used.add(n)); }
      else {
        threads(loads, number + matrix * all).forEach((t) => loaded.add(2 * all + t));
        threads(uses, number + matrix * all).forEach((t) => used.add(2 * all + t));
      }
    }
    return {loaded, used};
  };
  const paint = () => {
    const {loaded, used} = lit();
    for (const e of place.querySelectorAll("[data-n]")) {
      const n = +e.dataset.n;
      e.classList.toggle("write", loaded.has(n));
      e.classList.toggle("read", used.has(n) && !loaded.has(n));
      e.classList.toggle("hot", Boolean(chosen) && n === chosen[0] * all + chosen[1]);
    }
    if (!chosen) { said.textContent = "Point at an element."; return; }
    const [matrix, number] = chosen, row = Math.floor(number / size), column = number % size;
    const own = matrix === 2 ? null : number + matrix * all;
    said.textContent = matrix === 2
      ? `The thread of c[${row}][${column}], in block (${Math.floor(column / side)}, ${Math.floor(row / side)}), loads ${count(loads(number).length, "element")}: `
        + `${loads(number).slice(0, 8).map(spell).join(", ")}. It uses ${count(uses(number).length, "element")}, from shared memory.`
      : `${spell(own)} is loaded by ${count(threads(loads, own).length, "thread")}, one in each block that needs it, and used by ${count(threads(uses, own).length, "thread")}.`;
    fit();
  };
  const pick = (matrix, number) => { chosen = [matrix, number]; paint(); };
  const update = () => {
    names.forEach((name, matrix) => show(boxes[matrix], $("p", {class: "soft"}, name), $("div", {class: "cells",
      style: `grid-template-columns: repeat(${size}, 26px); gap: 1px`}, ...range(all).map((i) => {
      const row = Math.floor(i / size), column = i % size;
      const edge = `${row && row % side === 0 ? "margin-top: 5px;" : ""}${column && column % side === 0 ? "margin-left: 5px;" : ""}`;
      return $("div", {class: "cell", "data-n": matrix * all + i, tabindex: 0, style: `${edge} min-width: 0`,
        role: "img", "aria-label": `${name}[${row}][${column}]`, onpointerenter: () => pick(matrix, i), onfocus: () => pick(matrix, i)}, "");
    }))));
    parts.replaceChildren(choice("step along k", ["all", ...range(size / side)], part === "all" ? 0 : part + 1,
      (value) => { part = value; paint(); }));
    const loaded = runs[side].reduce((sum, [l]) => sum + l.length, 0);
    const used = runs[side].reduce((sum, [, u]) => sum + u.length, 0);
    total.textContent = `All threads together load ${loaded} elements from global memory and use ${used}: each one loaded is used ${used / loaded} times.`;
    paint();
  };
  document.addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: size, ArrowUp: -size}[event.key];
    const at = chosen && by && chosen[1] + by;
    if (at == null || at < 0 || at >= all) return;
    place.querySelector(`[data-n="${chosen[0] * all + at}"]`).focus();
    event.preventDefault();
  });
  place.append($("h1", {}, "c = a b, by tiles in shared memory"),
    $("div", {class: "bar"}, choice("side of a tile", sides, 1, (value) => { side = value; part = "all"; update(); }), parts),
    $("div", {class: "bar", style: "align-items: flex-end; gap: 24px"}, boxes[0], $("div", {}, boxes[1], boxes[2])),
    legend(["write", "loaded by its thread"], ["read", "used, loaded by another"]), said, total);
  update();
}
