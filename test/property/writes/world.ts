import { type Client, client } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";

const columns = `
    id: { type: integer, primary_key: true }
    name: { type: text, unique: true }
    owner: { type: text }
    n: { type: integer, default: 3, check: "n < 9" }
    real: { type: real }
    note: { type: json }
    hidden: { type: boolean }
    version: { type: integer, managed: version }`;

const loud = "not exists (select 1 from quiet)";

/**
 * A rule that looks into its own table makes each row a statement; the others are one statement where that is possible.
 * Triggers refuse, ignore, and write elsewhere and into the row itself, but not while there is a row in `quiet`.
 */
const schema = `
quiet: { columns: { id: { type: integer, primary_key: true } } }
plain:
  columns:${columns}
looking:
  history: forever
  columns:${columns}
triggered:
  columns:${columns}
  triggers:
    no_six: >-
      before insert on triggered when new.n = 6 and ${loud} begin select raise(abort, 'six is taken'); end
    skip: >-
      before update on triggered when new.n = 0 and ${loud} begin select raise(ignore); end
    carry: >-
      after update on triggered when new.n = 2 and ${loud} begin update plain set n = 1 where name = new.name; end
    refuse_elsewhere: >-
      after insert on triggered when new.n = 5 and ${loud} begin update looking set n = 9 where name = new.name; end
    itself: >-
      after insert on triggered when new.n = 1 and ${loud} begin update triggered set real = 8.5 where id = new.id; end
`;

const rules = (create: string) => `
read = "row.hidden is null or row.owner = auth.id"
create = "${create}"
update = "row.owner = auth.id and new.n != 7"
delete = "row.owner = auth.id"
`;
export const tables = ["plain", "looking", "triggered"] as const;
export type Table = (typeof tables)[number];
const create: Readonly<Record<Table, string>> = {
  plain: "new.n != 7 and new.owner is not null",
  looking: "new.n != 7 and not exists(looking other where other.n = 5 and new.n = 5)",
  triggered: "new.n != 7",
};
const config = tables
  .map((table) => `[rules.${table}]${rules(create[table])}[rules.${table}.columns.id]\nwrite = "authenticated"\n`)
  .join("");

export const callers = ["ann", "ben"] as const;

/** A server with rows that two callers write. */
export class World {
  constructor(
    readonly server: TestServer,
    private readonly by: readonly Client[],
  ) {}

  static async open(): Promise<World> {
    const server = await serve({ schema, config });
    const people = [await member(server, callers[0]), await member(server, callers[1])];
    return new World(
      server,
      people.map(({ bearer }) => client(server, bearer)),
    );
  }

  as(caller: number): Client {
    return this.by[caller]!;
  }

  /** All rows but their versions, which begin at random. */
  async state(): Promise<unknown> {
    const of = (table: Table) =>
      rowsOf(
        this.server,
        `SELECT id, name, owner, n, typeof(n), real, typeof(real), note, hidden FROM ${table} ORDER BY id`,
      );
    return Promise.all(tables.map(of));
  }

  async put(state: unknown): Promise<void> {
    const rows = (table: Table, i: number) =>
      (state as (readonly (string | number | null)[])[][])[i]!.map(([id, name, owner, n, , real, , note, hidden]) => ({
        sql: `INSERT INTO ${table} (id, name, owner, n, real, note, hidden, version) VALUES (?, ?, ?, ?, ?, ?, ?, 1)`,
        params: [id!, name!, owner!, n!, real!, note!, hidden!],
      }));
    const deleted = tables.map((table) => ({ sql: `DELETE FROM ${table}`, params: [] }));
    await this.server.database.batch([
      { sql: "INSERT INTO quiet VALUES (1)", params: [] },
      ...deleted,
      ...tables.flatMap(rows),
      { sql: "DELETE FROM quiet", params: [] },
    ]);
  }
}
