import { factsOf } from "../http/answer-facts.js";
import type { Table } from "../project/model.js";
import type { Case, CaseKey, Deed, Expected } from "./case-file.js";
import { columnsOfKey, nextPage, requestOf } from "./case-request.js";
import type { CaseServer } from "./case-server.js";

/** What came of a deed. */
interface Outcome {
  readonly status: number;
  /** Of a refusal. */
  readonly code: string | null;
  readonly message: string | null;
  readonly columns: readonly string[];
  /** The rule that refused it, such as `rules.orders.create`. */
  readonly rule: string | null;
  /** The rows of the answer, or the versions of a history. */
  readonly rows: readonly Row[];
}

type Row = Readonly<Record<string, unknown>>;

/** What came of a deed in place of what was expected. */
export interface Unexpected {
  readonly words: string;
  /** Whether rules have decided it. */
  readonly isByRules: boolean;
}

/** Does what a case says. Null where what it expects has come of it. */
export async function runCase(server: CaseServer, { as, deed, expected }: Case): Promise<Unexpected | null> {
  // Who asks for a page by its `limit` sees that page.
  const wantsAll = expected.kind === "sees" && !(deed.kind === "list" && deed.query.limit !== undefined);
  const table = "table" in deed ? server.project.schema.tables.get(deed.table)! : null;
  const outcome = await outcomeOf(server, { as, deed }, table, wantsAll);
  const words = ((): string | null => {
    switch (expected.kind) {
      case "allow":
        return notAllowed(outcome) ?? nothingSeen(deed, outcome) ?? otherColumns(outcome, expected.columns);
      case "deny":
        return notDenied(deed, outcome, expected);
      case "sees":
        return notAllowed(outcome) ?? otherKeys(outcome, table!, expected.keys, deed.kind === "history");
    }
  })();
  return words === null ? null : { words, isByRules: outcome.code === null || outcome.rule !== null };
}

/** A history is answered to whoever may see any row's; of a row, a version has to be seen. */
function nothingSeen(deed: Deed, { rows }: Outcome): string | null {
  return deed.kind === "history" && deed.key !== null && rows.length === 0 ? "no version of the row is seen" : null;
}

async function outcomeOf(
  server: CaseServer,
  { as, deed }: Pick<Case, "as" | "deed">,
  table: Table | null,
  wantsAll: boolean,
): Promise<Outcome> {
  const rows: Row[] = [];
  let request = requestOf(deed, table);
  for (;;) {
    const answer = await server.answer(as, request);
    const body = answer.status === 204 ? {} : ((await answer.json()) as Body);
    if (body.error !== undefined) {
      const { code, message, columns = [] } = body.error;
      const { rule = null } = factsOf(request, answer);
      return { status: answer.status, code, message, columns, rule, rows };
    }
    rows.push(...(Array.isArray(body.data) ? body.data : [body.data ?? {}]));
    const cursor = body.meta?.next_cursor;
    if (!wantsAll || cursor === undefined || cursor === null)
      return { status: answer.status, code: null, message: null, columns: [], rule: null, rows };
    request = nextPage(deed, table!, cursor);
  }
}

interface Body {
  readonly data?: Row | Row[];
  readonly meta?: { readonly next_cursor?: string | null };
  readonly error?: { readonly code: string; readonly message: string; readonly columns?: readonly string[] };
}

function notAllowed({ status, code, message, columns, rule }: Outcome): string | null {
  if (code === null) return null;
  const named = columns.length === 0 ? "" : `, columns ${columns.join(", ")}`;
  return `refused: ${status} ${code}${rule === null ? "" : ` by ${rule}`}: ${message}${named}`;
}

function otherColumns({ rows }: Outcome, columns: readonly string[] | null): string | null {
  if (columns === null) return null;
  const wanted = [...columns].sort().join(", ");
  const shown = [...new Set(rows.map((row) => Object.keys(row).sort().join(", ")))];
  const other = shown.find((names) => names !== wanted);
  if (shown.length === 0) return "no row came, so no columns";
  return other === undefined ? null : `the answer has the columns ${other}`;
}

/** Without a code, only 401 and 403 are expected, by which rules refuse. */
function notDenied(
  deed: Deed,
  outcome: Outcome,
  { code, columns }: Extract<Expected, { readonly kind: "deny" }>,
): string | null {
  if (outcome.code === null) {
    const isEmpty = (deed.kind === "list" || deed.kind === "history") && outcome.rows.length === 0;
    return `allowed: ${outcome.status}${isEmpty ? ", without rows; for an empty list write sees: []" : ""}`;
  }
  const said = notAllowed(outcome);
  if (code !== null && outcome.code !== code) return said;
  if (columns !== null && [...columns].sort().join() !== [...outcome.columns].sort().join()) return said;
  const isByRules = outcome.status === 401 || outcome.status === 403;
  return code !== null || isByRules ? null : `${said}; no rule has refused it, for which write deny: ${outcome.code}`;
}

function otherKeys({ rows }: Outcome, table: Table, keys: readonly CaseKey[], areVersions: boolean): string | null {
  const { primaryKey } = table;
  const textOf = (values: readonly unknown[]) => JSON.stringify(values.length === 1 ? values[0] : values);
  const found = rows.map((row) => {
    const key = (areVersions ? row.key : row) as Row;
    return textOf(primaryKey.map((name) => key[name]));
  });
  const wanted = keys.map((key) => textOf(columnsOfKey(table, key).map(([, value]) => value)));
  const seen = [...new Set(found)];
  const missing = wanted.filter((key) => !seen.includes(key));
  const surplus = seen.filter((key) => !wanted.includes(key));
  if (missing.length + surplus.length === 0) return null;
  const parts = [
    missing.length > 0 && `does not see ${missing.join(", ")}`,
    surplus.length > 0 && `sees ${surplus.join(", ")}, too`,
  ];
  return parts.filter((part) => part !== false).join("; ");
}
