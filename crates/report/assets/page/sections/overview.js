// The first screen.

view("overview", {
  title: "Overview",
  async draw(root) {
    const { data } = await part("overview");
    append(root, [
      h("h1", {}, document.getElementById("title").textContent),
      h("p", { class: "quiet" }, `${calendarTime(0)} · ${duration(data.duration)} · ${count(data.recorded.events)} events`),
      data.damage.map((sentence) => h("p", { class: "notice bad" }, sentence)),
    ]);
  },
});
