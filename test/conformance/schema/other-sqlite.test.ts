import { expect, it } from "vitest";
import { rowsOf } from "../../support/people.js";
import { serve } from "../../support/server.js";

/** Every column type, search by rowid and by keys, history and versions. */
const schema = `
$history: forever
notes:
  strict: false
  search: [title]
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    size: { type: real }
    data: { type: blob }
    more: { type: json }
    done: { type: boolean }
    version: { type: integer, managed: version }
labels:
  strict: false
  primary_key: [note, name]
  search: [said]
  columns:
    note: { type: integer, references: { table: notes, on_delete: cascade } }
    name: { type: text }
    said: { type: text }
`;

/** The functions that SQLite 3.31 has and the server's own tables, indexes and triggers call. */
const functions = new Set(
  "abs cast fts5 hex ifnull json json_array json_object json_set json_valid julianday printf quote random round strftime typeof".split(
    " ",
  ),
);

it("what the server adds to a file, SQLite 3.31 can read, and run where another program writes", async () => {
  const server = await serve({ schema });
  const added = await rowsOf(
    server,
    String.raw`SELECT name, sql FROM sqlite_master WHERE name LIKE '\_%' ESCAPE '\' AND name NOT LIKE '\_cf\_%' ESCAPE '\' AND name NOT LIKE '\_search\_%\_words\_%' ESCAPE '\' AND sql IS NOT NULL`,
  );
  expect(added.length).toBeGreaterThan(40);
  for (const [name, sql] of added as [string, string][]) {
    const outsideOfTexts = sql.replace(/'(?:[^']|'')*'/g, "''");
    const called = [...outsideOfTexts.matchAll(/\b([a-z_]\w*)\(/gi)].map(([, called]) => called!.toLowerCase());
    expect(
      called.filter((called) => !functions.has(called)),
      `${name}: ${sql}`,
    ).toEqual([]);
    expect(outsideOfTexts, String(name)).not.toMatch(/->|\b(STRICT|ANY|RETURNING|MATERIALIZED|FROM new)\b/i);
    expect(sql, String(name)).not.toMatch(/contentless|trigram|subsec/);
  }
});
