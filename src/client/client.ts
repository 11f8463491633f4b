import { Auth } from "./auth.js";
import { Authorized } from "./authorized.js";
import { badCall } from "./error.js";
import { Sessions } from "./session.js";
import { defaultStorage, type SessionStorage, type Surroundings, tabStorage } from "./surroundings.js";
import { Table, type TableTypes } from "./table.js";
import { repeated, type Send, transport } from "./transport.js";

export interface ClientOptions {
  /** The server's, such as `https://api.example.com`. */
  readonly url: string;
  /**
   * `bearer` (default): tokens are kept in `storage` and sent as a header. `cookie`: for a server with
   * `auth.cookie_mode`; the browser keeps them in cookies, and this library stores none. That no script of the page can
   * get at them takes `auth.cookie_tokens_in_body = false` on the server, too.
   */
  readonly session?: "bearer" | "cookie";
  /** `localStorage`, or memory where there is none. */
  readonly storage?: SessionStorage;
  /** For servers of your own: calls are made with it instead of a session. */
  readonly apiKey?: string;
  /** The server's `auth.refresh_token_rotation_grace_secs`, inside which a refresh can be repeated; 10 without. */
  readonly refreshGraceSecs?: number;
  /** For one request and its answer; 30,000 without. */
  readonly timeoutMs?: number;
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A table that `svc gen types` has not written, with the rows that the caller says. */
type Loose<Row extends object> = { row: Row; create: Partial<Row>; update: Partial<Row>; key: unknown };

/** A name that is not in `Tables` needs rows to be said, so that a misspelt one is an error. */
type LooseName<Tables, Row> = [Row] extends [never]
  ? [keyof Tables] extends [never]
    ? string
    : never
  : string;

export interface Client<Tables extends { [N in keyof Tables]: TableTypes }> {
  readonly auth: Auth;
  /** A table of `Tables`, or of any name with the rows that the type argument says. */
  table<N extends keyof Tables & string>(name: N): Table<Tables[N]>;
  table<Row extends object = never>(
    name: LooseName<Tables, Row>,
  ): Table<Loose<[Row] extends [never] ? Record<string, unknown> : Row>>;
}

/** A client with a time, chance and network of the caller's. */
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
