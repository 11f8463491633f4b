import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Database } from "../platform/database.js";
import type { Clock } from "../platform/platform.js";
import type { AccessTokens } from "./access-token.js";
import { type CheckedRow, type Claim, callerOf, checkStatement, claimOf } from "./authenticate.js";
import { checkedDatabase, UnexpectedRowError } from "./checked-database.js";
import { readCredential } from "./credential.js";
import type { Caller } from "./principal.js";

export interface Identity {
  readonly caller: Caller;
  /** Null where none is applied yet. */
  readonly schemaVersion: number | null;
}

/** Who calls. The database has the last word on every request. */
export interface Callers {
  /** In a round trip of its own. */
  identify(headers: Headers): Promise<Identity | Refusal>;

  /**
   * Runs `act` on a database whose first round trip checks the caller too. Until then the credential and what the last
   * requests found vouch for the identity; where that turns out to be out of date, nothing that `act` did counts, and
   * it is run again.
   */
  run(
    headers: Headers,
    act: (identity: Identity, database: Database) => Promise<Response | Refusal>,
  ): Promise<Response | Refusal>;
}

export interface CallerServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  readonly cookieMode: boolean;
}

const rememberedKeysMax = 1000;

export function createCallers({ database, clock, tokens, cookieMode }: CallerServices): Callers {
  let schemaVersion: CheckedRow[0] = null;
  /** What only the database knows of an API key, by its hash, the longest known first. */
  const keys = new Map<string, CheckedRow>();

  const expectedRow = (claim: Claim): CheckedRow | null => {
    switch (claim.kind) {
      case "anonymous":
        return [schemaVersion];
      case "user": {
        const { userId, email, role } = claim.claims;
        return [schemaVersion, userId, email, role];
      }
      case "key": {
        const known = keys.get(claim.hash);
        return known === undefined ? null : [schemaVersion, ...known];
      }
    }
  };

  const remember = (claim: Claim, [version, ...known]: CheckedRow): void => {
    schemaVersion = version!;
    if (claim.kind !== "key") return;
    keys.delete(claim.hash);
    if (known[0] === null) return;
    keys.set(claim.hash, known);
    if (keys.size > rememberedKeysMax) keys.delete(keys.keys().next().value!);
  };

  const identityOf = (claim: Claim, row: CheckedRow): Identity | Refusal => {
    const caller = callerOf(claim, row);
    return isRefusal(caller) ? caller : { caller, schemaVersion: row[0] as number | null };
  };

  const read = (headers: Headers) => claimOf(readCredential(headers, cookieMode), tokens, clock.now());

  return {
    identify: async (headers) => {
      const claim = await read(headers);
      if (isRefusal(claim)) return claim;
      const [result] = await database.query([checkStatement(claim, clock.now())]);
      const [row] = result!.rows;
      return identityOf(claim, row!);
    },

    run: async (headers, act) => {
      const claim = await read(headers);
      if (isRefusal(claim)) return claim;
      const check = checkStatement(claim, clock.now());
      for (let row = expectedRow(claim); ; ) {
        if (row === null) {
          const [result] = await database.query([check]);
          row = result!.rows[0]!;
          remember(claim, row);
        }
        const identity = identityOf(claim, row);
        if (isRefusal(identity)) return identity;
        const checked = checkedDatabase(database, check, row);
        try {
          const answer = await act(identity, checked);
          await checked.confirm();
          return answer;
        } catch (error) {
          if (!(error instanceof UnexpectedRowError)) throw error;
          row = error.found;
          remember(claim, row);
        }
      }
    },
  };
}
