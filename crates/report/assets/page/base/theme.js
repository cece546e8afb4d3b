// Light and dark: as the system is set, until the reader chooses.

const onThemeChange = [];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  knownColours.clear();
  for (const listener of onThemeChange) listener();
}

const knownColours = new Map();

/** The value of a colour of the style sheet, for what is drawn. */
function colour(property) {
  if (!knownColours.has(property)) knownColours.set(property, getComputedStyle(document.documentElement).getPropertyValue(`--${property}`).trim());
  return knownColours.get(property);
}

/** Colours for things beside each other, told apart also by those who do not see all colours; the order never changes. */
const PALETTE = ["#2f7ed8", "#e07b00", "#2a9d5c", "#c93c5a", "#7e57c2", "#00939c", "#a0682c", "#d256a8", "#6b7f12", "#5470a6"];

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
}
