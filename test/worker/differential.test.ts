import { expect, test } from "vitest";
import { type ListProject, type RuleSource, serveLists } from "../property/lists/project.js";
import { randomQuery, spell } from "../property/lists/query.js";
import { makeRows, type TableSpec, tables } from "../property/lists/tables.js";
import { Random } from "../property/support/random.js";
import { type Row, toText, toWire } from "../property/support/values.js";

/**
 * The same requests to Node with an embedded database and to workerd with D1. `SEED=… REQUESTS=…` repeats or prolongs a
 * run.
 */
const seed = Random.seedOfRun();
const requests = Number(process.env.REQUESTS ?? 120);

interface Asked {
  readonly caller: number;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Pages to follow, each by the cursor that the server itself has given. */
  readonly pages?: number;
}

function randomRequest(random: Random, project: ListProject): Asked {
  const table = random.pick(tables);
  const caller = random.int(0, project.callers.length - 1);
  const rows = project.rows.get(table.name)!;
  const kind = random.pick(["list", "list", "list", "get", "create", "patch", "delete", "mistake"] as const);
  switch (kind) {
    case "list": {
      const page = { limit: random.pick([null, 1, 7, 50, 1000]), offset: random.pick([0, 0, 3]) };
      const query = spell(random, table, randomQuery(random, table, rows), page);
      return { caller, method: "GET", path: `/api/${table.name}${query}`, pages: 3 };
    }
    case "get":
      return { caller, method: "GET", path: keyPath(random, table, random.pick(rows)) };
    case "create": {
      const [row] = makeRows({ ...table, rows: [1, 1] }, ["ada", "bob"], random);
      return { caller, method: "POST", path: `/api/${table.name}`, body: json(table, row!) };
    }
    case "patch": {
      const [row] = makeRows({ ...table, rows: [1, 1] }, ["ada", "bob"], random);
      const columns = Object.keys(table.columns).filter((column) => !table.primaryKey.includes(column));
      const changed = random.some(columns, random.int(1, 3));
      const patch = Object.fromEntries(changed.map((column) => [column, row![column]!]));
      const path = keyPath(random, table, random.pick(rows));
      return { caller, method: "PATCH", path, body: json(table, patch) };
    }
    case "delete":
      return { caller, method: "DELETE", path: keyPath(random, table, random.pick(rows)) };
    case "mistake":
      return {
        caller,
        ...random.pick([
          { method: "GET", path: `/api/${table.name}?where[nothing]=1` },
          { method: "GET", path: `/api/${table.name}?limit=1001` },
          { method: "GET", path: "/api/nothing" },
          { method: "POST", path: `/api/${table.name}`, body: '{"n":"one"}' },
          { method: "POST", path: `/api/${table.name}`, body: '{"n":1' },
          { method: "PUT", path: `/api/${table.name}` },
        ]),
      };
  }
}

/** Of that row, or of one that is not there. */
function keyPath(random: Random, { name, primaryKey }: TableSpec, row: Row): string {
  const key = primaryKey.map((column) => [column, toText(row[column]!)] as const);
  const [only, ...others] = key;
  const missing = random.chance(0.1);
  if (only === undefined) return `/api/${name}/1`;
  if (others.length === 0 && !/^\.{0,2}$/.test(only[1]) && random.chance(0.5))
    return `/api/${name}/${encodeURIComponent(only[1])}`;
  const shifted: [string, string][] = key.map(([column, value]) => [column, missing ? `${value}1` : value]);
  return `/api/${name}/_svc/key?${new URLSearchParams(shifted)}`;
}

function json({ columns }: TableSpec, row: Row): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, toWire(columns[column]!.type, value)])),
  );
}

interface Told {
  readonly status: number;
  /** Without what is of this answer alone: identifiers and cursors. */
  readonly body: unknown;
  readonly rowsRead: unknown;
  readonly cursor: string | undefined;
}

async function ask({ server, callers }: ListProject, asked: Asked, path: string): Promise<Told> {
  const { headers } = callers[asked.caller]!;
  const response = await server.request(path, {
    method: asked.method,
    headers: { ...headers, ...(asked.body !== undefined && { "Content-Type": "application/json" }) },
    ...(asked.body !== undefined && { body: asked.body }),
  });
  const body = JSON.parse(await response.text()) as Record<string, unknown>;
  const { next_cursor, rows_read, metering, ...meta } = (body.meta ?? {}) as Record<string, unknown>;
  return {
    status: response.status,
    body: { ...body, meta: { ...meta, more: next_cursor !== undefined, metered: metering !== undefined } },
    rowsRead: rows_read,
    cursor: next_cursor as string | undefined,
  };
}

test.each<{ rules: RuleSource; scanLimit: number }>([
  { rules: "written", scanLimit: 100_000 },
  { rules: "random", scanLimit: 60 },
])("answers of workerd with D1 are those of Node, $rules rules", async ({ rules, scanLimit }) => {
  const salt = scanLimit;
  const serveOn = (target: string) =>
    serveLists(new Random(seed).fork(salt), { rules, scanLimit, writable: true, target });
  const [node, worker] = [await serveOn("app"), await serveOn("workerd")];
  const random = new Random(seed).fork(salt + 1);
  let [written, refused, readsCompared] = [0, 0, 0];
  for (let i = 0; i < requests / 2; i++) {
    const asked = randomRequest(random.fork(i), node);
    let paths = [asked.path, asked.path] as const;
    for (let page = 0; page < (asked.pages ?? 1); page++) {
      const [here, there] = await Promise.all([ask(node, asked, paths[0]), ask(worker, asked, paths[1])]);
      const described = `SEED=${seed}, request ${i}, page ${page}: ${JSON.stringify(asked)}, log ${worker.server.log.lines.join()}`;
      expect(there.status, described).toBe(here.status);
      expect(there.body, described).toEqual(here.body);
      if (typeof here.rowsRead === "number" && typeof there.rowsRead === "number") {
        expect(there.rowsRead, described).toBe(here.rowsRead);
        readsCompared++;
      }
      if (asked.method !== "GET" && here.status < 300) written++;
      if (here.status >= 400) refused++;
      if (here.cursor === undefined || there.cursor === undefined) break;
      const next = (cursor: string) => `${asked.path.replace(/\?.*$/, "")}?cursor=${cursor}`;
      paths = [next(here.cursor), next(there.cursor)];
    }
  }
  // Otherwise the agreement would say little.
  expect(written).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(requests / 40);
  expect(readsCompared).toBeGreaterThan(requests / 20);
});
