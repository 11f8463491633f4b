import { type Database, NotSetUpError, type Result, type Statement, StatementError } from "../platform/database.js";
import type { Problem } from "../problems/problem.js";
import { schemaFile } from "../project/file-names.js";
import type { OperationStep, Schema } from "../project/model.js";
import { givenParameters, operationPath } from "../project/parse-operations.js";
import { boundSql } from "../sqlite/bound-sql.js";
import { mayTakeLong } from "../sqlite/bounded-expressions.js";
import { proveSql } from "../sqlite/proof.js";
import { quoteName, tokenize } from "../sqlite/sql-tokens.js";

/** What an EXPLAIN of its steps has shown about one operation. */
export interface ProvedOperation {
  /** Why the operation must not run. */
  readonly problems: readonly Problem[];
  /**
   * Whether no step itself loops over rows, so that the operation takes no longer in large tables than in small ones, and
   * none calls a function that may take long for a single value. Triggers that it fires are not looked at.
   */
  readonly isShort: boolean;
}

/**
 * Asks the database by EXPLAIN which tables each step of the schema's operations opens. A step may open only tables
 * that it names and, if it writes, the tables that triggers and foreign keys lead to from there. The step's text, which
 * `proveSql` has checked without a database, is checked again here, because it must not name tables and views of this
 * database that the schema does not declare.
 */
export async function proveOperations(
  database: Database,
  schema: Pick<Schema, "operations" | "tables">,
): Promise<ReadonlyMap<string, ProvedOperation>> {
  const steps = stepsOf(schema);
  if (steps.length === 0) return new Map();
  const objects = await loadObjects(database);
  const named = nameProblems(schema, [...objects.tables.keys(), ...objects.views]);
  const proofs = await explained(database, steps, objects);
  return new Map(
    [...schema.operations.keys()].map((operation) => {
      const own = steps.flatMap(({ path, step }, index) => {
        const proof = proofs[index]!;
        if (!isWithin(path, operation)) return [];
        const messages =
          typeof proof === "string" ? [`the database refuses it: ${proof}`] : openingProblems(step, proof, objects);
        const problems = messages.map((message) => ({ file: schemaFile, path, message }));
        return [
          { problems, isShort: typeof proof !== "string" && !proof.loops && !mayTakeLong(step.statement.tokens) },
        ];
      });
      const problems = [
        ...named.filter(({ path }) => isWithin(path, operation)),
        ...own.flatMap((step) => step.problems),
      ];
      return [operation, { problems, isShort: own.every(({ isShort }) => isShort) }];
    }),
  );
}

function isWithin(path: string, operation: string): boolean {
  return path.startsWith(`${operationPath(operation)}.`);
}

/**
 * The problems of steps that name one of `names` (tables and views of the database) which the schema does not declare.
 */
export function nameProblems(
  schema: Pick<Schema, "operations" | "tables">,
  names: Iterable<string>,
): readonly Problem[] {
  const tables = new Set([...schema.tables.keys()].map((name) => name.toLowerCase()));
  const others = new Set([...names].map((name) => name.toLowerCase()).filter((name) => !tables.has(name)));
  return stepsOf(schema).flatMap(({ path, step, parameters }) =>
    (proveSql(step.statement.sql, { tables, others, parameters }).problems ?? []).map(({ message }) => ({
      file: schemaFile,
      path,
      message,
    })),
  );
}

function stepsOf({ operations }: Pick<Schema, "operations">): readonly NamedStep[] {
  return [...operations.values()].flatMap(({ name, params, steps }) =>
    steps.map((step, index) => ({
      step,
      path: operationPath(name, "steps", String(index), "sql"),
      parameters: new Set([...params.keys(), ...givenParameters.keys()]),
    })),
  );
}

interface NamedStep {
  readonly path: string;
  readonly step: OperationStep;
  readonly parameters: ReadonlySet<string>;
}

/** What has to be known of a database's tables to judge steps. All names are in lower case. */
interface Objects {
  /** A short text that changes when the schema of the database changes. */
  readonly tag: string;
  /**
   * For each table the root pages of the table and its indexes: the pages of the database file at which they begin.
   * EXPLAIN shows a table as its root page.
   */
  readonly tables: ReadonlyMap<string, readonly number[]>;
  readonly views: ReadonlySet<string>;
  readonly virtual: readonly string[];
  /**
   * For each table the tables that a write of it may open besides: those that its triggers mention, those that it
   * refers to by foreign keys, and those that refer to it.
   */
  readonly leadsTo: ReadonlyMap<string, ReadonlySet<string>>;
}

