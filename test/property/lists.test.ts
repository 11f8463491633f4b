import { expect, test, vi } from "vitest";
import { expectHiddenRowsToBeWithoutTrace } from "./lists/hidden-rows.js";
import { evaluateQuery } from "./lists/naive.js";
import { type Case, followPages, type Outcome, request } from "./lists/pages.js";
import { applySchema, type ListProject, type RuleSource, serveLists } from "./lists/project.js";
import { asBody, randomQuery, spell } from "./lists/query.js";
import { lookups, type TableSpec, tables } from "./lists/tables.js";
import { print } from "./support/print.js";
import { Random } from "./support/random.js";

/**
 * Lists against an evaluator that knows nothing of SQL. `SEED=… QUERIES=… npx vitest run
 * test/property/lists.test.ts` repeats or prolongs a run.
 */
const seed = Random.seedOfRun();
const queries = Number(process.env.QUERIES ?? 80);
vi.setConfig({ testTimeout: 900_000 + 10 * queries * 60 });

const pageLimits = [1, 2, 3, 7, 10, 50, 100, 1000];
/** Keeps a run short; one query in a hundred goes through as many pages as its rows take. */
const pagesUsual = 4;

function randomCase(
  project: ListProject,
  random: Random,
  table = random.pick(project.tables),
  caller = random.pick(project.callers),
): Case {
  const query = randomQuery(random, table, project.rows.get(table.name)!);
  const expected = evaluateQuery(table, query, project.admitted(table, caller));
  const offset = random.chance(0.25) ? random.int(0, expected.length + 3) : 0;
  const pagesMax = random.chance(0.01) ? Number.POSITIVE_INFINITY : pagesUsual;
  const fitting = pageLimits.filter((limit) => (expected.length - offset) / limit <= pagesMax);
  const limit = random.chance(0.1) && expected.length / 50 <= pagesMax ? null : random.pick(fitting);
  const text = spell(random, table, query, { limit, offset });
  const body = random.chance(0.4) ? asBody(table, query, { limit, offset }) : null;
  return { table, caller, query, text, body, limit: limit ?? 50, offset, expected };
}

