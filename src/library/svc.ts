import type { Client } from "../client/client.js";
import type { OperationTypes, TableTypes } from "../client/table-types.js";

/**
 * A client of the server in the same process: the client library without HTTP, and without `auth`, because its
 * credentials are given. A refusal is an SvcError.
 */
export type InProcessClient<
  Tables extends { [N in keyof Tables]: TableTypes },
  Operations extends { [N in keyof Operations]: OperationTypes },
> = Omit<Client<Tables, Operations>, "auth">;

/** A project's server inside of a program that has an HTTP server of its own (`docs/guides/functions.md`). */
export interface Svc {
  /** Answers a request to the server. Mount it at `/`: `app.all("*", (c) => svc.fetch(c.req.raw))`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Does the background work that is due: mails that wait, rows that have expired, receipts that are not stored yet.
   * Under Node timers do this, too. On Workers, the cron trigger has to call it.
   */
  upkeep(): Promise<void>;
  /**
   * A client with the credentials of a request that this program is answering: its `Authorization` or `X-API-Key`, or in
   * cookie mode its cookie. Rules, metering and the log treat each call as if the caller had sent it. Where the request
   * may come from a page of an origin that is not allowed, calls with its cookie are refused, as the server's own routes
   * would refuse the request.
   */
  as<
    // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known tables
    Tables extends { [N in keyof Tables]: TableTypes } = {},
    // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known operations
    Operations extends { [N in keyof Operations]: OperationTypes } = {},
  >(request: Request): InProcessClient<Tables, Operations>;
  /**
   * A client with the rights of an API key that has these scopes (`docs/reference/auth.md#api-keys`). Receipts name the
   * key `host`. Throws SvcError `bad_call` for a text that is no scope.
   */
  asKey<
    // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known tables
    Tables extends { [N in keyof Tables]: TableTypes } = {},
    // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known operations
    Operations extends { [N in keyof Operations]: OperationTypes } = {},
  >(scopes: readonly string[]): InProcessClient<Tables, Operations>;
  /**
   * Ends streams, waits until the requests in progress are answered (8 s at most), and closes the database. Later calls
   * wait for the same end.
   */
  close(): Promise<void>;
}

/** What `createSvc` needs of its host, on every runtime. */
export interface HostOptions {
  /** The client's IP address, by which sign-ins are limited: of the socket, or what a proxy of yours says. */
  readonly clientAddress: (request: Request) => string;
}
