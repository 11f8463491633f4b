import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { AtOnce } from "../../platform/at-once.js";
import { type Database, type Statements, UnavailableError } from "../../platform/database.js";
import { Memo } from "../../platform/memo.js";
import type { Clock } from "../../platform/platform.js";
import type { AccessTokens } from "../sessions/access-token.js";
import { type CheckedRow, rowAt, rowOfUser, versionIn } from "../store/checks.js";
import { type Claim, callerOf, checkOf, claimOf, type NamedCaller, seenAs } from "./authenticate.js";
import { CheckedDatabase, UnexpectedRowError } from "./checked-database.js";
import { readCredential, type TakenCookies } from "./credential.js";
import type { Actor, Caller } from "./principal.js";
import type { ProcessKeys } from "./process-keys.js";

/** A caller, and the version of the schema in force, which was read by the same query. */
export interface IdentifiedCaller<C = Caller> {
  /** The caller whose rights the request has. */
  readonly caller: C;
  /**
   * Who sends the request. Differs from `caller` only where an administrator asks to see what somebody else would be
   * answered (header `Svc-As`); nothing may be written then.
   */
  readonly by: C;
  /** The version of the schema in force; null where no schema was applied yet. */
  readonly schemaVersion: number | null;
}

/**
 * Finds out who asks to work with rows of tables, and runs the function that answers the request for that caller, as
 * `Callers.run` does. Unlike `Callers`, it can let administrators work without being bound by the rules of tables.
 */
