// Finding things by their names: nodes, topics, callbacks, paths.

const FOUND_SHOWN = 30;

function startFind(entries) {
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const searched = entries.map((entry) => entry.name.toLowerCase());
  let selected = 0;

  function close() {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }

  function fill() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const found = entries.filter((_, index) => words.every((word) => searched[index].includes(word))).slice(0, FOUND_SHOWN);
    selected = 0;
    list.replaceChildren(...found.map((entry, index) =>
      h("a", { href: entry.link, role: "option", "aria-selected": String(index === 0), onclick: close }, h("small", {}, entry.kind), entry.name)));
    if (found.length === 0) list.append(h("a", { role: "option" }, "Nothing has this in its name."));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  }

  function select(step) {
    const options = list.querySelectorAll("a");
    options[selected]?.setAttribute("aria-selected", "false");
    selected = (selected + step + options.length) % options.length;
    options[selected]?.setAttribute("aria-selected", "true");
    options[selected]?.scrollIntoView({ block: "nearest" });
  }

  field.addEventListener("input", fill);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(1);
    else if (event.key === "ArrowUp") select(-1);
    else if (event.key === "Enter") list.querySelectorAll("a")[selected]?.click();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!list.contains(event.target) && event.target !== field) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });
}
