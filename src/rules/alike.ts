import type { ColumnType } from "../sqlite/column-type.js";
import type { AuthValues, Exists, Expression, Literal, Operand } from "./ast.js";
import { isTrue, whenTrue } from "./fold.js";
import type { RuleKind } from "./scope.js";
import { leavesOf, mapOperands, operandsOf } from "./walk.js";

/** What is known of a table for `areAlike`; undefined for `$users`. */
export type KnownTables = (table: string) => KnownTable | undefined;

/** What the rules are for. The rule of an operation has no table. */
export interface RuleAbout {
  readonly table: string | null;
  readonly kind: RuleKind | "operation";
}

interface KnownTable {
  readonly columns: ReadonlyMap<string, { readonly type: ColumnType; readonly notNull: boolean }>;
  readonly primaryKey: readonly string[];
}

/** How many times both rules are evaluated. Nested `exists` are seldom TRUE for random rows. */
const samplesMax = 20_000;

/**
 * Whether two rules of a table admit the same, as far as evaluating both many times can tell: with random rows and
 * callers, whose values are few, so that they often equal each other and what the rules compare with.
 */
export function areAlike(one: Expression, other: Expression, about: RuleAbout, tables: KnownTables): boolean {
  const compared = comparedIn([one, other]);
  const random = randomFrom(1);
  for (let sample = 0; sample < samplesMax; sample++) {
    const world = new World(about, tables, compared, random);
    if (world.admits(one) !== world.admits(other)) return false;
  }
  return true;
}

type Value = Literal["value"];

/** By the name of a column, or such as `auth.email`: the constants that the rules compare it with, and their neighbours. */
type Compared = ReadonlyMap<string, ReadonlySet<Value>>;

function comparedIn(rules: readonly Expression[]): Compared {
  const found = new Map<string, Set<Value>>();
  for (const leaf of rules.flatMap(leavesOf)) {
    const operands: readonly Operand[] = operandsOf(leaf);
    const constants = operands.flatMap((operand) => constantsOf(operand));
    for (const operand of operands) {
      const name = nameOf(operand);
      if (name !== null) found.set(name, new Set([...(found.get(name) ?? []), ...constants]));
    }
  }
  return found;
}

function nameOf(operand: Operand): string | null {
  if (operand.kind === "auth") return `auth.${operand.field}`;
  return operand.kind === "column" ? operand.column : null;
}

function constantsOf(operand: Operand): readonly Value[] {
  if (operand.kind === "now") return [now - 1n, now, now + 1n];
  if (operand.kind !== "literal") return [];
  const { value } = operand;
  if (typeof value === "bigint") return [value - 1n, value, value + 1n];
  if (typeof value === "number") return [value - 1, value, value + 1];
  // In the order of texts, the empty one is before all others, and one that goes on is after what it begins with.
  return typeof value === "string" ? [value, value, value, "", `${value}0`] : [value];
}

const now = 1_000_000n;
const roles: readonly Value[] = ["user", "admin"];

/** A row of a sample, by whose id its values are kept. `table` is null for the parameters of an operation. */
interface SampleRow {
  readonly id: string;
  readonly table: string | null;
}

/** Random rows, a caller and the sizes of tables: each is chosen when it is first asked for. */
class World {
  readonly #values = new Map<string, Value>();

  constructor(
    private readonly about: RuleAbout,
    private readonly tables: KnownTables,
    private readonly compared: Compared,
    private readonly random: () => number,
  ) {}

  /** The rule of an update has to hold with `row` as the row before the change, and as the one after it. */
  admits(rule: Expression): boolean {
    const { table, kind } = this.about;
    const old: SampleRow = { id: `${table} 0`, table };
    const changed: SampleRow = { id: "new", table };
    return (kind === "update" ? [old, changed] : [old]).every((row) => {
      const rows = new Map([
        ["old", old],
        ["new", changed],
        ["row", row],
      ]);
      return isTrue(whenTrue(this.#decided(rule, rows)));
    });
  }

  /** The rule with a value for each of its operands. `rows` are those that its names stand for. */
  #decided(rule: Expression, rows: ReadonlyMap<string, SampleRow>): Expression {
    const again = (inner: Expression) => this.#decided(inner, rows);
    switch (rule.kind) {
      case "and":
      case "or":
        return { ...rule, terms: rule.terms.map(again) };
      case "not":
        return { ...rule, term: again(rule.term) };
      case "exists":
        return { kind: "literal", value: this.#finds(rule, rows) };
      default:
        return mapOperands(rule, (operand) => this.#operand(operand, rows));
    }
  }

  #finds({ table, alias, where }: Exists, rows: ReadonlyMap<string, SampleRow>): boolean {
    // The row of the rule is among those of its table.
    const least = table === this.about.table && this.about.kind !== "create" ? 1n : 0n;
    const count = Number(this.#chosen(`rows of ${table}`, [1n, 1n, 2n, 2n, least]));
    return Array.from({ length: count }, (_, i): SampleRow => ({ id: `${table} ${i}`, table })).some((row) =>
      isTrue(whenTrue(this.#decided(where, new Map([...rows, [alias, row]])))),
    );
  }

  #operand(operand: Operand, rows: ReadonlyMap<string, SampleRow>): Operand {
    switch (operand.kind) {
      case "literal":
      case "given":
        return operand;
      case "now":
        return { kind: "literal", value: now };
      case "auth":
        return { kind: "literal", value: this.#ofCaller(operand.field) };
      case "column": {
        const name = typeof operand.source === "string" ? operand.source : operand.source.alias;
        const row = rows.get(name) ?? { id: name, table: null };
        return { kind: "literal", value: this.#ofRow(row, operand.column) };
      }
    }
  }

  #ofCaller(field: keyof AuthValues): Value {
    if (this.#chosen("the caller is anonymous", [true, ...Array<boolean>(7).fill(false)]) === true) return null;
    if (field === "role") return this.#chosen("auth.role", roles);
    const name = `auth.${field}`;
    return this.#chosen(name, this.#poolOf(name, field === "email_verified" ? "boolean" : "text"));
  }

  #ofRow({ id, table }: SampleRow, name: string): Value {
    const known = table === null ? undefined : this.tables(table);
    const column = known?.columns.get(name);
    const pool = this.#poolOf(name, column?.type ?? "text");
    // No two rows of a table have the same key.
    const [, number] = / (\d)$/.exec(id) ?? [];
    if (number !== undefined && known?.primaryKey.join() === name) return [...new Set(pool)].at(Number(number)) ?? null;
    return this.#chosen(`${id}.${name}`, column?.notNull ? pool : [null, ...pool, ...pool, ...pool]);
  }

  /** A column that is compared with other columns has nearly always the same value, or nothing would be found by it. */
  #poolOf(name: string, type: ColumnType): readonly Value[] {
    if (type === "boolean") return [true, false];
    const [same, different] = type === "integer" || type === "real" ? [1n, 2n] : ["a", "b"];
    const constants = [...(this.compared.get(name) ?? [])].filter((value) => value !== null);
    return constants.length > 0 ? [...constants, ...constants, different] : [same, same, same, different];
  }

  #chosen(name: string, pool: readonly Value[]): Value {
    if (!this.#values.has(name)) this.#values.set(name, pool[Math.floor(this.random() * pool.length)]!);
    return this.#values.get(name)!;
  }
}

/** Numbers from 0 up to 1 that are the same at each run (Mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
