import { type Client, createClient, memoryStorage, type Table } from "../../client/index.js";
import { type As, asHeader } from "./as.js";
import { consoleFetch } from "./console-fetch.js";
import type { Row } from "./shapes.js";

/** How much of a long text a list has of it, in bytes. */
const previewBytes = 200;

/** The header by which long values come as their beginnings. */
export const previewHeader = { "Svc-Preview": String(previewBytes) };

/** How the tables are read. */
export interface Seen {
  /** Through whose eyes; null for the administrator's own, past all rules. */
  readonly as: As | null;
  /** Long values come as their beginnings. */
  readonly isPreviewed?: boolean;
}

/** A table as the console has it: all that is known of its rows, the schema says. */
export type AnyTable = Table<{ row: Row; create: Row; update: Row; key: unknown }>;

/** A client of the tables under /admin/api/data. */
export function clientOf({ as, isPreviewed = false }: Seen): Client<Record<never, never>> {
  const headers = {
    ...(as !== null && { "Svc-As": asHeader(as) }),
    ...(isPreviewed && previewHeader),
  };
  return createClient({
    url: location.origin,
    tablesPath: "/admin/api/data",
    // The session is a cookie, and nothing of it is stored where a script could read it.
    storage: memoryStorage(),
    fetch: (input, init) => {
      const own = Object.entries(init?.headers ?? {});
      return consoleFetch(input, { ...init, headers: { ...Object.fromEntries(own), ...headers } });
    },
  });
}

/** One table, past all rules or through somebody's eyes. */
export function tableOf(name: string, seen: Seen = { as: null }): AnyTable {
  return clientOf(seen).table<Row>(name) as unknown as AnyTable;
}