async function loadObjects(database: Database): Promise<Objects> {
  const [master, keys] = await database.query(
    [
      "SELECT lower(type) AS type, lower(name) AS name, lower(tbl_name) AS tbl, rootpage, sql FROM sqlite_master",
      String.raw`SELECT lower(m.name) AS child, lower(f."table") AS parent FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND m.name NOT LIKE '\_cf\_%' ESCAPE '\' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`,
    ].map((sql) => ({ sql, params: [] })),
  );
  const rows = master!.rows as readonly (readonly [string, string, string, number | null, string | null])[];
  const pages = new Map<string, number[]>();
  for (const [type, , table, page] of rows)
    if (type === "table" || type === "index") pages.set(table, [...(pages.get(table) ?? []), page ?? 0]);
  const leadsTo = new Map<string, Set<string>>();
  const lead = (from: string, to: string) => leadsTo.set(from, (leadsTo.get(from) ?? new Set()).add(to));
  for (const [child, parent] of keys!.rows as readonly (readonly [string, string])[]) {
    lead(child, parent);
    lead(parent, child);
  }
  for (const [type, , table, , sql] of rows)
    if (type === "trigger")
      for (const { value } of tokenize(sql ?? "")) if (pages.has(value.toLowerCase())) lead(table, value.toLowerCase());
  const virtual = rows.flatMap(([type, name, , , sql]) =>
    type === "table" && /^create virtual/i.test(sql ?? "") ? [name] : [],
  );
  const views = rows.flatMap(([type, name]) => (type === "view" ? [name] : []));
  return { tag: tagOf(JSON.stringify(rows)), tables: pages, views: new Set(views), virtual, leadsTo };
}

/** FNV-1a of 32 bits, in digits. Different texts most probably have different hashes. */
function tagOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return String(hash);
}

/** What EXPLAIN shows of a statement: it lists the instructions that SQLite's virtual machine runs. */
interface StatementProgram {
  /** The root pages of the tables and indexes that the statement opens. */
  readonly pages: readonly number[];
  /** The virtual tables and table functions that the statement opens; `unknown` for a name that is not known. */
  readonly virtual: readonly string[];
  readonly writes: boolean;
  /** Whether the statement itself loops over rows. Loops in triggers that it fires are not looked at. */
  readonly loops: boolean;
  /** Whether the statement opens tables of a database other than the main one, such as temporary tables. */
  readonly elsewhere: boolean;
}

const tableFunctions = ["json_each", "json_tree"];

/** The database's error message stands for a step that cannot be compiled. */
async function explained(
  database: Database,
  steps: readonly NamedStep[],
  { virtual, tag }: Pick<Objects, "virtual" | "tag">,
): Promise<readonly (StatementProgram | string)[]> {
  const modules = [...tableFunctions, ...virtual];
  // EXPLAIN shows a virtual table only as an address in memory. So a read of each virtual table is explained too, on
  // the same connection, to learn whose address is whose.
  const known = modules.map((name) => explain(`SELECT 1 FROM ${quoteName(name)}`, tag));
  const read = (results: readonly Result[]): readonly StatementProgram[] => {
    const addresses = new Map(modules.map((name, index) => [addressesIn(results[index]!)[0] ?? "", name]));
    return results.slice(modules.length).map((result) => explanationOf(result, addresses));
  };
  const statements = steps.map((step) => explainStep(step, tag));
  const ask = async (asked: readonly Statement[]) => {
    try {
      return read(await database.query([...known, ...asked]));
    } catch (error) {
      // A NotSetUpError is an error of the step, too: it may name a table that does not exist and whose name looks like
      // one of the server's own tables.
      if (error instanceof StatementError || error instanceof NotSetUpError) return error.message;
      throw error;
    }
  };
  const all = await ask(statements);
  if (typeof all !== "string") return all;
  const each: (StatementProgram | string)[] = [];
  for (const statement of statements) {
    const answer = await ask([statement]);
    each.push(typeof answer === "string" ? answer : answer[0]!);
  }
  return each;
}

function explainStep({ step }: NamedStep, schemaTag: string): Statement {
  const { text, parameters } = boundSql(step.statement);
  return explain(text, schemaTag, parameters.length);
}

/**
 * The comment changes with the database's schema. D1 keeps compiled statements by their text, and does not compile an
 * EXPLAIN anew after a change of the schema, because an EXPLAIN is not run.
 */
function explain(sql: string, schemaTag: string, parameters = 0): Statement {
  return { sql: `EXPLAIN /* ${schemaTag} */ ${sql}`, params: Array.from({ length: parameters }, () => null) };
}

function addressesIn({ rows }: Result): readonly string[] {
  return rows.flatMap(([, opcode, , , , p4]) => (opcode === "VOpen" ? [String(p4)] : []));
}

