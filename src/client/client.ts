import { Auth } from "./auth.js";
import { Authorized } from "./authorized.js";
import { badCall } from "./error.js";
import { Sessions } from "./session.js";
import { defaultStorage, type SessionStorage, type Surroundings, tabStorage } from "./surroundings.js";
import { Table } from "./table.js";
import type { TableTypes } from "./table-types.js";
import { repeated, type Send, transport } from "./transport.js";

/** Options of `createClient` (`docs/guides/client.md#options`). */
export interface ClientOptions {
  /** The server's URL, such as `https://api.example.com`. */
  readonly url: string;
  /**
   * `bearer` (default): tokens are kept in `storage` and sent as a header. `cookie`: for a server with
   * `auth.cookie_mode`; the browser keeps the tokens in cookies, and this library stores none. So that no script of
   * the page can read them, the server also needs `auth.cookie_tokens_in_body = false`.
   */
  readonly session?: "bearer" | "cookie";
  /** Where the session is stored. The default is `localStorage`, or memory where there is none. */
  readonly storage?: SessionStorage;
  /** An API key, which calls send instead of a session. Only for programs on servers of your own. */
  readonly apiKey?: string;
  /**
   * The server's `auth.refresh_token_rotation_grace_secs`, within which a refresh can be repeated; the default is 10.
   */
  readonly refreshGraceSecs?: number;
  /** Time limit for one request and its response, in milliseconds; the default is 30,000. */
  readonly timeoutMs?: number;
  /** A function that sends requests, in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The types of a table for which no types were generated, made of the type of its rows. */
type Loose<Row extends object> = { row: Row; create: Partial<Row>; update: Partial<Row>; key: unknown };

/**
 * A name that `table` accepts for a table which is not in `Tables`: any text. Where `Tables` is given, the caller has
 * to give a type of rows with it, so that a misspelt name is an error.
 */
type LooseName<Tables, Row> = [Row] extends [never]
  ? [keyof Tables] extends [never]
    ? string
    : never
  : string;

/** A client of one server. */
export interface Client<Tables extends { [N in keyof Tables]: TableTypes }> {
  readonly auth: Auth;
  /** A table of `Tables`, or any table with the type of rows that the type argument names. */
  table<N extends keyof Tables & string>(name: N): Table<Tables[N], Tables>;
  table<Row extends object = never>(
    name: LooseName<Tables, Row>,
  ): Table<Loose<[Row] extends [never] ? Record<string, unknown> : Row>>;
}

/** Makes a client with the given time, random numbers and network. Throws SvcError `bad_call` for a wrong URL. */
export function clientIn<Tables extends { [N in keyof Tables]: TableTypes }>(
  surroundings: Surroundings,
  options: ClientOptions,
): Client<Tables> {
  const { session = "bearer", storage = defaultStorage(), apiKey = null } = options;
  const { timeoutMs = 30_000, refreshGraceSecs = 10 } = options;
  if (!/^https?:\/\/[^?#]+$/.test(options.url))
    throw badCall("url: expected that of the server, with http:// or https://");
  const url = options.url.replace(/\/+$/, "");
  const cookies = session === "cookie";
  const send = transport({ url, timeoutMs, cookies, surroundings });
  const sessions = new Sessions(storage, `svc.session ${url}`, cookies);
  const authorized = new Authorized({
    send,
    sessions,
    storage,
    lockName: `svc.lock ${url}`,
    cookies,
    apiKey,
    graceMs: refreshGraceSecs * 1000,
    surroundings,
  });
  const repeatedly = repeated(send, surroundings);
  const read: Send = (call) => authorized.send(call, repeatedly);
  const write: Send = (call) => authorized.send(call);
  return {
    auth: new Auth(send, authorized, sessions, tabStorage() ?? storage, `svc.oauth ${url}`),
    table: ((name: string) => new Table(read, write, name)) as Client<Tables>["table"],
  };
}
