import { isRefusal, type Refusal } from "../http/refusal.js";
import type { AtOnce } from "../platform/at-once.js";
import { type Database, type Statements, UnavailableError } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import type { Clock } from "../platform/platform.js";
import type { AccessTokens } from "./access-token.js";
import {
  type CheckedRow,
  type Claim,
  callerOf,
  checkStatement,
  claimOf,
  type NamedCaller,
  seenAs,
} from "./authenticate.js";
import { CheckedDatabase, UnexpectedRowError } from "./checked-database.js";
import { readCredential, type TakenCookies } from "./credential.js";
import type { Actor, Caller } from "./principal.js";

/** A caller, and the version of the schema in force, which the same query found. */
export interface IdentifiedCaller<C = Caller> {
  /** Whose rights the request has. */
  readonly caller: C;
  /**
   * Who sends the request. Another than `caller` only where an administrator asks what somebody else would be answered: then
   * nothing may be written.
   */
  readonly by: C;
  /** The version of the schema in force; null where no schema was applied yet. */
  readonly schemaVersion: number | null;
}

/** Finds out who works with rows, as `Callers.run` does. */
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
  /** Checks the caller in a round trip of its own. */
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
   * As `run`, and looks another caller up beside the one who sends the request. `act` decides whether they may ask for it;
   * it is given who the other one would be in a request of their own, or what refuses it.
   */
  runAs<T = Response>(
    headers: Headers,
    as: NamedCaller,
    act: (identity: IdentifiedCaller, other: Caller | Refusal, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal>;
}

/**
 * What `createCallers` needs. `cookies` says which cookies count as credentials; sessions last `sessionMaxAgeMs`.
 */
export interface CallerServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  readonly cookies: TakenCookies;
  readonly sessionMaxAgeMs: number;
}

const rememberedBytesMax = 262_144;
/** How often one request may find another caller or schema version than expected before it fails. */
const roundsMax = 5;

/**
 * The callers of one server. It remembers the last schema version, API keys and sessions of the console, whether users have
 * confirmed their addresses, and the sessions that have ended, to predict what the next checks will find.
 */
export function createCallers(services: CallerServices): Callers {
  const { database, clock, tokens, cookies, sessionMaxAgeMs } = services;
  let schemaVersion: CheckedRow[0] = null;
  /**
   * What the database said of API keys (their ids and scopes) and of sessions of the console, by the hash of the key or
   * the token, which itself does not tell it.
   */
  const byHash = new Memo<CheckedRow>(rememberedBytesMax, {
    weigh: (hash, row) => hash.length + row.join().length,
  });
  /**
   * Whether users have confirmed their addresses, 1 or 0, by user id. Access tokens do not say it, because a link that
   * confirms an address has to take effect with the next request. For a user who is not in here, the answer for the
   * last user is taken as a guess, which the check corrects.
   */
  const verified = new Memo<number>(rememberedBytesMax);
  let lastVerified = 0;
  /** The ids of sessions that have ended. A request with such a session is checked before `act` is run. */
  const ended = new Memo<true>(rememberedBytesMax);

  const expectedRow = (claim: Claim): CheckedRow | null => {
    switch (claim.kind) {
      case "anonymous":
        return [schemaVersion];
      case "user": {
        const { sessionId, userId, email, role } = claim.claims;
        if (ended.find(sessionId)) return null;
        return [schemaVersion, userId, email, role, verified.find(userId) ?? lastVerified];
      }
      case "key":
      case "console": {
        const known = byHash.find(claim.hash);
        return known === undefined ? null : [schemaVersion, ...known];
      }
      // Asked for rarely, so nothing is remembered of it.
      case "as":
        return null;
    }
  };

  const remember = (claim: Claim, row: CheckedRow): void => {
    const [version, ...known] = row;
    schemaVersion = version!;
    if (claim.kind === "user") {
      const { sessionId, userId } = claim.claims;
      if (isRefusal(callerOf(claim, row))) ended.set(sessionId, true);
      else {
        ended.delete(sessionId);
        lastVerified = known[3] as number;
        verified.set(userId, lastVerified);
      }
    } else if (claim.kind !== "anonymous" && claim.kind !== "as") {
      if (known[0] === null) byHash.delete(claim.hash);
      else byHash.set(claim.hash, known);
    }
  };

  const identityOf = (claim: Claim, row: CheckedRow): IdentifiedCaller | Refusal => {
    const caller = callerOf(claim, row);
    return isRefusal(caller) ? caller : { caller, by: caller, schemaVersion: row[0] as number | null };
  };

  const claimIn = (headers: Headers, nowMs: number) =>
    claimOf(readCredential(headers, cookies), tokens, nowMs);

  const checked = async <T>(
    claim: Claim,
    nowMs: number,
    act: (identity: IdentifiedCaller, row: CheckedRow, database: Statements) => AtOnce<T | Refusal>,
  ): Promise<T | Refusal> => {
    const check = checkStatement(claim, nowMs, sessionMaxAgeMs);
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
      const [result] = await database.query([checkStatement(claim, nowMs, sessionMaxAgeMs)]);
      const [row] = result!.rows;
      return identityOf(claim, row!);
    },

    run: async (headers, act) => {
      const nowMs = clock.now();
      const read = claimIn(headers, nowMs);
      const claim = read instanceof Promise ? await read : read;
      return isRefusal(claim)
        ? claim
        : checked(claim, nowMs, (identity, _, checking) => act(identity, checking));
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