/** A failure says all that is needed to look at it alone. */
async function checked(project: ListProject, one: Case, index: number): Promise<Outcome> {
  try {
    return await followPages(project, one);
  } catch (error) {
    const rule = print(project.rules.get(one.table.name)!);
    throw new Error(
      `SEED=${seed}, query ${index}: GET /api/${one.table.name}${decodeURIComponent(one.text)} as ${one.caller.name}, by ${JSON.stringify(one.body)}, scan limit ${project.scanLimit}, rule ${rule}`,
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

interface Checked {
  readonly one: Case;
  readonly outcome: Outcome;
}

/** What a share of the queries has to meet, each so often that the agreement is not one of nothing. */
type Kinds = Readonly<Record<string, { readonly share: number; readonly of: (checked: Checked) => boolean }>>;

/**
 * As many queries as the share takes. Where a kind has a smaller share of them by then, which a short run can come to by
 * chance, it goes on until none has, up to four times as many. A long run, of which `QUERIES` says how long it is, does not.
 */
async function run(share: Share, kinds: Kinds): Promise<readonly Checked[]> {
  const random = new Random(seed).fork(saltOf(share));
  const project = await serveLists(random, share);
  const count = Math.ceil(queries * share.share);
  const all: Checked[] = [];
  const missing = () =>
    Object.keys(kinds).filter((kind) => all.filter(kinds[kind]!.of).length <= all.length * kinds[kind]!.share);
  const countMax = count * (process.env.QUERIES === undefined ? 4 : 1);
  for (let i = 0; i < count || (missing().length > 0 && i < countMax); i++) {
    const one = randomCase(project, random.fork(i));
    all.push({ one, outcome: await checked(project, one, i) });
  }
  expect(missing(), `SEED=${seed}`).toEqual([]);
  return all;
}

const isPages = ({ outcome }: Checked) => outcome.kind === "pages";
const isTruncated = ({ outcome }: Checked) => outcome.kind === "pages" && outcome.truncated;
const isWhole = ({ outcome }: Checked) => outcome.kind === "pages" && !outcome.truncated;
const isUnserved = ({ outcome }: Checked) => outcome.kind === "unserved_sort";

test.each<Share>([
  { scanLimit: 100_000, rules: "written", share: 0.3 },
  { scanLimit: 100_000, rules: "random", share: 0.3 },
  { scanLimit: 100_000, rules: "ways", share: 0.3 },
])("pages are those of the evaluator, $rules rules", async (share) => {
  const all = await run(share, {
    pages: { share: 0.3, of: isPages },
    "pages with rows": { share: 0.15, of: (checked) => isPages(checked) && checked.one.expected.length > 0 },
    "several pages": { share: 0.05, of: ({ outcome }) => outcome.kind === "pages" && outcome.pages > 1 },
  });
  expect(all.some(isUnserved)).toBe(false);
});

test.each<Share>([
  { scanLimit: 37, rules: "written", share: 0.12 },
  { scanLimit: 37, rules: "random", share: 0.12 },
  { scanLimit: 10, rules: "written", share: 0.08 },
  { scanLimit: 10, rules: "random", share: 0.08 },
])("windows of $scanLimit rows together give what is authorized, $rules rules", async (share) => {
  await run(share, {
    pages: { share: 0.2, of: isPages },
    "truncated pages": { share: 0.1, of: isTruncated },
    "refused sorts": { share: 0.05, of: isUnserved },
  });
});

test.each<Share>([
  { scanLimit: 60, rules: "ways", share: 0.15 },
  { scanLimit: 10, rules: "ways", share: 0.15 },
])("rows of the caller within a scan limit of $scanLimit come whole", async (share) => {
  await run(share, { whole: { share: 0.03, of: isWhole } });
});

test.each<Share>([
  { scanLimit: 100_000, rules: "written", share: 0.1 },
  { scanLimit: 100_000, rules: "random", share: 0.1 },
  { scanLimit: 100_000, rules: "ways", share: 0.1 },
])("rows that the caller may not read change no list, $rules rules", async (share) => {
  const random = new Random(seed).fork(-saltOf(share));
  const project = await serveLists(random, share);
  const perTable = Math.ceil((queries * share.share) / tables.length);
  const hidden = await expectHiddenRowsToBeWithoutTrace(project, random, (table, caller) => {
    const cases = random.times(perTable, () => randomCase(project, random, table, caller));
    return async () => {
      const answers: unknown[] = [];
      for (const one of cases) {
        const { status, body } = await request(project, one, one.text);
        const { data, meta, error } = body as {
          data?: unknown;
          meta?: { total: number; next_cursor?: string; truncated?: boolean };
          error?: unknown;
        };
        const { total, next_cursor, truncated } = meta ?? {};
        answers.push([status, data, error, total, next_cursor === undefined, truncated]);
      }
      return answers;
    };
  });
  expect(hidden, `SEED=${seed}`).toBeGreaterThan(0);
});

const suggestionsMax = Math.max(5, Math.ceil(queries * 0.03));

test("the index that a refused sort names serves it", async () => {
  const random = new Random(seed).fork(-1);
  const project = await serveLists(random, { scanLimit: 20, rules: "written" });
  let tried = 0;
  for (let i = 0; tried < suggestionsMax && i < suggestionsMax * 20; i++) {
    const one = randomCase(project, random.fork(i));
    const outcome = await checked(project, one, i);
    if (outcome.kind !== "unserved_sort") continue;
    tried++;
    await applySchema(project.server, withIndex(one.table, indexNamed(outcome.message)));
    const again = await checked(project, one, i);
    const request = `SEED=${seed}: GET /api/${one.table.name}${decodeURIComponent(one.text)} as ${one.caller.name}`;
    const rule = print(project.rules.get(one.table.name)!);
    expect(again, `${request}, ${rule}, ${outcome.message}`).toMatchObject({ kind: "pages" });
    await applySchema(project.server, [...tables, ...lookups]);
  }
  expect(tried).toBe(suggestionsMax);
});

function indexNamed(message: string): readonly string[] {
  return /\[([^\]]+)\]/.exec(message)![1]!.split(", ");
}

function withIndex(table: TableSpec, columns: readonly string[]): readonly TableSpec[] {
  const changed = { ...table, indexes: [...table.indexes, { columns }] };
  return [...tables.map((spec) => (spec === table ? changed : spec)), ...lookups];
}
