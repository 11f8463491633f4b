import { type Database, UnavailableError } from "../../src/platform/database.js";
import type { Journal } from "../../src/platform/journal.js";
import type { MailTransport } from "../../src/platform/platform.js";

/** A call fails before it has done anything, or once it has done everything, so that only its answer is lost. */
export const ways = ["before", "after"] as const;
export type Way = (typeof ways)[number];

export interface Failing {
  readonly nth: number;
  readonly way: Way;
}

/** The calls of one kind, in order, of which one may fail. They are counted from `begin` to `end`. */
export class Calls {
  made = 0;
  #counts = false;

  constructor(private readonly failing: Failing | null = null) {}

  get haveFailed(): boolean {
    return this.failWithin(this.made);
  }

  /** Whether one of the first so many calls fails. */
  failWithin(made: number): boolean {
    return this.failing !== null && this.failing.nth <= made;
  }

  begin(): void {
    this.#counts = true;
  }

  end(): void {
    this.#counts = false;
  }

  async through<R>(call: () => Promise<R>): Promise<R> {
    if (!this.#counts) return call();
    this.made++;
    const way = this.made === this.failing?.nth ? this.failing.way : null;
    if (way === "before") throw new UnavailableError("it is away");
    const result = await call();
    if (way === "after") throw new UnavailableError("the answer is lost");
    return result;
  }
}

export function databaseThrough(calls: Calls, database: Database): Database {
  return {
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    query: (statements) => calls.through(() => database.query(statements)),
    batch: (statements) => calls.through(() => database.batch(statements)),
    migrate: (statements) => calls.through(() => database.migrate(statements)),
    close: () => database.close(),
  };
}

export function journalThrough(calls: Calls, journal: Journal): Journal {
  return {
    append: (entry) => calls.through(() => journal.append(entry)),
    collect: () => calls.through(() => journal.collect()),
    close: () => journal.close(),
  };
}

export function mailThrough(calls: Calls, mail: MailTransport): MailTransport["send"] {
  const send = mail.send.bind(mail);
  return (message) => calls.through(() => send(message));
}