export interface Actors {
  run<T = Response>(
    headers: Headers,
    act: (identity: IdentifiedCaller<Actor>, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal>;
}

/**
 * Finds out who sent a request. Every request is checked in the database, so that a logout or a revoked key takes
 * effect with the next request.
 */
export interface Callers {
  /** Finds the caller of a request, with a round trip to the database that does nothing else. */
  identify(headers: Headers): Promise<IdentifiedCaller | Refusal>;

  /**
   * Runs `act`, which answers the request, on a database whose first round trip also checks the caller. Until that
   * round trip, `act` works with the caller and the schema version that the credential and earlier requests suggest.
   * Where the check finds something else, nothing that `act` did has taken effect, and `act` is run again with what was
   * found.
   */
  run<T = Response>(
    headers: Headers,
    act: (identity: IdentifiedCaller, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal>;

  /**
   * Runs `act` as `run` does, for a request by which an administrator wants to see the data as another caller would.
   * That caller, `as`, is looked up together with the sender. `act` has to decide whether the sender may ask for this.
   * `other` is who the other caller would be in a request of their own, or the refusal which that request would get.
   */
  runAs<T = Response>(
    headers: Headers,
    as: NamedCaller,
    act: (identity: IdentifiedCaller, other: Caller | Refusal, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal>;
}

/** What `createCallers` needs. `cookies` says which cookies count as credentials; sessions last `sessionMaxAgeMs`. */
export interface CallerServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  readonly processKeys: ProcessKeys;
  readonly cookies: TakenCookies;
  readonly sessionMaxAgeMs: number;
}

const rememberedBytesMax = 262_144;
/**
 * How many times a request is tried before it fails, where each time the check of its caller finds another caller or
 * schema version than expected.
 */
const roundsMax = 5;

/**
 * Makes the `Callers` of one server. To predict what the checks of the next requests will find, it remembers the last
 * schema version, API keys and sessions of the console, whether users have confirmed their addresses, and which
 * sessions have ended.
 */
export function createCallers(services: CallerServices): Callers {
  const { database, clock, cookies, sessionMaxAgeMs } = services;
  let schemaVersion: number | null = null;
  /**
   * What the database has said of API keys (their ids and scopes) and of sessions of the console, by the hash of the
   * key or token. The text of a key or token does not tell its id or scopes.
   */
  const byHash = new Memo<CheckedRow>(rememberedBytesMax, {
    weigh: (hash, row) => hash.length + row.join().length,
  });
  /**
   * Whether users have confirmed their addresses, by user id. An access token does not say it, because
   * confirming an address has to take effect with the next request. For a user who is not remembered, the answer for
   * the last user is taken as a guess, which the check then corrects.
   */
  const verified = new Memo<boolean>(rememberedBytesMax);
  let lastVerified = false;
  /**
   * The ids of sessions that are known to have ended. A request with one of them is checked before `act` is run,
   * because the check is expected to refuse it.
   */
  const ended = new Memo<true>(rememberedBytesMax);

  const expectedRow = (claim: Claim): CheckedRow | null => {
    switch (claim.kind) {
      case "anonymous":
      case "process_key":
        return rowAt(schemaVersion);
      case "user": {
        const { sessionId, userId: id, email, role } = claim.claims;
        if (ended.find(sessionId)) return null;
        const emailVerified = verified.find(id) ?? lastVerified;
        return rowOfUser(schemaVersion, { id, email, role, emailVerified });
      }
      case "key":
      case "console": {
        const known = byHash.find(claim.hash);
        return known === undefined ? null : rowAt(schemaVersion, known);
      }
      // Requests to see the data as another caller would (`Svc-As`) are rare, so nothing is remembered to predict their
      // checks.
      case "as":
        return null;
    }
  };

  const remember = (claim: Claim, row: CheckedRow): void => {
    schemaVersion = versionIn(row);
    if (claim.kind === "anonymous" || claim.kind === "process_key" || claim.kind === "as") return;
    const caller = callerOf(claim, row);
    if (claim.kind !== "user") {
      if (isRefusal(caller)) byHash.delete(claim.hash);
      else byHash.set(claim.hash, row);
    } else if (isRefusal(caller)) ended.set(claim.claims.sessionId, true);
    else if (caller.kind === "user") {
      ended.delete(caller.sessionId);
      lastVerified = caller.emailVerified;
      verified.set(caller.id, lastVerified);
    }
  };

  const identityOf = (claim: Claim, row: CheckedRow): IdentifiedCaller | Refusal => {
    const caller = callerOf(claim, row);
    return isRefusal(caller) ? caller : { caller, by: caller, schemaVersion: versionIn(row) };
  };

  const claimIn = (headers: Headers, nowMs: number) => claimOf(readCredential(headers, cookies), services, nowMs);

  const checked = async <T>(
    claim: Claim,
    nowMs: number,
    act: (identity: IdentifiedCaller, row: CheckedRow, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal> => {
    const check = checkOf(claim, nowMs, sessionMaxAgeMs).statement;
    let row = expectedRow(claim);
    for (let rounds = 0; rounds < roundsMax; rounds++) {
      if (row === null) {
        const [result] = await database.query([check]);
        row = result!.rows[0]!;
        remember(claim, row);
      }
      const identity = identityOf(claim, row);
      if (isRefusal(identity)) return identity;
      const checking = new CheckedDatabase(database, check, row);
      try {
        const answer = await act(identity, row, checking);
        if (!checking.confirmed) await checking.confirm();
        return answer;
      } catch (error) {
        if (!(error instanceof UnexpectedRowError)) throw error;
        row = error.found;
        remember(claim, row);
      }
    }
    throw new UnavailableError("the schema or the caller changes faster than a request is answered");
  };

  return {
    identify: async (headers) => {
      const nowMs = clock.now();
      const claim = await claimIn(headers, nowMs);
      if (isRefusal(claim)) return claim;
      const [result] = await database.query([checkOf(claim, nowMs, sessionMaxAgeMs).statement]);
      const [row] = result!.rows;
      return identityOf(claim, row!);
    },

    run: async (headers, act) => {
      const nowMs = clock.now();
      const read = claimIn(headers, nowMs);
      const claim = read instanceof Promise ? await read : read;
      return isRefusal(claim) ? claim : checked(claim, nowMs, (identity, _, checking) => act(identity, checking));
    },

    runAs: async (headers, as, act) => {
      const nowMs = clock.now();
      const by = await claimIn(headers, nowMs);
      if (isRefusal(by)) return by;
      const claim = { kind: "as", by, as } as const;
      return checked(claim, nowMs, (identity, row, checking) => act(identity, seenAs(claim, row), checking));
    },
  };
}
