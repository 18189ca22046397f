function draw({runs}, place) {
  const names = Object.keys(runs);
  let run = runs[names[0]], at = 0, chosen = null;
  const cells = $("div", {id: "cells"}), said = $("div", {id: "said", "aria-live": "polite"});
  const heading = $("output", {id: "level"}), sum = $("span", {id: "sum", class: "alarm"});
  const go = (to) => { at = Math.max(0, Math.min(run.levels.length - 1, to)); chosen = null; update(); };
  // Each element as it is once its own thread is done with this level.
  const values = () => {
    const now = Array(128).fill("");
    for (const level of run.levels.slice(0, at + 1))
      for (const [i, value] of Object.entries(level.values)) now[i] = value;
    return now;
  };
  const cell = (i, value, {reads, values: written}) => {
    const own = reads.filter(([thread]) => thread === i);
    const read = reads.filter(([, element]) => element === i);
    const stale = [...own, ...read].some(([, , , old]) => old);
    const kind = stale ? "bad" : i in written && at ? "write" : read.length ? "read" : "";
    const hot = chosen !== null && (chosen === i || reads.some(([t, e]) => t === chosen && e === i));
    const pick = () => { if (chosen !== i) { chosen = i; tell(); } };
    return $("div", {class: `cell ${kind}${hot ? " hot" : ""}`, "data-at": i, tabindex: 0,
      onpointerenter: pick, onfocus: pick, "aria-label": `s[${i}] = ${value}`}, String(value));
  };
  const tell = () => {
    const level = run.levels[at], now = values();
    for (const e of cells.querySelectorAll(".cell")) {
      const i = +e.dataset.at;
      e.classList.toggle("hot", chosen !== null && (chosen === i ||
        level.reads.some(([t, place]) => t === chosen && place === i)));
    }
    const own = level.reads.filter(([thread]) => thread === chosen);
    const old = level.reads.filter(([, , , stale]) => stale);
    const words = !at ? "Each thread has loaded its number." : chosen === null
      ? `Threads 0 to ${level.half - 1} add the element ${level.half} further on to their own.`
      : own.length ? `Thread ${chosen} reads ${own.map(([, e, v, stale]) =>
          `s[${e}] = ${v}${stale ? ", too early" : ""}`).join(" and ")}.`
      : `Thread ${chosen} has nothing to do at this level.`;
    show(said, $("p", {}, words), old.length ? $("p", {class: "alarm", id: "stale"},
      `${old.length} reads are stale: warp ${Math.floor(old[0][0] / 32)} reads s[${stretch(old.map(([, e]) => e))}] `
      + `before warp ${stretch(old.map(([, e]) => Math.floor(e / 32)))} has written ${at > 1 ? "its sums of the level before" : "them"}.`) : null,
    at === run.levels.length - 1 ? $("p", {id: "result", class: run.result === 128 ? "" : "alarm"},
      `out[0] = ${run.result}${run.result === 128 ? ", the sum of 128 ones." : "; it should be 128."}`) : null,
    run.finding ? $("p", {class: "soft"}, `The sanitizer, of the whole launch: ${run.finding}`) : null);
  };
  const update = () => {
    const level = run.levels[at], now = values();
    heading.textContent = at ? `half = ${level.half}` : "loaded";
    const right = at ? 128 / level.half : 1;
    sum.textContent = now[0] === right ? "" : `s[0] is ${now[0]}; it should be ${right}`;
    show(cells, ...range(4).map((w) => $("div", {}, $("p", {class: "soft"}, `warp ${w}: s[${32 * w}] to s[${32 * w + 31}]`),
      $("div", {class: "cells row"}, ...range(32).map((l) => cell(32 * w + l, now[32 * w + l], level))))));
    tell();
  };
  document.addEventListener("keydown", ({key}) => {
    if (key === "ArrowRight") go(at + 1);
    if (key === "ArrowLeft") go(at - 1);
  });
  place.append($("h1", {}, "A sum in shared memory"),
    $("div", {class: "bar"}, choice("barriers", names, 0, (name) => { run = runs[name]; update(); })),
    $("div", {class: "bar"}, button("◀ level", () => go(at - 1), {id: "back"}),
      button("level ▶", () => go(at + 1), {id: "next"}), heading, sum),
    cells, legend(["read", "read"], ["write", "read and written"], ["bad", "stale"], ["", "?: whatever was there"]), said);
  update();
}
