import { expect, test, vi } from "vitest";
import { Memo } from "../../src/platform/memo.js";
import { RuledProject } from "./rules/project.js";
import { columns, randomValue, shape } from "./rules/tables.js";
import { Random } from "./support/random.js";
import { toWire } from "./support/values.js";

/**
 * What is remembered of other callers and other requests changes no answer: each request is asked as it is, and once more
 * with everything worked out for it alone. `SEED=…` repeats a run, `TABLES` and `REQUESTS` prolong it.
 */
const seed = Random.seedOfRun();
const tables = Number(process.env.TABLES ?? 20);
const requests = Number(process.env.REQUESTS ?? 150);
vi.setConfig({ testTimeout: 900_000 + 10 * requests * 100 });

/** Accesses and lists of a role and a shape; without them the caller's own are made. */
const isShared = (made: unknown) => typeof made === "object" && made !== null && ("rule" in made || "plan" in made);

let alone = false;
const { get } = Memo.prototype;
vi.spyOn(Memo.prototype, "get").mockImplementation(function (this: Memo<unknown>, key, make) {
  if (!alone) return get.call(this, key, make);
  const made = make();
  return isShared(made) ? null : made;
});

const operators = ["eq", "eq", "eq", "ne", "lt", "gt", "in", "is_null", "contains"] as const;

function randomFilter(random: Random, people: RuledProject["people"]): string {
  const column = random.pick(columns) as keyof typeof shape;
  const operator = random.pick(operators);
  const value = () => {
    const wire = toWire(shape[column], randomValue(random, column, people));
    return typeof wire === "string" ? wire : JSON.stringify(wire);
  };
  const text =
    operator === "is_null" ? String(random.chance(0.5)) : operator === "in" ? `${value()},${value()}` : value();
  return `filter[${column}][${operator}]=${encodeURIComponent(text)}`;
}

function randomResults(random: Random): string {
  const group = random.chance(0.6) ? `&group=${random.pick(columns)}&limit=2` : "";
  return `count=*&max=${random.pick(columns)}&sort=${random.chance(0.5) ? "-" : ""}count${group}`;
}

function randomPath(random: Random, table: string, people: RuledProject["people"]): string {
  if (random.chance(0.15)) return `/api/${table}/${random.int(1, 8)}`;
  const parts = random.times(random.int(0, 3), () => randomFilter(random, people));
  if (random.chance(0.2)) return `/api/${table}/_svc/aggregate?${[...parts, randomResults(random)].join("&")}`;
  if (random.chance(0.4)) parts.push(`sort=${random.chance(0.5) ? "-" : ""}${random.pick(columns)}`);
  if (random.chance(0.5)) parts.push(`limit=${random.int(1, 3)}`);
  if (random.chance(0.2)) parts.push(`offset=${random.int(0, 3)}`);
  if (random.chance(0.2)) parts.push(`select=${random.some(columns, 3).join(",")}`);
  return `/api/${table}?${parts.join("&")}`;
}

test("what is remembered changes no answer", async () => {
  const random = new Random(seed).fork(77);
  const project = await RuledProject.serve(random, tables);
  const outcomes = { answered: 0, refused: 0 };
  const ask = async (path: string, headers: Readonly<Record<string, string>>, byItself: boolean) => {
    alone = byItself;
    const response = await project.server.request(path, { headers });
    alone = false;
    const { meta, ...rest } = (await response.json()) as { meta?: Record<string, unknown> };
    const { metering, next_cursor: cursor, ...counts } = meta ?? {};
    return { status: response.status, rest, counts, hasNext: cursor !== undefined, cursor };
  };
  for (let i = 0; i < requests; i++) {
    const table = random.pick(project.tables).name;
    const { headers, name } = random.pick(project.callers);
    let path = randomPath(random, table, project.people);
    for (let page = 0; page < 4; page++) {
      const { cursor, ...remembered } = await ask(path, headers, false);
      const { cursor: _, ...byItself } = await ask(path, headers, true);
      expect(remembered, `SEED=${seed} ${name}: ${decodeURIComponent(path)}`).toEqual(byItself);
      outcomes[remembered.status === 200 ? "answered" : "refused"]++;
      if (cursor === undefined) break;
      path = `${path.replace(/\?.*/, "")}?cursor=${cursor}`;
    }
  }
  expect(outcomes.answered).toBeGreaterThan(requests / 4);
  expect(outcomes.refused).toBeGreaterThan(0);
});
