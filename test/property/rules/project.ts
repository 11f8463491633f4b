import { isDeepStrictEqual } from "node:util";
import type { Expression } from "../../../src/rules/ast.js";
import { serve, type TestServer } from "../../support/server.js";
import { anonymous, type Caller, makeKey, makeUsers, usersOf } from "../support/callers.js";
import { admits, earlyRefusal, type World } from "../support/evaluate.js";
import { insertRows } from "../support/insert-rows.js";
import type { Random } from "../support/random.js";
import { type Row, toWire, type Value } from "../support/values.js";
import {
  type Action,
  columns,
  configText,
  lookups,
  type RuledTable,
  randomRow,
  randomTables,
  randomValue,
  schemaText,
  shape,
} from "./tables.js";

/** A served project beside a model of its rows, which every request is held against. */
export class RuledProject {
  private constructor(
    readonly server: TestServer,
    readonly tables: readonly RuledTable[],
    readonly callers: readonly Caller[],
    readonly people: readonly string[],
    private readonly rows: Map<string, readonly Row[]>,
  ) {}

  /** Serves until the test ends. */
  static async serve(random: Random, tableCount: number): Promise<RuledProject> {
    const tables = randomTables(random, tableCount);
    const server = await serve({ schema: schemaText(tables), config: configText(tables) });
    const callers = [anonymous, ...(await makeUsers(server)), await makeKey(server)];
    const users = usersOf(callers);
    const people = users.map(({ id }) => id);
    const rows = new Map<string, readonly Row[]>([["$users", users]]);
    rows.set("members", membersOf(random, people));
    rows.set("links", lookupRows(random, people, "links", 4));
    for (const { name } of tables)
      rows.set(
        name,
        random.times(7, (i) => randomRow(random, i + 1, people)),
      );
    for (const [name, list] of rows) if (name !== "$users") await insertRows(server.database, name, list);
    return new RuledProject(server, tables, callers, people, rows);
  }

  get nowSeconds(): bigint {
    return BigInt(Math.floor(this.server.clock.now() / 1000));
  }

  rowsOf(table: RuledTable): readonly Row[] {
    return this.rows.get(table.name)!;
  }

  /** Whether a rule admits the caller to these rows; a key is always admitted. */
  admits(rule: Expression, { auth }: Caller, rows: World["rows"]): boolean {
    return auth === null || admits(rule, this.worldOf({ auth }, rows));
  }

  /** What a rule sees for a caller: these rows, and all others. */
  worldOf({ auth }: Pick<Caller, "auth">, rows: World["rows"]): World {
    return { rows, auth: auth!, nowSeconds: this.nowSeconds, tables: this.rows };
  }

  /** The status before any row is looked at; null where rows decide. */
  early(table: RuledTable, action: Action, { auth }: Caller): 401 | 403 | null {
    return auth === null ? null : earlyRefusal(table.rules[action], auth, this.nowSeconds);
  }

  allows(table: RuledTable, right: "read" | "write", caller: Caller, column: string): boolean {
    const rules = table.columnRules.get(column);
    return rules === undefined || this.admits(rules[right], caller, {});
  }

  /** A row as the caller may see it. */
  shown(table: RuledTable, caller: Caller, row: Row): Record<string, unknown> {
    const readable = columns.filter((column) => this.allows(table, "read", caller, column));
    return Object.fromEntries(readable.map((column) => [column, toWire(shape[column], row[column]!)]));
  }

  /** A write took place: the model follows. */
  replace(table: RuledTable, id: Value, row: Row | null): void {
    const others = this.rowsOf(table).filter((each) => each.id !== id);
    const all = row === null ? others : [...others, row];
    this.rows.set(
      table.name,
      all.sort((a, b) => Number(a.id) - Number(b.id)),
    );
  }

  /** Whether the database holds what the model holds. */
  async isAsModelled(table: RuledTable): Promise<boolean> {
    const list = columns.map((column) => `CAST(${column} AS TEXT)`).join(", ");
    const [result] = await this.server.database.query([
      { sql: `SELECT ${list} FROM ${table.name} ORDER BY id`, params: [] },
    ]);
    const modelled = this.rowsOf(table).map((row) => columns.map((column) => asText(column, row[column]!)));
    return isDeepStrictEqual(result!.rows, modelled);
  }
}

function asText(column: keyof typeof shape, value: Value): string | null {
  if (value === null) return null;
  if (typeof value === "boolean") return String(Number(value));
  return shape[column] === "real" && Number.isInteger(value) ? `${value}.0` : String(value);
}

/** At most one for each key, and no NULL in it. */
function membersOf(random: Random, people: readonly string[]): readonly Row[] {
  const keys = ["g1", "g2", "a"].flatMap((grp) => people.map((user_id) => ({ grp, user_id })));
  return random.some(keys, 6).map((key) => ({
    ...key,
    level: randomValue(random, "level", people),
    active: randomValue(random, "active", people),
  }));
}

function lookupRows(
  random: Random,
  people: readonly string[],
  table: keyof typeof lookups,
  count: number,
): readonly Row[] {
  const names = Object.keys(lookups[table]);
  return random.times(count, () => Object.fromEntries(names.map((name) => [name, randomValue(random, name, people)])));
}
