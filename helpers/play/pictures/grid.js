function draw({sizes, blocks, guards, counts}, place) {
  const names = Object.keys(guards);
  let n = 10, block = 4, guard = names[0];
  const threads = $("div", {id: "threads"}), array = $("div", {id: "array"}), code = $("code", {id: "code"});
  const said = $("p", {id: "said", "aria-live": "polite"});
  const light = (i) => {
    for (const e of place.querySelectorAll("[data-i]")) e.classList.toggle("hot", +e.dataset.i === i);
    const b = Math.floor(i / block);
    if (i !== null) code.textContent = `i = blockIdx.x * blockDim.x + threadIdx.x = ${b} * ${block} + ${i % block} = ${i}`
      + (i < n ? "" : guards[guard] ? `; ${i} < ${n} is false: nothing to do` : `; there is no x[${i}]`);
  };
  const cell = (i, kind, text) => $("div", {class: `cell ${kind}`, "data-i": i, tabindex: 0,
    onpointerenter: () => light(i), onfocus: () => light(i)}, text);
  const update = () => {
    const grid = Math.ceil(n / block), all = grid * block, asks = guards[guard];
    const [stores, outside] = counts[guard][block][sizes.indexOf(n)];
    const kind = (i) => i < n ? (Math.floor(i / block) % 2 ? "read" : "on") : asks ? "" : "bad";
    code.textContent = `${asks ? `${asks} ` : ""}x[i] = i;`;
    show(threads, $("p", {class: "soft"}, `grid: ${count(grid, "block")} of ${block} threads`),
      ...range(grid).map((b) => $("div", {class: "bar"}, $("span", {class: "soft"}, `block ${b}`),
        $("div", {class: `cells${block === 32 ? " row" : ""}`}, ...range(block).map((t) => cell(b * block + t, kind(b * block + t), t))))));
    show(array, $("p", {class: "soft"}, `x, ${count(n, "element")}${outside ? ", and what lies after it" : ""}`),
      $("div", {class: "cells"}, ...range(asks ? n : all).map((i) => cell(i, kind(i), i))));
    said.textContent = `${count(stores, "thread")} of ${all} ${stores === 1 ? "stores" : "store"}; `
      + (outside ? `${count(4 * outside, "byte")} outside the array overwritten.`
        : all - stores ? `the other ${all - stores} of the last block ${all - stores === 1 ? "has" : "have"} nothing to do.` : "no thread is left over.")
      + ` Blocks run as warps of 32 lanes: ${grid * Math.max(1, block / 32) * 32} lanes, of which ${stores} do something.`;
    said.className = outside ? "alarm" : "";
  };
  place.append($("div", {class: "bar"},
    slider("n", sizes, sizes.indexOf(n), (value) => { n = value; update(); }),
    choice("block size", blocks, 0, (value) => { block = value; update(); }),
    choice("guard", names, 0, (value) => { guard = value; update(); })),
  $("p", {}, code), threads, array,
  legend(["on", "even block"], ["read", "odd block"], ["cell", "nothing to do"], ["bad", "outside"]), said);
  update();
}