const opening = ["OpenRead", "OpenWrite", "ReopenIdx"];
const walking = ["Next", "Prev", "VNext", "SorterNext"];

function explanationOf(result: Result, addresses: ReadonlyMap<string, string>): StatementProgram {
  const rows = result.rows.map(([, opcode, p1, p2, p3]) => ({
    opcode: String(opcode),
    p1,
    p2: Number(p2),
    p3,
  }));
  const opened = rows.filter(({ opcode }) => opening.includes(opcode));
  const cleared = rows.filter(({ opcode }) => opcode === "Clear");
  const transactions = rows.filter(({ opcode }) => opcode === "Transaction");
  return {
    pages: [...opened.map(({ p2 }) => p2), ...cleared.map(({ p1 }) => Number(p1))],
    virtual: addressesIn(result).map((address) => addresses.get(address) ?? "unknown"),
    writes: transactions.some(({ p2 }) => p2 > 0),
    loops: hasLoop(mainProgram(result)),
    elsewhere:
      opened.some(({ p3 }) => p3 !== 0) ||
      cleared.some(({ p2 }) => p2 !== 0) ||
      transactions.some(({ p1 }) => p1 !== 0),
  };
}

/**
 * Whether the instructions contain a loop: a step to the next row, or a jump back, as a recursive query has it. The
 * jump to the address 1 is none, because every program begins with it. A walk over a table that the statement itself
 * has filled, such as the rows of a RETURNING, does not count either, nor one over the rows of a subquery that yields
 * them one after the other: to make many such rows takes another loop.
 */
function hasLoop(program: Result["rows"]): boolean {
  const yielding = new Set(program.flatMap(([address, opcode]) => (opcode === "Yield" ? [Number(address)] : [])));
  const own = new Set(program.flatMap(([, opcode, cursor]) => (opcode === "OpenEphemeral" ? [cursor] : [])));
  return program.some(([address, opcode, cursor, p2]) => {
    if (walking.includes(String(opcode))) return !own.has(cursor!);
    return opcode === "Goto" && Number(p2) > 1 && Number(p2) <= Number(address) && !yielding.has(Number(p2));
  });
}

/**
 * In the result of EXPLAIN the instructions of the statement itself come first. Those of the triggers that it fires
 * follow, numbered from 0 again for each trigger.
 */
function mainProgram({ rows }: Result): Result["rows"] {
  const next = rows.findIndex(([address], index) => index > 0 && Number(address) === 0);
  return next === -1 ? rows : rows.slice(0, next);
}

/** What a step would open or do, and must not. */
function openingProblems({ statement }: OperationStep, proof: StatementProgram, objects: Objects): readonly string[] {
  const { kind, tables, tableFunctions: used } = statement;
  const writes = kind !== "select";
  const reached = writes ? reachedFrom(tables, objects) : tables;
  const allowed = new Set([...reached].flatMap((name) => objects.tables.get(name) ?? []));
  // In `sqlite_sequence` SQLite keeps the numbers of AUTOINCREMENT.
  if (writes) for (const page of objects.tables.get("sqlite_sequence") ?? []) allowed.add(page);
  const names = new Map([...objects.tables].flatMap(([name, pages]) => pages.map((page) => [page, name] as const)));
  const opened = proof.pages.filter((page) => !allowed.has(page)).map((page) => names.get(page) ?? `page ${page}`);
  const virtual = proof.virtual.filter((name) => !used.has(name) && !reached.has(name));
  return [
    ...[...new Set([...opened, ...virtual])].map((name) => `it would open ${name}, which it does not name`),
    ...(proof.writes && !writes ? ["it would write, although it is a SELECT"] : []),
    ...(proof.elsewhere ? ["it would open another database"] : []),
  ];
}

/** The tables that a write of one of `tables` may open, these included. */
function reachedFrom(tables: ReadonlySet<string>, { leadsTo }: Objects): ReadonlySet<string> {
  const reached = new Set(tables);
  // Iterating over a set also visits what is added to it meanwhile.
  for (const name of reached) for (const next of leadsTo.get(name) ?? []) reached.add(next);
  return reached;
}

/**
 * An EXPLAIN for every step of the schema's operations, to be sent after the statements of a schema change, in the same
 * transaction. If a step does not fit the changed tables, its EXPLAIN fails, and the schema change with it. `schemaTag`
 * (letters and digits) is a text that changes with the schema.
 */
export function stepExplanations(schema: Pick<Schema, "operations">, schemaTag: string): readonly Statement[] {
  return stepsOf(schema).map((step) => explainStep(step, schemaTag));
}
