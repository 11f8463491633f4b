import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { type ExpectedGroup, evaluateAggregate } from "./aggregates/naive.js";
import { type Aggregate, randomAggregate, spellAggregate } from "./aggregates/query.js";
import { expectHiddenRowsToBeWithoutTrace } from "./lists/hidden-rows.js";
import { type ListProject, type RuleSource, serveLists } from "./lists/project.js";
import { type TableSpec, tables } from "./lists/tables.js";
import type { Caller } from "./support/callers.js";
import { print } from "./support/print.js";
import { Random } from "./support/random.js";

/**
 * Aggregates against an evaluator that knows nothing of SQL. `SEED=… QUERIES=… npx vitest run
 * test/property/aggregates.test.ts` repeats or prolongs a run, `AGGREGATES_TARGET=workerd` runs it on D1.
 */
const seed = Random.seedOfRun();
const queries = Number(process.env.QUERIES ?? 80);
const target = process.env.AGGREGATES_TARGET;
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 60 });

interface Case {
  readonly table: TableSpec;
  readonly caller: Caller;
  readonly aggregate: Aggregate;
  readonly text: string;
  readonly limit: number;
}

function randomCase(project: ListProject, random: Random, table: TableSpec, caller: Caller): Case {
  const aggregate = randomAggregate(random, table, project.rows.get(table.name)!);
  const limit = random.pick([null, 1, 2, 7, 1000]);
  const text = spellAggregate(random, table, aggregate, limit);
  return { table, caller, aggregate, text, limit: limit ?? 50 };
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly data: readonly Record<string, unknown>[];
    readonly meta: {
      readonly limit: number;
      readonly offset: number;
      readonly total: number;
      readonly next_cursor?: string;
    };
    readonly error?: { readonly message: string };
  };
}

