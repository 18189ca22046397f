// One slide at a time, as large as the window lets it be: arrows, space, Home and End, or a click. In
// the address # names the slide, so that a reload stays there. On paper all of them are printed.
const slides = [...document.querySelectorAll("section")];
const at = () => Math.min(Math.max(Number(location.hash.slice(1)) || 1, 1), slides.length);
const go = (number) => { location.hash = Math.min(Math.max(number, 1), slides.length); };
const show = () => slides.forEach((slide, i) => slide.classList.toggle("on", i + 1 === at()));
const fit = () => document.body.style.setProperty("--scale",
  Math.min(innerWidth / 1280, innerHeight / 720));
const keys = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in keys) go(at() + keys[event.key]);
  else if (event.key === "Home") go(1);
  else if (event.key === "End") go(slides.length);
  else return;
  event.preventDefault();
});
addEventListener("click", (event) => go(at() + (event.clientX < innerWidth / 4 ? -1 : 1)));
addEventListener("hashchange", show);
addEventListener("resize", fit);
addEventListener("beforeprint", () => document.body.classList.remove("shown"));
addEventListener("afterprint", () => document.body.classList.add("shown"));
document.body.classList.add("shown");
show();
fit();
