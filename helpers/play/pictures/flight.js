function draw({blocks, threads, loads, bytes, gb_per_s, latency_ns, idle_ns, multiprocessors, speeds}, place) {
  let resident = 2, size = 4, ahead = 1;
  const [W, H, left, bottom] = [560, 250, 60, 40];
  const chart = $("div", {id: "chart", class: "wide"}), pipe = $("div", {id: "pipe"});
  const said = $("p", {id: "said", "aria-live": "polite"}), sum = $("code", {id: "sum"});
  const needed = gb_per_s * latency_ns / multiprocessors;  // GB/s * ns: bytes
  const flying = (b, s, l) => b * threads * s * l;
  const most = Math.log2(flying(Math.max(...blocks), Math.max(...bytes), Math.max(...loads)) / 256);
  const x = (n) => left + (W - left - 10) * Math.log2(n / 256) / most;
  const [slowest, fastest] = [50, 6000];
  const y = (speed) => H - bottom - (H - bottom - 10) * Math.log2(speed / slowest) / Math.log2(fastest / slowest);
  const law = (n) => Math.min(gb_per_s, n * multiprocessors / latency_ns);
  const words = (n) => n < 1024 ? `${n} B` : `${Math.round(n / 102.4) / 10} KB`.replace(".0 ", " ");
  const drawChart = () => {
    const points = range(60).map((i) => 256 * 2 ** (most * i / 59));
    const line = (facts) => svg("polyline", {fill: "none", stroke: "var(--soft)", "stroke-width": 2, ...facts});
    const all = Object.entries(speeds).map(([key, speed]) => {
      const [b, s, l] = key.split(" ").map(Number), now = b === resident && s === size && l === ahead;
      const dot = svg("circle", {cx: x(flying(b, s, l)), cy: y(speed), r: now ? 8 : 4, "data-key": key,
        fill: now ? "var(--mark)" : "var(--page)", stroke: "var(--mark)", "stroke-width": 2});
      dot.append(svg("title", {}, `${count(b, "block")}, ${s} bytes, ${count(l, "load")}: ${speed} GB/s`));
      return [now, dot];
    }).sort(([a], [b]) => a - b).map(([, dot]) => dot);
    const picture = svg("svg", {viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img",
      "aria-label": "speed of memory by bytes in flight; the line is Little's law"},
    line({points: points.map((n) => `${x(n)},${y(law(n))}`).join(" ")}),
    line({points: `${x(needed)},${y(slowest)} ${x(needed)},${y(gb_per_s)}`, "stroke-dasharray": "4 4"}),
    ...[100, 300, 1000, 3000].flatMap((v) => [svg("text", {x: left - 8, y: y(v) + 4, "text-anchor": "end"}, `${v}`)]),
    ...[512, 2048, 8192, 32768].map((n) => svg("text", {x: x(n), y: H - bottom + 18, "text-anchor": "middle"}, words(n))),
    svg("text", {x: (W + left) / 2, y: H - 4, "text-anchor": "middle"}, "bytes in flight for each multiprocessor"),
    svg("text", {x: 12, y: H / 2 - 10, "text-anchor": "middle", transform: `rotate(-90 12 ${H / 2 - 10})`}, "GB/s"),
    ...all);
    show(chart, picture);
  };
  const update = () => {
    const n = flying(resident, size, ahead), speed = speeds[`${resident} ${size} ${ahead}`];
    sum.textContent = `${count(resident, "block")} × ${threads} threads × ${size} bytes × ${count(ahead, "load")} = ${n} bytes in flight`;
    const full = Math.min(32, Math.round(32 * n / needed));
    show(pipe, $("p", {class: "soft"}, `The way to memory, ${latency_ns} ns long; full with ${words(Math.round(needed))} for each multiprocessor:`),
      $("div", {class: "cells row"}, ...range(32).map((i) => $("div", {class: `cell ${i < full ? "read" : ""}`,
        style: "min-width: 14px", "data-slot": i}))));
    said.textContent = `${Math.round(100 * n / needed)} % of what Little's law asks for: it allows ${Math.round(law(n))} GB/s. `
      + `A long launch, as predicted for an H200: ${speed} GB/s, ${Math.round(100 * speed / gb_per_s)} % of memory's speed.`;
    drawChart();
  };
  place.append($("h1", {}, "Loads in flight: bytes in flight = bandwidth × latency"), $("div", {class: "bar"},
    slider("blocks per multiprocessor", blocks, 1, (v) => { resident = v; update(); }),
    choice("bytes per load", bytes, 0, (v) => { size = v; update(); }),
    choice("loads in flight per thread", loads, 0, (v) => { ahead = v; update(); })),
  $("p", {}, sum), pipe, said, chart,
  $("p", {class: "soft"}, "Line: Little's law, up to the speed of memory; both axes double. Dots: predictions for a kernel that adds up, one for each setting. "
    + `A load takes about ${latency_ns} ns while memory is busy, ${idle_ns} ns while it is idle: on the left the dots lie above the line.`));
  update();
}
