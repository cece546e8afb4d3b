// What happens when the file is opened.

let BEGIN = 0n;
/** Where what is shown begins: times count from the begin of the recording. */
let FROM = 0;

(async () => {
  startTheme(document.getElementById("theme"), themeChanged);
  const { data, column } = await part("overview");
  BEGIN = BigInt(data.begin_ns);
  FROM = data.from;
  const clock = data.clock && { system: column(data.clock.system), simulated: column(data.clock.simulated) };
  startAxis(clock);
  startFind(data.names);
  await startViews();
})();
