import { type Client, createClient, memoryStorage, type Table } from "../../client/index.js";
import { type As, asHeader } from "./as.js";
import { consoleFetch } from "./console-fetch.js";
import type { TableRow } from "./table-row.js";

/** How many bytes of a long value the console loads for its lists. */
const previewBytes = 200;

/** Asks the server for only the beginnings of long values. */
export const previewHeader = { "Svc-Preview": String(previewBytes) };

/** As whom the console reads tables, and whether long values are cut. */
export interface ReadOptions {
  /** With null the rows are the administrator's, to whom the rules do not apply. */
  readonly as: As | null;
  /** Whether only the beginnings of long values are loaded. */
  readonly isPreviewed?: boolean;
}

/** A table in the console. Its types do not know the columns: these are only in the schema that was loaded. */
export type AnyTable = Table<{ row: TableRow; create: TableRow; update: TableRow; key: unknown }>;

/** The client's requests for tables go to /admin/api/data. */
export function clientOf({ as, isPreviewed = false }: ReadOptions): Client<Record<never, never>> {
  const headers = {
    ...(as !== null && { "Svc-As": asHeader(as) }),
    ...(isPreviewed && previewHeader),
  };
  return createClient({
    url: location.origin,
    tablesPath: "/admin/api/data",
    // The browser keeps the session's cookie. So the client stores nothing where another script could read it.
    storage: memoryStorage(),
    fetch: (input, init) => {
      const own = Object.entries(init?.headers ?? {});
      return consoleFetch(input, { ...init, headers: { ...Object.fromEntries(own), ...headers } });
    },
  });
}

/** The client's access to one table, past all rules or as the caller `as`. */
export function clientTable(name: string, seen: ReadOptions = { as: null }): AnyTable {
  return clientOf(seen).table<TableRow>(name) as unknown as AnyTable;
}
