import type { Table } from "../project/model.js";
import type { CaseKey, Deed } from "./case-file.js";

const origin = "http://127.0.0.1";

/** The request by which a deed is done. Null for the table of a deed that concerns none. */
export function requestOf(deed: Deed, table: Table | null): Request {
  switch (deed.kind) {
    case "read":
      return new Request(rowUrl(table!, deed.key));
    case "delete":
      return new Request(rowUrl(table!, deed.key), { method: "DELETE" });
    case "create":
      return withBody("POST", `/api/${deed.table}`, deed.values);
    case "update":
      return withBody("PATCH", rowUrl(table!, deed.key), deed.set);
    case "list":
      return withBody("POST", `/api/${deed.table}/_svc/query`, deed.query);
    case "history":
      return new Request(historyUrl(table!, deed.key));
    case "op":
      return withBody("POST", `/ops/${deed.operation}`, deed.params);
  }
}

/** The request for the next page of a list or a history, after one whose `meta` had this cursor. */
export function nextPage({ kind }: Deed, { name }: Table, cursor: string): Request {
  if (kind === "list") return withBody("POST", `/api/${name}/_svc/query`, { cursor });
  return new Request(`${origin}/api/${name}/_svc/history?${new URLSearchParams({ cursor })}`);
}

function withBody(method: string, path: string, body: unknown): Request {
  const headers = { "Content-Type": "application/json" };
  return new Request(new URL(path, origin), { method, headers, body: JSON.stringify(body) });
}

/** The columns of a key, in the order of the table's. */
export function columnsOfKey({ primaryKey }: Table, key: CaseKey): readonly (readonly [string, unknown])[] {
  return typeof key === "object" ? primaryKey.map((name) => [name, key[name]]) : [[primaryKey[0]!, key]];
}

/** What is wrong with the form of a key; null for a key that may be one of the table. */
export function keyProblem({ primaryKey }: Table, key: CaseKey): string | null {
  const names = typeof key === "object" ? Object.keys(key) : primaryKey.slice(0, 1);
  const isWhole = names.length === primaryKey.length && primaryKey.every((name) => names.includes(name));
  return isWhole ? null : `expected ${primaryKey.length === 1 ? "the value" : "a map"} of ${primaryKey.join(" and ")}`;
}

function rowUrl(table: Table, key: CaseKey): string {
  const columns = columnsOfKey(table, key);
  if (columns.length === 1) return `${origin}/api/${table.name}/${encodeURIComponent(String(columns[0]![1]))}`;
  return `${origin}/api/${table.name}/_svc/key?${queryOf(columns, (name) => name)}`;
}

function historyUrl(table: Table, key: CaseKey | null): string {
  const where = key === null ? [] : columnsOfKey(table, key);
  return `${origin}/api/${table.name}/_svc/history?${queryOf(where, (name) => `where[${name}]`)}`;
}

function queryOf(columns: readonly (readonly [string, unknown])[], parameter: (name: string) => string): string {
  const query = new URLSearchParams();
  for (const [name, value] of columns) query.append(parameter(name), String(value));
  return query.toString();
}
