import { type Client, type ClientOptions, clientIn } from "./client.js";
import { surroundings } from "./surroundings.js";
import type { TableTypes } from "./table-types.js";

export type { Auth, Credentials, User, VerificationRequired } from "./auth.js";
export type { Client, ClientOptions, PullRequest } from "./client.js";
export { SvcError, SvcPreconditionError } from "./error.js";
export type { Expand, Expanded, ExpandOptions } from "./expand.js";
export type { Change, FollowedTables, Follower, LiveState, Step } from "./live/changes.js";
export type { Pulled } from "./live/follow.js";
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
export type { TokenUser } from "./session.js";
export { memoryStorage, type SessionStorage } from "./surroundings.js";
export type {
  CallOptions,
  ChangeOptions,
  ListMeta,
  Metering,
  Page,
  Table,
  UpsertOptions,
  Version,
  WithMeta,
} from "./table.js";
export type { TableTypes } from "./table-types.js";

/**
 * Makes a client for one server, for browsers and Node (`docs/guides/client.md`). `Tables` is the type that `svc gen
 * types` writes.
 */
// biome-ignore lint/complexity/noBannedTypes: without it no table is known
export function createClient<Tables extends { [N in keyof Tables]: TableTypes } = {}>(
  options: ClientOptions,
): Client<Tables> {
  const { fetch } = options;
  return clientIn({ ...surroundings(), ...(fetch && { fetch }) }, options);
}
