const DOES = ["reads", "writes", "updates", "exchanges", "waits"];
const spread = (numbers, mask) => {
  const all = Array(32).fill(undefined);
  lanesOf(mask).forEach((lane, k) => {
    all[lane] = Array.isArray(numbers) ? numbers[0] + k * numbers[1] : numbers.v[k];
  });
  return all;
};

function draw(data, place) {
  const {steps, grid, block} = data, threads = block[0] * block[1] * block[2];
  const warps = Math.ceil(threads / 32), all = grid[0] * grid[1] * grid[2] * warps;
  const title = (w) => `block ${Math.floor(w / warps)}, warp ${w % warps}`;
  const parts = Object.fromEntries(["code", "warps", "lanes", "memory", "said"].map(
    (name) => [name, $("div", {id: name, class: name === "lanes" ? "wide" : ""})]));
  parts.said.setAttribute("aria-live", "polite");
  let now = 0, timer = 0;

  // The memory as it is after steps 0 to `now`, from what each has stored.
  const state = () => {
    const arrays = data.arrays.map(([, , values]) => values.slice()), shared = new Map();
    const variables = range(32).map(() => []), current = steps[now][0];
    steps.slice(0, now + 1).forEach(([warp, , , values, accesses]) => {
      if (warp === current) for (const [number, mask, given] of values)
        spread(given, mask).forEach((v, lane) => { if (v !== undefined) variables[lane][number] = v; });
      for (const [what, mask, array, index, value] of accesses) {
        if (what > 2 || !value) continue;
        const places = spread(index, mask), content = spread(value, mask);
        for (const lane of lanesOf(mask)) {
          const key = array === -1 ? `${Math.floor(warp / warps)}:${places[lane]}` : places[lane];
          if (array === -1) shared.set(key, what === 2 ? "±" : content[lane]);
          else if (array >= 0 && what) arrays[array][key] = what === 2 ? "±" : content[lane];
        }
      }
    });
    return {arrays, shared, variables};
  };

  const go = (to) => { now = Math.max(0, Math.min(steps.length - 1, to)); update(); };
  const find = (from, by, good) => {
    for (let i = from + by; i >= 0 && i < steps.length; i += by) if (good(steps[i])) return go(i);
    go(by > 0 ? steps.length - 1 : 0);
  };
  const ofWarp = (by) => { const w = steps[now][0]; find(now, by, (s) => s[0] === w); };
  const play = () => {
    if (timer) { clearInterval(timer); timer = 0; } else timer = setInterval(() => {
      if (now === steps.length - 1) { clearInterval(timer); timer = 0; } else go(now + 1);
    }, 350);
    player.setAttribute("aria-pressed", Boolean(timer));
  };
  const player = button("▶ play", play, {id: "run", "aria-pressed": "false"});
  const seek = $("input", {type: "range", id: "seek", min: 0, max: steps.length - 1, value: 0,
    "aria-label": "step", oninput: () => go(+seek.value)});
  const where = $("output", {id: "where"});
  const keys = {ArrowRight: () => go(now + 1), ArrowLeft: () => go(now - 1),
    ArrowDown: () => ofWarp(1), ArrowUp: () => ofWarp(-1)};
  document.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.target === seek) return;
    keys[event.key]();
    event.preventDefault();
  });

  const drawCode = (warp, line) => {
    const elsewhere = new Map();  // where the other warps of the block are
    steps.slice(0, now).forEach(([w, l]) => {
      if (w !== warp && Math.floor(w / warps) === Math.floor(warp / warps)) elsewhere.set(w, l);
    });
    const wrong = new Set(data.findings.flatMap(([a, b]) => [a, b]));
    show(parts.code, $("div", {class: "code"}, ...data.lines.map((text, i) => {
      const number = data.first + i;
      const others = [...elsewhere].filter(([, l]) => l === number).map(([w]) => `w${w % warps}`);
      const kind = [number === line && "here", wrong.has(number) && "wrong"].filter(Boolean).join(" ");
      return $("div", {class: kind, "data-line": number, "aria-current": number === line && "step"},
        `${String(number).padStart(3)} ${text}`, others.length ? $("b", {}, ` ◂ ${others.join(" ")}`) : "");
    })));
  };

  const drawWarps = (warp) => {
    const first = Math.max(0, Math.min(warp - 8, all - 16)), shown = range(Math.min(all, 16));
    show(parts.warps, $("div", {class: "bar", role: "group", "aria-label": "warp"}, ...shown.map((i) => {
      const w = first + i;
      return button(title(w).replace("block ", "b").replace(", warp ", " w"),
        () => { if (w !== steps[now][0]) {
          const next = steps.findIndex((s, at) => at > now && s[0] === w);
          go(next >= 0 ? next : steps.findLastIndex((s) => s[0] === w));
        } }, {"aria-pressed": w === warp, "data-warp": w, title: `go to the next step of ${title(w)}`});
    })));
  };

  const drawLanes = (mask, held, from) => {
    const live = range(Math.min(32, threads - from * 32));
    const on = (lane) => (mask >>> lane) & 1;
    const row = (name, cell) => $("tr", {}, $("th", {}, name), ...live.map(cell));
    const known = data.variables.map((name, n) => [name, n])
      .filter(([, n]) => live.some((lane) => held[lane][n] !== undefined));
    show(parts.lanes, $("table", {}, row("lane", (lane) =>
      $("td", {class: on(lane) ? "on" : "", "data-lane": lane,
        title: `thread ${from * 32 + lane}: ${on(lane) ? "at this line" : "not at this line"}`}, lane)),
      ...known.map(([name, n]) => row(name, (lane) =>
        $("td", {class: on(lane) ? "on" : "", "data-variable": name},
          held[lane][n] === undefined ? "" : brief(held[lane][n]))))));
  };

  const touched = (accesses, array) => {
    const read = new Map(), written = new Map();
    for (const [what, mask, target, index] of accesses) if (target === array && what < 3)
      spread(index, mask).forEach((at, lane) => {
        if (at === undefined) return;
        const map = what ? written : read;
        map.set(at, [...(map.get(at) ?? []), lane]);
      });
    return {read, written};
  };
  const drawCells = (name, size, values, {read, written}, always, only) => {
    const outside = [...read.keys(), ...written.keys()].filter((at) => at < 0 || at >= size);
    const hit = [...read.keys(), ...written.keys()].filter((at) => at >= 0 && at < size);
    if (!hit.length && !outside.length && !always) return null;
    const middle = hit.length ? Math.min(...hit) : 0;
    const first = size > 96 ? Math.max(0, Math.min(Math.floor(middle / 32) * 32, size - 96)) : 0;
    const shown = range(Math.min(size, 96)).map((i) => i + first).filter((at) => !only || only.has(at));
    const cells = [...shown, ...new Set(outside)].map((at) => {
      const kind = at < 0 || at >= size ? "bad" : written.has(at) ? "write" : read.has(at) ? "read" : "";
      const who = [["read by", read], ["written by", written]].filter(([, m]) => m.has(at))
        .map(([words, m]) => `${words} ${m.get(at).length > 1 ? "lanes" : "lane"} ${stretch(m.get(at))}`);
      const value = kind === "bad" ? `[${at}]` : values(at) ?? "?";
      return $("div", {class: `cell ${kind}`, "data-at": at,
        title: [kind === "bad" ? `${name}[${at}]` : `${name}[${at}] = ${value}`, ...who].join(", ")}, brief(value));
    });
    return $("div", {"data-array": name}, $("p", {class: "soft"},
      `${name}${size > 96 ? `, elements ${first} to ${first + 95} of ${size}` : ""}`),
      $("div", {class: "cells"}, ...cells));
  };
  const used = new Set(steps.flatMap(([, , , , accesses]) => accesses
    .filter(([what, , array]) => array === -1 && what < 3)
    .flatMap(([, mask, , index]) => spread(index, mask).filter((at) => at >= 0))));
  const sharedSize = [...used].reduce((most, at) => Math.max(most, at + 1), 0);
  const sharedName = (block) => `shared memory of block ${block}${data.unit ? `, in steps of ${count(data.unit, "byte")}` : ""}`;
  const drawMemory = (accesses, {arrays, shared}, warp) => {
    const mine = Math.floor(warp / warps);
    show(parts.memory,
      sharedSize ? drawCells(sharedName(mine), sharedSize,
        (at) => shared.get(`${mine}:${at}`), touched(accesses, -1), true, data.unit ? used : null) : null,
      ...data.arrays.map(([name, size], i) => drawCells(name, size, (at) => arrays[i][at],
        touched(accesses, i), size <= 96)));
  };

  const say = ([warp, line, mask, , accesses]) => {
    const live = lanesOf(mask).length;
    const words = accesses.map(([what, lanes, array, index]) => {
      const who = lanesOf(lanes).length === live ? "" : `${count(lanesOf(lanes).length, "lane")} `;
      const name = array === -1 ? "shared memory" : array >= 0 ? data.arrays[array][0] : "memory";
      if (what === 4) return "waits at the barrier";
      if (what === 3) return `${who}${DOES[3]} values with lanes ${stretch(spread(index, lanes).filter((v) => v !== undefined))}`;
      return `${who}${DOES[what]} ${name}[${stretch(spread(index, lanes).filter((v) => v !== undefined))}]`;
    });
    const wrong = data.findings.filter(([a, b]) => a === line || b === line);
    const places = data.findings.flatMap(([a]) => a || []);
    const others = data.findings.length && !wrong.length ? $("p", {class: "alarm"},
      `The sanitizer found something wrong${places.length ? ` at line ${stretch(places)}` : `: ${data.findings[0][3]}`}.`) : null;
    show(parts.said, $("p", {}, `${title(warp)}, line ${line}: ${count(live, "lane")}${words.length ? "; " : "."}${words.join("; ")}`),
      ...wrong.map(([, , kind, message, advice]) => $("p", {class: "alarm"}, `${kind}: ${message}. ${advice}`)), others);
  };

  const update = () => {
    const [warp, line, mask, , accesses] = steps[now], held = state();
    seek.value = now;
    where.textContent = `step ${now + 1} of ${steps.length}`;
    drawCode(warp, line);
    drawWarps(warp);
    drawLanes(mask, held.variables, warp % warps);
    drawMemory(accesses, held, warp);
    say(steps[now]);
    if (document.hasFocus()) parts.code.querySelector(".here").scrollIntoView({block: "nearest"});
  };

  const given = data.arguments.map(([name, value]) => `${name} = ${value}`).join(", ");
  const size = (s) => s.filter((n, i) => n > 1 || !i).join(" × ");
  place.append($("h1", {}, data.kernel),
    $("p", {class: "soft"}, `grid ${size(grid)}, block ${size(block)}${given ? `; ${given}` : ""}`),
    data.left || data.incomplete ? $("p", {class: "alarm"},
      `Only the first ${steps.length} steps are here: launch fewer threads to see the rest.`) : "");
  if (!steps.length) { place.append($("p", {}, "No warp did anything.")); return; }
  place.append($("div", {class: "bar"},
    button("◀ back", () => go(now - 1), {id: "back", title: "←"}),
    button("step ▶", () => go(now + 1), {id: "step", title: "→"}),
    button("this warp ▼", () => ofWarp(1), {id: "line", title: "↓: the warp's next line"}),
    button("next barrier", () => find(now, 1, (s) => s[4].some(([what]) => what === 4)), {id: "barrier"}),
    player, seek, where),
  parts.warps, parts.said,
  $("div", {class: "two"}, parts.code, parts.memory), parts.lanes,
  legend(["on", "lane at this line"], ["read", "read"], ["write", "written"], ["bad", "outside"]),
  $("p", {class: "soft"}, "The software GPU ran the warps in this order; a real one may choose any other between barriers."));
  update();
}
