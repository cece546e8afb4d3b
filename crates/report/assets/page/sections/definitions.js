// What the metrics mean: the page of the documents, part of this file.

view("definitions", {
  title: "Definitions",
  async draw(root, inner) {
    const page = h("article", { class: "card document" }, document.getElementById("definitions").content.cloneNode(true));
    for (const wide of page.querySelectorAll("table")) {
      const frame = h("div", { class: "scroll" });
      wide.replaceWith(frame);
      frame.append(wide);
    }
    const heading = inner && page.querySelector(`[id="${CSS.escape(inner)}"]`);
    heading?.setAttribute?.("data-arrive", "");
    root.append(page);
  },
});
