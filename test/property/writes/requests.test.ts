import { expect, test, vi } from "vitest";
import { type Answer, type Client, dataOf } from "../../support/client.js";
import { rowsOf } from "../../support/people.js";
import { Random } from "../support/random.js";
import {
  type Element,
  elementsOf,
  type Headers,
  headersOf,
  operationsOf,
  outcomeOf,
  separately,
  valuesOf,
} from "./operations.js";
import { callers, type Table, tables, World } from "./world.js";

const queries = Number(process.env.QUERIES ?? 40);
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 500 });

/** A request of several elements, and the same elements as requests of their own. */
interface Case {
  readonly said: string;
  readonly together: (by: Client) => Promise<Answer>;
  readonly apart: (by: Client) => readonly Element[];
}

function caseOf(random: Random, key: string): Case {
  const headers: Headers = random.chance(0.3) ? { "Idempotency-Key": key } : {};
  const table = random.pick(tables);
  const count = random.int(1, 5);
  if (random.chance(0.35)) {
    const operations = operationsOf(random, count);
    return {
      said: `batch ${JSON.stringify({ operations, headers })}`,
      together: (by) => by.post("/api/_svc/batch", { operations }, headers),
      apart: (by) => elementsOf(operations, by, headers),
    };
  }
  const isUpsert = random.chance(0.5);
  const duplicate = random.pick(["update", "ignore"]);
  const path = `/api/${table}${isUpsert ? `?on_conflict=name&on_duplicate=${duplicate}` : ""}`;
  const seen = new Set<unknown>();
  // The same key twice in one upsert is refused, whatever is in the table.
  const rows = random
    .times(count, () => valuesOf(random))
    .filter(({ name }) => !isUpsert || name === null || (!seen.has(name) && seen.add(name)));
  return {
    said: `POST ${path} ${JSON.stringify({ rows, headers })}`,
    together: (by) => by.post(path, rows, headers),
    apart: (by) => rows.map((row, at) => async () => outcomeOf(await by.post(path, row, headersOf(headers, at)))),
  };
}

test(`${queries} requests of several writes do what their elements do one after the other`, async () => {
  const random = new Random(Random.seedOfRun());
  const one = await World.open();
  const other = await World.open();
  for (let i = 0; i < queries; i++) {
    const each = caseOf(random, `k${i}`);
    const caller = random.int(0, 1);
    const answer = await each.together(one.as(caller));
    const expected = await separately(other, each.apart(other.as(caller)));
    expect(outcomeOf(answer), `${each.said}\n${answer.text}`).toEqual(expected);
    const state = await one.state();
    expect(state, each.said).toEqual(await other.state());
    if (random.chance(0.5) && answer.status < 300 && each.said.includes("Idempotency-Key")) {
      const again = await each.together(one.as(caller));
      expect(again.headers.get("Idempotency-Replayed"), each.said).toBe("true");
      expect([again.status, outcomeOf(again)], each.said).toEqual([answer.status, outcomeOf(answer)]);
    }
    const id = random.int(1, 12);
    await versioned(one, random.pick(["plain", "looking"]), id, caller, random.chance(0.5));
    expect(await one.state()).toEqual(state);
    expect(await rowsOf(one.server, "SELECT * FROM _staged")).toEqual([]);
  }
});

/** A PATCH under a version of another time is refused, and changes nothing; one that changes nothing raises the version. */
async function versioned(world: World, table: Table, id: number, caller: number, isCurrent: boolean): Promise<void> {
  const by = world.as(caller);
  const path = `/api/${table}/${id}`;
  const got = await by.get(path);
  const row = got.status === 200 ? dataOf<{ owner: string; n: number | null; version: number }>(got) : null;
  const tag = isCurrent && row !== null ? `"${row.version}"` : '"-1"';
  const patch = { owner: callers[caller] };
  const answer = await by.patch(path, patch, { "If-Match": tag });
  if (row === null) expect([403, 404], answer.text).toContain(answer.status);
  else if (row.owner !== patch.owner || row.n === null) expect(answer.status, answer.text).toBe(403);
  else if (!isCurrent) expect(answer.status, answer.text).toBe(412);
  else expect(answer.headers.get("ETag"), answer.text).toBe(`"${row.version + 1}"`);
}
