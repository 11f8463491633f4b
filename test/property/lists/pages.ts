import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../support/callers.js";
import type { Row } from "../support/values.js";
import { shown } from "./naive.js";
import type { ListProject } from "./project.js";
import type { Query } from "./query.js";
import type { TableSpec } from "./tables.js";

/** One list request of the test and what it must come to. */
export interface Case {
  readonly table: TableSpec;
  readonly caller: Caller;
  readonly query: Query;
  /** The query string. */
  readonly text: string;
  /** The same list as a JSON body, by which it is asked for then; null where it is by the query string. */
  readonly body: object | null;
  readonly limit: number;
  readonly offset: number;
  /** All rows that the query selects, those before `offset` included. */
  readonly expected: readonly Row[];
}

interface PageBody {
  readonly data: readonly Record<string, unknown>[];
  readonly meta: {
    readonly limit: number;
    readonly offset: number;
    readonly total: number;
    readonly next_cursor?: string;
    readonly truncated?: boolean;
  };
}

/** What came of a case. */
export type Outcome =
  | { readonly kind: "pages"; readonly pages: number; readonly truncated: boolean }
  | { readonly kind: "denied" }
  | { readonly kind: "unserved_sort"; readonly message: string };

/** Sends the request and follows its cursors to the end. Throws where an answer is not what it must be. */
export async function followPages(project: ListProject, one: Case): Promise<Outcome> {
  const first = await (one.body === null ? request(project, one, one.text) : requestAsBody(project, one, one.body));
  const status = project.status(one.table, one.caller);
  if (status !== 200) {
    must(first.status === status, `status ${status}`, first);
    return { kind: "denied" };
  }
  if (first.status === 400 && mayBeUnserved(project, one))
    return { kind: "unserved_sort", message: refusalMessage(first) };
  const progress = { returned: 0, total: 0, pages: 0, truncated: false };
  for (let answer = first; ; ) {
    must(answer.status === 200, "status 200", answer);
    const body = answer.body as PageBody;
    checkPage(project, one, progress, body);
    progress.returned += body.data.length;
    progress.total = body.meta.total;
    progress.pages += 1;
    progress.truncated ||= body.meta.truncated === true;
    must(progress.pages <= pagesMax(project, one), "an end of the pages", body.meta);
    if (body.meta.next_cursor === undefined) break;
    const cursor = body.meta.next_cursor;
    answer = await (progress.pages % 2 === 0
      ? requestAsBody(project, one, { cursor })
      : request(project, one, `?cursor=${cursor}`));
  }
  return { kind: "pages", pages: progress.pages, truncated: progress.truncated };
}

type Progress = { readonly returned: number; readonly total: number };

function checkPage({ scanLimit }: ListProject, one: Case, before: Progress, { data, meta }: PageBody): void {
  const at = one.offset + before.returned;
  const slice = one.expected.slice(at, at + data.length);
  const rows = slice.map((row) => shown(one.table, one.query.select, row));
  must(isDeepStrictEqual(data, rows), "the rows of the evaluator", { at, data, rows, meta });
  must(meta.limit === one.limit && data.length <= one.limit, `limit ${one.limit}`, meta);
  must(meta.offset === at, `offset ${at}`, meta);
  const isEnd = at + data.length >= one.expected.length;
  if (meta.truncated === true) {
    must(scanLimit < one.table.rows[1], "no truncation", meta);
    must(meta.next_cursor !== undefined, "a cursor behind a truncated page", meta);
    must(meta.total >= before.total && meta.total <= one.expected.length, "a lower bound as total", meta);
    return;
  }
  must(meta.truncated === undefined, "truncated true or absent", meta);
  must(meta.total === one.expected.length, `total ${one.expected.length}`, meta);
  must((meta.next_cursor === undefined) === isEnd, `${isEnd ? "no" : "a"} next_cursor`, meta);
  must(isEnd || data.length === one.limit, "a full page before the next", meta);
}

/** To so many branches of a rule a row may belong. A window counts it once for each way that leads to it. */
const branchesMax = 4;

/** Each request ends a page or a window. */
function pagesMax({ scanLimit, rows }: ListProject, { table, expected, limit }: Case): number {
  return Math.ceil(expected.length / limit) + Math.ceil((branchesMax * rows.get(table.name)!.length) / scanLimit) + 2;
}

/** The order of the key needs no index, and few rows can be sorted by anything. */
function mayBeUnserved({ scanLimit, rows }: ListProject, { table, query }: Case): boolean {
  return query.sort.length > 0 && rows.get(table.name)!.length > scanLimit;
}

function refusalMessage(answer: Answer): string {
  const { error } = answer.body as { error: { code: string; message: string } };
  must(error.code === "bad_request" && /\[[^\]]+\]/.test(error.message), "a refusal that names an index", answer);
  return error.message;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a query string. */
export async function request({ server }: ListProject, { table, caller }: Case, text: string): Promise<Answer> {
  const response = await server.request(`/api/${table.name}${text}`, { headers: caller.headers });
  return { status: response.status, body: await response.json() };
}

async function requestAsBody({ server }: ListProject, { table, caller }: Case, body: object): Promise<Answer> {
  const response = await server.request(`/api/${table.name}`, {
    method: "QUERY",
    headers: { ...caller.headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

function must(holds: boolean, expected: string, seen: unknown): asserts holds {
  if (!holds) throw new Error(`expected ${expected}, saw ${JSON.stringify(seen).slice(0, 2000)}`);
}
