"""Asks DuckDB and Polars what the documents show, and whether percentiles agree: ask.py FOLDER PAGE...

FOLDER has the tables in `tables/`, as the pages say."""

import os
import re
import sys

import duckdb
import polars as pl

folder, pages = sys.argv[1], sys.argv[2:]
os.chdir(folder)
asked = {"sql": 0, "python": 0}
for page in pages:
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"^```(sql|python)\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    for language, text in blocks:
        try:
            if language == "sql":
                duckdb.sql(text).fetchall()
            else:
                exec(text, {"pl": pl})
        except Exception as error:
            sys.exit(f"{page}: {error}\n{text}")
        asked[language] += 1

# The views, from within the folder that they are in.
os.chdir("tables")
connection = duckdb.connect()
with open("views.sql", encoding="utf-8") as file:
    connection.execute(file.read())
views = [name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
for view in views:
    connection.execute(f"SELECT * FROM {view}").fetchall()

# Our percentiles are those of quantile_disc.
compared = 0
for percent, column in [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99_9")]:
    rows = connection.execute(
        f"""SELECT c.name, c.duration_{column}_ns, quantile_disc(i.duration_ns, {percent})
            FROM callbacks c JOIN callback_instances i USING (callback) GROUP BY ALL HAVING count(i.duration_ns) > 0"""
    ).fetchall()
    for name, ours, theirs in rows:
        if ours != theirs:
            sys.exit(f"{name}: {column} is {ours}, DuckDB says {theirs}")
        compared += 1

# Numbers join: every message that arrived leads to the execution that it says, and every flow adds up.
(strangers,) = connection.execute(
    """SELECT count(*) FROM deliveries d LEFT JOIN callback_instances i USING (instance)
       WHERE d.instance IS NOT NULL AND (i.instance IS NULL OR i.start_ns <> d.callback_start_ns)"""
).fetchone()
(arrived,) = connection.execute("SELECT count(*) FROM deliveries JOIN callback_instances USING (instance)").fetchone()
(wrong,) = connection.execute(
    """SELECT count(*) FROM flows f JOIN (SELECT path, flow, sum(duration_ns) AS total FROM path_flows GROUP BY ALL) s USING (path, flow)
       WHERE f.latency_ns <> s.total"""
).fetchone()
(orphans,) = connection.execute(
    """SELECT count(*) FROM deliveries d LEFT JOIN publications p USING (publication)
       WHERE p.publication IS NULL OR p.publish_ns <> d.publish_ns"""
).fetchone()
if strangers or wrong or orphans:
    sys.exit(f"{strangers} executions, {orphans} publications and {wrong} flows do not fit")
print(f"{asked['sql']} sql, {asked['python']} python, {len(views)} views, {compared} percentiles, {arrived} joined")
