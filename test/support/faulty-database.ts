import { type Database, type Statement, UnavailableError } from "../../src/platform/database.js";

/** A database that a test can watch and break, for `wrap`. */
export interface Switchboard {
  readonly wrap: (database: Database) => Database;
  /** While set, every call whose statements it picks fails as if the storage were away. */
  failing: ((statements: readonly Statement[]) => boolean) | null;
  /** Every statement that was sent, in order. */
  readonly sent: Statement[];
  /** Calls, that is round trips, since the last reset. */
  roundTrips: number;
  reset(): void;
}

export function switchboard(): Switchboard {
  const board: Switchboard = {
    failing: null,
    sent: [],
    roundTrips: 0,
    reset() {
      board.sent.length = 0;
      board.roundTrips = 0;
    },
    wrap: (database) => {
      const through = <R>(call: (statements: readonly Statement[]) => Promise<R>) => {
        return async (statements: readonly Statement[]) => {
          if (board.failing?.(statements)) throw new UnavailableError("database is locked: /var/lib/secret.db");
          board.sent.push(...statements);
          board.roundTrips++;
          return call(statements);
        };
      };
      return {
        query: through((statements) => database.query(statements)),
        batch: through((statements) => database.batch(statements)),
        migrate: through((statements) => database.migrate(statements)),
        foreignKeysStayOn: database.foreignKeysStayOn,
        answerBytesMax: database.answerBytesMax,
        imageBytesMax: database.imageBytesMax,
        statementsMax: database.statementsMax,
        close: () => database.close(),
      };
    },
  };
  return board;
}
