// What happens when the file is opened.

let BEGIN = 0n;

(async () => {
  startTheme();
  const { data, column } = await part("overview");
  BEGIN = BigInt(data.begin_ns);
  const clock = data.clock && { system: column(data.clock.system), simulated: column(data.clock.simulated) };
  startAxis(clock);
  startFind(data.names);
  await startViews();
})();
