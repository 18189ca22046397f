// A word of the glossary shows its meaning while the pointer or the keyboard is on it.
const meaning = document.createElement("div");
meaning.id = "meaning";
meaning.role = "tooltip";
meaning.popover = "manual";
document.body.append(meaning);

const show = ({currentTarget: word}) => {
  meaning.textContent = word.dataset.meaning;
  meaning.showPopover();
  const at = word.getBoundingClientRect(), {offsetWidth: width, offsetHeight: height} = meaning;
  const fits = at.bottom + height + 12 < innerHeight;
  meaning.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 24))}px`;
  meaning.style.top = `${fits ? at.bottom + 6 : at.top - height - 6}px`;
};
const hide = () => meaning.hidePopover();

for (const word of document.querySelectorAll("a.word")) {
  word.dataset.meaning = word.title;
  word.removeAttribute("title");
  word.setAttribute("aria-describedby", meaning.id);
  for (const event of ["mouseenter", "focus"]) word.addEventListener(event, show);
  for (const event of ["mouseleave", "blur"]) word.addEventListener(event, hide);
}
addEventListener("keydown", ({key}) => { if (key === "Escape") hide(); });
addEventListener("scroll", hide, {passive: true});

// Pictures that can be played ask for the page's theme when the pointer comes to them.
const dress = () => {
  for (const {contentWindow: picture} of document.querySelectorAll("iframe")) {
    picture.dispatchEvent(new Event("pointerenter"));
  }
};
new MutationObserver(dress).observe(document.body, {attributeFilter: ["data-theme"]});

// Paper is white.
let theme;
addEventListener("beforeprint", () => {
  theme = document.body.dataset.theme;
  document.body.dataset.theme = "light";
});
addEventListener("afterprint", () => { document.body.dataset.theme = theme; });

// What the theme leaves out for those who read without a mouse or without a screen.
for (const heading of document.querySelectorAll("[role=heading]")) heading.ariaLevel = 2;
document.querySelector(".sidebar-drawer").ariaLabel = "All pages";
for (const text of document.querySelectorAll("pre, .cell_output .output, .table-wrapper")) {
  if (text.scrollWidth > text.clientWidth) text.tabIndex = 0;
}
