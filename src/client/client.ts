import { Auth } from "./auth.js";
import { Authorized } from "./authorized.js";
import { badCall } from "./error.js";
import type { FollowedTables, Follower } from "./live/changes.js";
import { Feed } from "./live/feed.js";
import { followFrom } from "./live/follow-from.js";
import { Hub } from "./live/hub.js";
import { MemberNames } from "./live/members.js";
import { Overlays } from "./live/overlays.js";
import { type Pulled, pulledAs } from "./live/pulled.js";
import { noStore, type RowStore } from "./live/store.js";
import type { Mutation, Operation, OperationResult, Pushed } from "./operations.js";
import { Sessions } from "./session.js";
import { defaultStorage, type SessionStorage, type Surroundings, tabStorage } from "./surroundings.js";
import { type CallOptions, Table } from "./table.js";
import type { OperationTypes, TableTypes } from "./table-types.js";
import { type Call, repeated, type Send, transport, written } from "./transport.js";

/** Options of `createClient` (`docs/guides/client.md#options`). */
export interface ClientOptions {
  /** The server's URL, such as `https://api.example.com`. */
  readonly url: string;
  /** The path of the tables, `/api` by default. For administrators also `/admin/api/data`, where no rules bind them. */
  readonly tablesPath?: string;
  /**
   * `bearer` (default): tokens are kept in `storage` and sent as a header. `cookie`: for a server with
   * `auth.cookie_mode`; the browser keeps the tokens, and this library stores none. So that no script of the page can
   * read them, the server also needs `auth.cookie_tokens_in_body = false`.
   */
  readonly session?: "bearer" | "cookie";
  /** Where the session is stored: by default `localStorage`, or memory if there is none. */
  readonly storage?: SessionStorage;
  /**
   * Where the rows of live lists are kept, so that they are there when the page is opened again: `indexedDbStore(name)`.
   * By default they last as long as the page.
   */
  readonly store?: RowStore;
  /** An API key, sent with each call instead of a session's token. Only for programs on servers of your own. */
  readonly apiKey?: string;
  /** The server's `auth.refresh_token_rotation_grace_secs`: how long a refresh can be repeated. The default is 10. */
  readonly refreshGraceSecs?: number;
  /** Time limit for one request and its response, in milliseconds; the default is 30,000. */
  readonly timeoutMs?: number;
  /** The function that sends requests, in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The types of a table that has no generated types. */
type Loose<Row extends object> = { row: Row; create: Partial<Row>; update: Partial<Row>; key: unknown };

/**
 * The names that `table` accepts for a table that is not in `Tables`. If `Tables` is given, the caller has to name a
 * type of rows too, so that a misspelt name is an error.
 */
type LooseName<Tables, Row> = [Row] extends [never] ? ([keyof Tables] extends [never] ? string : never) : string;

/**
 * A project's operations, each a function of its parameters (`docs/reference/operations.md`). If `Operations` declares
 * none, any name is accepted.
 */
type Ops<Operations extends { [N in keyof Operations]: OperationTypes }> = [keyof Operations] extends [never]
  ? { readonly [name: string]: (params?: object, options?: CallOptions) => Promise<unknown> }
  : {
      readonly [N in keyof Operations]: (
        ...args: Record<never, never> extends Operations[N]["params"]
          ? [params?: Operations[N]["params"], options?: CallOptions]
          : [params: Operations[N]["params"], options?: CallOptions]
      ) => Promise<Operations[N]["result"]>;
    };

/** The parts of a client that have nothing to do with the project's operations. */
export interface TablesClient<Tables extends { [N in keyof Tables]: TableTypes }> {
  readonly auth: Auth;
  /** Gives access to a table: one of `Tables`, or any other whose type of rows is the type argument. */
  table<N extends keyof Tables & string>(name: N): Table<Tables[N], Tables>;
  table<Row extends object = never>(
    name: LooseName<Tables, Row>,
  ): Table<Loose<[Row] extends [never] ? Record<string, unknown> : Row>>;
  /**
   * Does several writes as one transaction: all or none. Returns the result of each, in their order
   * (`docs/guides/client.md#several-writes-as-one`).
   */
  batch<const Writes extends readonly Operation<Tables>[]>(
    operations: Writes,
    options?: CallOptions,
  ): Promise<{ -readonly [I in keyof Writes]: OperationResult<Tables, Writes[I]> }>;
  /**
   * Sends mutations, each of which becomes a transaction of its own, in the order of their ids. `client` is a name of
   * your choice; the ids of its mutations count up by one (`docs/sync.md#push`). A mutation may be sent again. An
   * outbox does all this by itself.
   */
  push(
    request: { readonly client: string; readonly mutations: readonly Mutation<Tables>[] },
    options?: CallOptions,
  ): Promise<Pushed>;
  /** Asks for one page of what has changed since a checkpoint (`docs/sync.md`). */
  pull(request: PullRequest, options?: CallOptions): Promise<Pulled>;
  /**
   * Calls `follower` with all rows of the tables that the caller may see, and then with each change. Returns a function
   * that ends this. All who follow the same tables by this client, and by tabs that share its session, share one stream
   * of the server; a call with a `checkpoint` to begin at has a stream of its own.
   */
  follow(tables: FollowedTables, follower: Follower, checkpoint?: string): () => void;
}

/** A client of one server, as `createClient` makes it. */
export interface Client<
  Tables extends { [N in keyof Tables]: TableTypes },
  // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known operations
  Operations extends { [N in keyof Operations]: OperationTypes } = {},
> extends TablesClient<Tables> {
  /** The operations of the project: `client.ops.transfer({ from, to, cents })`. */
  readonly ops: Ops<Operations>;
}

/** What `pull` asks for (`docs/sync.md`). */
export interface PullRequest {
  readonly tables: FollowedTables;
  readonly checkpoint?: string | null;
  /** How many changes a page has at most: 1 to 1000. */
  readonly limit?: number;
  /** How long the server waits for a change before it answers that there is none. */
  readonly wait_ms?: number;
}

/**
 * Members that JavaScript itself looks for, to await or to serialize an object. No operation of a project is called like
 * one of them.
 */
const namesOfNoOperation: ReadonlySet<string> = new Set(["then", "catch", "finally", "toJSON"]);

/** What an outbox needs of its client. */
export interface ClientParts {
  readonly url: string;
  /** A client with an API key has no session. */
  readonly hasKey: boolean;
  readonly sessions: Sessions;
  readonly storage: SessionStorage;
  readonly surroundings: Surroundings;
  readonly overlays: Overlays;
  /** Does not send the call again if no answer comes. */
  readonly push: Send;
}

const partsByClient = new WeakMap<object, ClientParts>();

/** The parts of a client that `clientIn` has made. */
export function partsOf(client: object): ClientParts {
  return partsByClient.get(client)!;
}

/** Throws SvcError `bad_call` for a wrong URL. */
export function clientIn<
  Tables extends { [N in keyof Tables]: TableTypes },
  // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known operations
  Operations extends { [N in keyof Operations]: OperationTypes } = {},
>(surroundings: Surroundings, options: ClientOptions): Client<Tables, Operations> {
  const { session = "bearer", storage = defaultStorage(), apiKey = null } = options;
  const { timeoutMs = 30_000, refreshGraceSecs = 10, tablesPath = "/api" } = options;
  if (!/^https?:\/\/[^?#]+$/.test(options.url))
    throw badCall("url: expected that of the server, with http:// or https://");
  const url = options.url.replace(/\/+$/, "");
  const cookies = session === "cookie";
  const send = transport({ url, tablesPath, timeoutMs, cookies, surroundings });
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
  const once = written(send, repeatedly);
  // The `Idempotency-Key` begins with the time, because the server stores such keys faster than random ones.
  const onceKey = () => `${surroundings.now().toString(16)}-${surroundings.unique()}`;
  const write: Send = (call) => authorized.send({ ...call, onceKey: onceKey() }, once);
  const isShared = storage.subscribe !== undefined && apiKey === null;
  const sharedName = isShared ? `svc.live 2 ${url} ${tablesPath}` : null;
  const line = { read, send: (call: Call) => authorized.send(call), surroundings, sessions, sharedName };
  const hub = new Hub({ ...line, store: (apiKey === null && options.store) || noStore });
  const feeds = new Map<string, Feed>();
  const feedOf = (tables: FollowedTables, isKept = false): Feed => {
    const name = JSON.stringify([tables, isKept]);
    const feed = feeds.get(name) ?? new Feed(hub, tables, isKept, () => feeds.delete(name));
    feeds.set(name, feed);
    return feed;
  };
  const overlays = new Overlays();
  const live = { feedOf, overlays };
  const client: Client<Tables, Operations> = {
    auth: new Auth(send, authorized, sessions, tabStorage() ?? storage, `svc.oauth ${url}`),
    table: ((name: string) => new Table(read, write, live, name)) as Client<Tables>["table"],
    batch: async (operations, { signal } = {}) =>
      (await write({ method: "POST", path: "/api/_svc/batch", body: { operations }, signal })).data as never,
    push: async (body, { signal } = {}) =>
      (await read({ method: "POST", path: "/api/_svc/push", body, signal })).data as Pushed,
    ops: new Proxy({} as Ops<Operations>, {
      get: (_, name) => {
        if (typeof name === "symbol" || namesOfNoOperation.has(name)) return undefined;
        return async (body: object = {}, { signal }: CallOptions = {}) =>
          (await write({ method: "POST", path: `/ops/${name}`, body, signal })).data;
      },
    }),
    pull: async ({ tables, ...asked }, { signal } = {}) => {
      const names = new MemberNames(tables);
      const body = { ...asked, tables: names.members };
      return pulledAs(names, (await read({ method: "POST", path: "/api/_svc/pull", body, signal })).data as Pulled);
    },
    follow: (tables, follower, checkpoint) =>
      checkpoint === undefined ? feedOf(tables).subscribe(follower) : followFrom(line, tables, checkpoint, follower),
  };
  const parts = { url, hasKey: apiKey !== null, sessions, storage, surroundings, overlays, push: line.send };
  partsByClient.set(client, parts);
  return client;
}
