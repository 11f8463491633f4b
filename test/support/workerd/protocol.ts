import {
  ConstraintError,
  type ConstraintKind,
  type Database,
  NotSetUpError,
  type Result,
  type Statement,
  StatementError,
  UnavailableError,
} from "../../../src/platform/database.js";
import type { MailMessage } from "../../../src/platform/platform.js";

/** What the tests ask of the Worker beside requests of a project, as POST to these paths. */
export interface Calls {
  "/__test/start": {
    readonly asked: Start;
    readonly answer: Pick<Database, "foreignKeysStayOn" | "answerBytesMax" | "imageBytesMax" | "statementsMax">;
  };
  "/__test/database": { readonly asked: DatabaseCall; readonly answer: DatabaseAnswer };
  "/__test/hasher": {
    readonly asked: { readonly method: "hash" | "verify"; readonly parameters: readonly [string, string?] };
    readonly answer: string | boolean;
  };
  /** Waits for what answers have left behind. Answers the lines of the request log that are new. */
  "/__test/settled": { readonly asked: null; readonly answer: readonly string[] };
  "/__test/upkeep": { readonly asked: { readonly task: string }; readonly answer: null };
  "/__test/restart": { readonly asked: Secrets; readonly answer: null };
  /** Answers the last lines of the request log. */
  "/__test/end": { readonly asked: null; readonly answer: readonly string[] };
}

/** A project is known by a number, in the header Test-Project. */
export interface Start extends Secrets {
  readonly config: string;
  readonly schema: string;
  /** The D1 binding, or the URL of a libSQL server. */
  readonly database: { readonly binding: string } | { readonly url: string };
  readonly credentials: Readonly<Record<string, string>>;
  readonly providerEndpoints: object | null;
  readonly now: number;
  /** See `thaw`; null for an empty database. */
  readonly frozen: string | null;
}

export interface Secrets {
  readonly secret: string;
  readonly previousSecret?: string;
}

export interface DatabaseCall {
  readonly method: "query" | "batch" | "migrate";
  readonly statements: readonly { readonly sql: string; readonly params: readonly unknown[] }[];
}

export type DatabaseAnswer =
  | { readonly results: readonly { readonly rows: readonly unknown[][]; readonly rowsWritten: number }[] }
  | { readonly error: { readonly name: string; readonly kind: string | null; readonly message: string } };

/** What the Worker tells the tests, as POST to the service HOST. */
export type Report =
  | { readonly project: number; readonly log: string }
  | { readonly project: number; readonly mail: MailMessage };

/** JSON for the values that it has no form for. */
export function packed(value: unknown): unknown {
  if (typeof value === "bigint") return { integer: String(value) };
  if (value instanceof Uint8Array) return { bytes: Array.from(value) };
  return Object.is(value, -0) ? { negativeZero: true } : value;
}

export function unpacked(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("integer" in value) return BigInt(value.integer as string);
  return "bytes" in value ? new Uint8Array(value.bytes as number[]) : -0;
}

export const packedStatements = (statements: readonly Statement[]): DatabaseCall["statements"] =>
  statements.map(({ sql, params }) => ({ sql, params: params.map(packed) }));

export const unpackedStatements = (statements: DatabaseCall["statements"]): readonly Statement[] =>
  statements.map(({ sql, params }) => ({
    sql,
    params: params.map(unpacked) as Statement["params"][number][],
  }));

export const packedResults = (results: readonly Result[]) =>
  results.map(({ rows, rowsWritten }) => ({ rows: rows.map((row) => row.map(packed)), rowsWritten }));

/** Throws the error that the Worker caught. */
export function unpackedResults(answer: DatabaseAnswer): readonly Result[] {
  if ("results" in answer)
    return answer.results.map(({ rows, rowsWritten }) => ({
      rows: rows.map((row) => row.map(unpacked) as Result["rows"][number]),
      rowsWritten,
    }));
  const { name, kind, message } = answer.error;
  if (name === "ConstraintError") throw new ConstraintError(kind as ConstraintKind, message);
  if (name === "NotSetUpError") throw new NotSetUpError(message);
  if (name === "StatementError") throw new StatementError(message);
  throw name === "UnavailableError" ? new UnavailableError(message) : new Error(message);
}
