import type { ColumnType } from "../sqlite/column-type.js";
import type { AuthValues, Exists, Expression, Literal, Operand } from "./ast.js";
import { isTrue, whenTrue } from "./fold.js";
import { leavesOf, mapOperands, operandsOf } from "./walk.js";

/** What is known of the columns of a table, or of `$users`, for `areAlike`. */
export type ColumnsOf = (table: string) => ReadonlyMap<string, KnownColumn> | undefined;

interface KnownColumn {
  readonly type: ColumnType;
  readonly notNull: boolean;
}

/** How many times both rules are evaluated. */
const samplesMax = 2_000;

/**
 * Whether two rules of a table admit the same, as far as evaluating both many times can tell: with random rows and
 * callers, whose values are few, so that they often equal each other and what the rules compare with. `table` is null
 * for the rule of an operation.
 */
export function areAlike(one: Expression, other: Expression, table: string | null, columnsOf: ColumnsOf): boolean {
  const pools = poolsOf([one, other]);
  const random = randomFrom(1);
  for (let sample = 0; sample < samplesMax; sample++) {
    const world = new World(table, columnsOf, pools, random);
    if (world.admits(one) !== world.admits(other)) return false;
  }
  return true;
}

type Value = Literal["value"];
type Pools = Readonly<Record<"text" | "number" | "boolean", readonly Value[]>>;

/** The values that columns and callers may have: those that the rules name, with their neighbours, and two others. */
function poolsOf(rules: readonly Expression[]): Pools {
  const operands: readonly Operand[] = rules.flatMap(leavesOf).flatMap(operandsOf);
  const literals = operands.flatMap((operand) => (operand.kind === "literal" ? [operand.value] : []));
  const texts = literals.filter((value) => typeof value === "string");
  const around = literals.flatMap((value): Value[] => {
    if (typeof value === "bigint") return [value - 1n, value, value + 1n];
    return typeof value === "number" ? [value - 1, value, value + 1] : [];
  });
  return {
    text: [...new Set(["a", "b", ...texts])],
    number: [...new Set<Value>([now - 1n, now, now + 1n, 1n, 2n, ...around])],
    boolean: [true, false],
  };
}

const now = 1_000_000n;

/** A row of a sample, by whose id its values are kept. `table` is null for the parameters of an operation. */
interface SampleRow {
  readonly id: string;
  readonly table: string | null;
}

/** Random rows, a caller and the sizes of tables: each is chosen when it is first asked for. */
class World {
  readonly #values = new Map<string, Value>();

  constructor(
    private readonly table: string | null,
    private readonly columnsOf: ColumnsOf,
    private readonly pools: Pools,
    private readonly random: () => number,
  ) {}

  /** The rule of an update has to hold with `row` as the row before the change, and as the one after it. */
  admits(rule: Expression): boolean {
    const [old, changed] = ["old", "new"].map((id): SampleRow => ({ id, table: this.table }));
    return [old!, changed!].every((row) => {
      const rows = new Map([
        ["old", old!],
        ["new", changed!],
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
    const count = Number(this.#chosen(`rows of ${table}`, [0n, 1n, 2n]));
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
    if (this.#chosen("the caller is anonymous", [true, false, false, false]) === true) return null;
    return this.#chosen(`auth.${field}`, field === "email_verified" ? this.pools.boolean : this.pools.text);
  }

  #ofRow({ id, table }: SampleRow, name: string): Value {
    const column = table === null ? undefined : this.columnsOf(table)?.get(name);
    const pool = this.#poolOf(column?.type);
    return this.#chosen(`${id}.${name}`, column?.notNull ? pool : [null, ...pool]);
  }

  #poolOf(type: ColumnType | undefined): readonly Value[] {
    const { text, number, boolean } = this.pools;
    if (type === undefined) return [...text, ...number];
    return type === "integer" || type === "real" ? number : type === "boolean" ? boolean : text;
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
