// Light and dark: as the system is set, until the reader chooses.

import { forgetColours } from './colour.js';

const KEPT = "rostrace-theme";

/** `onChange` draws again what was drawn in other colours; it is called at once, too. */
export function startTheme(button, onChange) {
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    forgetColours();
    onChange();
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const ofSystem = () => (dark.matches ? "dark" : "light");
  let kept = null;
  // A browser may forbid to keep anything: then it is asked each time.
  try { kept = localStorage.getItem(KEPT); } catch { /* as above */ }
  set(kept ?? ofSystem());
  dark.addEventListener("change", () => { if (!kept) set(ofSystem()); });
  button.addEventListener("click", () => {
    kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem(KEPT, kept); } catch { /* as above */ }
    set(kept);
  });
}
