// Finding things by their names: nodes, topics, callbacks, paths.

const FOUND_SHOWN = 30;

function startFind(entries) {
  const field = document.getElementById("find");
  combobox({
    field, list: document.getElementById("found"), entries: () => entries, most: FOUND_SHOWN,
    row: (entry) => h("a", { href: entry.link }, h("small", {}, entry.kind), entry.name),
    // The link itself leads there.
    choose: () => {},
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });
}