async function request({ server }: ListProject, { table, caller }: Case, text: string): Promise<Answer> {
  const response = await server.request(`/api/${table.name}/_svc/aggregate${text}`, {
    headers: caller.headers,
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

type Outcome = "denied" | "too many rows" | "nothing" | "one page" | "pages";

/** Keeps a run short. */
const pagesMax = 4;

async function follow(project: ListProject, one: Case): Promise<Outcome> {
  const first = await request(project, one, one.text);
  const status = project.status(one.table, one.caller);
  if (status !== 200) {
    must(first.status === status, `status ${status}`, first);
    return "denied";
  }
  const mayBeTooMany = project.rows.get(one.table.name)!.length > project.scanLimit;
  const tooMany = `there are more than ${project.scanLimit} rows to aggregate: a filter that an index serves would help`;
  if (mayBeTooMany && first.body.error?.message === tooMany) return "too many rows";
  const expected = evaluateAggregate(one.table, one.aggregate, project.admitted(one.table, one.caller));
  let at = 0;
  for (let answer = first, page = 1; ; page++) {
    must(answer.status === 200, "status 200", answer);
    const { data, meta } = answer.body;
    const groups = expected.slice(at, at + one.limit);
    must(
      data.length === groups.length && data.every((group, i) => isGroup(group, groups[i]!)),
      "the groups of the evaluator",
      { at, data, groups },
    );
    must(meta.limit === one.limit && meta.offset === at && meta.total === expected.length, "its meta", meta);
    at += data.length;
    must((meta.next_cursor === undefined) === at >= expected.length, "a cursor up to the last page", meta);
    if (meta.next_cursor === undefined || page === pagesMax)
      return page > 1 ? "pages" : expected.length === 0 ? "nothing" : "one page";
    answer = await request(project, one, `?cursor=${meta.next_cursor}`);
  }
}

function isGroup(group: Record<string, unknown>, { shown, rounded }: ExpectedGroup): boolean {
  const exact = (of: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !rounded.has(name)));
  const isNear = ([name, tolerance]: readonly [string, number]) => {
    const [is, should] = [group[name], shown[name]];
    if (tolerance === Number.POSITIVE_INFINITY) return is === null || typeof is === "number";
    return is === should || Math.abs((is as number) - (should as number)) <= tolerance;
  };
  return isDeepStrictEqual(exact(group), exact(shown)) && [...rounded].every(isNear);
}

function must(holds: boolean, expected: string, seen: unknown): asserts holds {
  if (!holds) throw new Error(`expected ${expected}, saw ${JSON.stringify(seen).slice(0, 2000)}`);
}

/** A failure says all that is needed to look at it alone. */
async function explained<T>(project: ListProject, one: Case, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const rule = print(project.rules.get(one.table.name)!);
    throw new Error(
      `SEED=${seed}: GET /api/${one.table.name}/_svc/aggregate${decodeURIComponent(one.text)} as ${one.caller.name}, scan limit ${project.scanLimit}, rule ${rule}`,
      { cause: error },
    );
  }
}

interface Share {
  readonly scanLimit: number;
  readonly rules: RuleSource;
  readonly share: number;
}

/** The same seed gives every share other rows and queries. */
const saltOf = ({ scanLimit, rules }: Share) => scanLimit * 3 + ["written", "random", "ways"].indexOf(rules);

const serveShare = (random: Random, { scanLimit, rules }: Share) =>
  serveLists(random, { scanLimit, rules, ...(target !== undefined && { target }) });

test.each<Share>([
  { scanLimit: 100_000, rules: "written", share: 0.3 },
  { scanLimit: 100_000, rules: "random", share: 0.3 },
  { scanLimit: 100_000, rules: "ways", share: 0.3 },
  { scanLimit: 60, rules: "written", share: 0.2 },
])("groups are those of the evaluator, scan limit $scanLimit, $rules rules", async (share) => {
  const random = new Random(seed).fork(saltOf(share));
  const project = await serveShare(random, share);
  const outcomes = new Map<Outcome, number>();
  const count = Math.ceil(queries * share.share);
  const isLow = share.scanLimit < 100;
  let tried = 0;
  const shareOf = (...kinds: Outcome[]) => kinds.reduce((sum, kind) => sum + (outcomes.get(kind) ?? 0), 0) / tried;
  const isRare = () =>
    shareOf("one page", "pages") <= (isLow ? 0.02 : 0.15) ||
    (isLow ? shareOf("too many rows") <= 0.1 : shareOf("pages") <= 0.03);
  // A short run may lack an outcome by chance. It goes on until it has it, up to four times as long.
  const triesMax = count * (process.env.QUERIES === undefined ? 4 : 1);
  for (; tried < count || (isRare() && tried < triesMax); tried++) {
    const its = random.fork(tried);
    const one = randomCase(project, its, its.pick(project.tables), its.pick(project.callers));
    const outcome = await explained(project, one, () => follow(project, one));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  // No outcome is rare, or the agreement would say little.
  expect(shareOf("one page", "pages")).toBeGreaterThan(isLow ? 0.02 : 0.15);
  if (isLow) expect(shareOf("too many rows")).toBeGreaterThan(0.1);
  else expect(shareOf("pages")).toBeGreaterThan(0.03);
});

test.each<Share>([
  { scanLimit: 100_000, rules: "written", share: 0.15 },
  { scanLimit: 100_000, rules: "random", share: 0.15 },
  { scanLimit: 100_000, rules: "ways", share: 0.1 },
])("rows that the caller may not read change no answer, $rules rules", async (share) => {
  const random = new Random(seed).fork(-saltOf(share));
  const project = await serveShare(random, share);
  const perTable = Math.ceil((queries * share.share) / tables.length);
  const hidden = await expectHiddenRowsToBeWithoutTrace(project, random, (table, caller) => {
    const cases = random.times(perTable, () => randomCase(project, random, table, caller));
    return async () => {
      const found: unknown[] = [];
      for (const one of cases) {
        const { status, body } = await request(project, one, one.text);
        const { limit, offset, total, next_cursor } = body.meta;
        found.push([status, body.data, limit, offset, total, next_cursor === undefined]);
      }
      return found;
    };
  });
  expect(hidden, `SEED=${seed}`).toBeGreaterThan(0);
});
