// What all pictures share: elements, controls, numbers of lanes, the theme and the frame's height.
const $ = (tag, facts = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(facts))
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) e.setAttribute(name, value);
  e.append(...children.filter((c) => c != null));
  return e;
};
const range = (n) => Array.from({length: n}, (_, i) => i);
const lanesOf = (mask) => range(32).filter((lane) => (mask >>> lane) & 1);
const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
// A number in a small cell: four digits of a float, all of a whole number.
const brief = (value) => typeof value === "number" && !Number.isInteger(value) ? String(+value.toPrecision(4)) : String(value);
// "0 to 31, 40": whole numbers in few words
const stretch = (numbers) => {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), parts = [];
  for (const n of sorted) {
    const last = parts[parts.length - 1];
    if (last && last[1] === n - 1) last[1] = n; else parts.push([n, n]);
  }
  const words = parts.map(([a, b]) => a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`);
  return words.length > 6 ? [...words.slice(0, 5), "…"].join(", ") : words.join(", ");
};
const button = (text, act, facts = {}) => $("button", {type: "button", onclick: act, ...facts}, text);
// A slider over the values given, with its own name and value beside it.
const slider = (name, values, at, act) => {
  const output = $("output", {}, String(values[at]));
  const input = $("input", {type: "range", min: 0, max: values.length - 1, step: 1, value: at,
    name, "aria-label": name, "aria-valuetext": String(values[at]), oninput: () => {
      output.textContent = values[+input.value];
      input.setAttribute("aria-valuetext", output.textContent);
      act(values[+input.value]);
    }});
  return $("label", {}, name, input, output);
};
const choice = (name, values, at, act) => {
  const buttons = values.map((value, i) => button(String(value), () => {
    buttons.forEach((b, j) => b.setAttribute("aria-pressed", i === j));
    act(value);
  }, {"aria-pressed": i === at, "data-choice": name}));
  return $("span", {class: "bar", role: "group", "aria-label": name}, name, ...buttons);
};
const legend = (...pairs) => $("p", {class: "legend"},
  ...pairs.map(([kind, text]) => $("span", {class: kind}, text)));
const show = (place, ...children) => { place.replaceChildren(...children.filter(Boolean)); fit(); };
const svg = (tag, facts, ...children) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(facts)) e.setAttribute(name, value);
  e.append(...children);
  return e;
};

// The theme is that of the page around, told by the colour behind the frame.
const dark = () => {
  try {
    for (let e = window.frameElement; e; e = e.parentElement) {
      const [r, g, b, a = 1] = getComputedStyle(e).backgroundColor.match(/[\d.]+/g).map(Number);
      if (e !== window.frameElement && a > 0.5) return 0.3 * r + 0.59 * g + 0.11 * b < 128;
    }
  } catch { /* another origin's page */ }
  return matchMedia("(prefers-color-scheme: dark)").matches;
};
const dress = () => document.documentElement.classList.toggle("dark", dark());
const fit = () => {
  try { window.frameElement.style.height = `${document.body.offsetHeight + 4}px`; } catch { /* a page */ }
};
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
};
addEventListener("resize", fit);
addEventListener("pointerenter", dress, true);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
dress();
