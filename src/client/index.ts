export type { Metering } from "../wire/metering.js";
export type { UserSession } from "../wire/sessions.js";
export type { TokenUser, User } from "../wire/users.js";

import { type Client, type ClientOptions, clientIn } from "./client.js";
import { surroundings } from "./surroundings.js";
import type { OperationTypes, TableTypes } from "./table-types.js";

export type { Auth, Credentials, VerificationRequired } from "./auth.js";
export type { Client, ClientOptions, PullRequest } from "./client.js";
export { SvcError, SvcPreconditionError } from "./error.js";
export type { Expand, Expanded, ExpandOptions } from "./expand.js";
export type { HistoryOptions, RowVersion, Seq, StateQuery, Versions } from "./history.js";
export type { Change, FollowedTables, Follower, LiveState, Step } from "./live/changes.js";
export { indexedDbStore } from "./live/indexed-db-store.js";
export type { Pulled } from "./live/pulled.js";
export type { RowStore, SavedStep, StoredState } from "./live/store.js";
export type { OAuth, OAuthProvider } from "./oauth.js";
export type {
  Mutation,
  MutationResult,
  Operation,
  OperationResult,
  Pushed,
  PushedOperation,
  Ref,
} from "./operations.js";
export type { AggregateQuery, AggregateRow, Filter, ListQuery, LiveQuery } from "./query.js";
export { memoryStorage, type SessionStorage } from "./surroundings.js";
export type {
  CallOptions,
  ChangeOptions,
  ListMeta,
  Page,
  Table,
  UpsertOptions,
  Version,
  WithMeta,
} from "./table.js";
export type { OperationTypes, TableTypes } from "./table-types.js";

/**
 * Makes a client for one server, for browsers and Node (`docs/guides/client.md`). The command `svc gen types` writes
 * the types `Tables` and `Operations`.
 */
export function createClient<
  // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known tables
  Tables extends { [N in keyof Tables]: TableTypes } = {},
  // biome-ignore lint/complexity/noBannedTypes: `{}` is the default, a client without known operations
  Operations extends { [N in keyof Operations]: OperationTypes } = {},
>(options: ClientOptions): Client<Tables, Operations> {
  const { fetch } = options;
  return clientIn({ ...surroundings(), ...(fetch && { fetch }) }, options);
}
