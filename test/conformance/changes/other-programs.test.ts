import { expect, test } from "vitest";
import { planChange } from "../../../src/schema/plan/plan.js";
import { client, dataOf } from "../../support/client.js";
import { countOf, rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";
import { applied } from "../schema/support.js";

const schema = `
$history: 30d
notes:
  columns:
    id: { type: integer, primary_key: true }
    size: { type: real }
`;

test("a change of another program has its time in milliseconds, and goes after the days of its table", async () => {
  const server = await serve({ schema });
  const before = Date.now();
  for (let id = 1; id <= 20; id++) await run(server, "INSERT INTO notes (id) VALUES (?)", BigInt(id));
  const after = Date.now();
  const times = (await rowsOf(server, "SELECT typeof(at), at FROM _changes ORDER BY seq")).map(([type, at]) => {
    expect(type).toBe("integer");
    return Number(at);
  });
  expect(Math.min(...times)).toBeGreaterThanOrEqual(before);
  expect(Math.max(...times)).toBeLessThanOrEqual(after);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const key = client(server, await apiKey(server, "project:backend"));
  const [entry] = dataOf<{ at: string }[]>(await key.get("/api/notes/_svc/history?where[id]=20"));
  expect(Date.parse(entry!.at)).toBe(times[19]);
  server.clock.advance(after + 31 * 86_400_000 - server.clock.now());
  await server.upkeep.purge();
  expect(await countOf(server, "_changes")).toBe(1);
});

test("an infinite real of another program is kept with its sign", async () => {
  const server = await serve({ schema });
  await run(server, "INSERT INTO notes VALUES (1, 9e999), (2, -9e999)");
  await run(server, "UPDATE notes SET size = 0.5");
  expect(await rowsOf(server, "SELECT old ->> '$.size' FROM _changes WHERE op = 'update' ORDER BY seq")).toEqual([
    ["[1,1024]"],
    ["[-1,1024]"],
  ]);
});

test("triggers that an earlier release has made are made anew with the same schema", async () => {
  const server = await serve({ schema });
  await run(server, "DROP TRIGGER _svc_log_notes_insert");
  await run(
    server,
    `CREATE TRIGGER "_svc_log_notes_insert" AFTER INSERT ON "notes" BEGIN
      INSERT INTO _changes (witness, at, tbl, pk, op) VALUES (random(), unixepoch('subsec'), 'notes', json_array(new.id), 'insert'); END`,
  );
  await applied(server.database, schema);
  const [[text]] = (await rowsOf(server, "SELECT sql FROM sqlite_master WHERE name = '_svc_log_notes_insert'")) as [
    [string],
  ];
  expect(text).toContain("julianday('now')");
  expect(await planChange(server.database, schema)).toMatchObject({ outcome: "planned", plan: { steps: [] } });
});
