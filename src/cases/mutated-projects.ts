import { dottedPath } from "../problems/dotted-path.js";
import { configFile, schemaFile } from "../project/file-names.js";
import type { Schema } from "../project/model.js";
import { operationPath } from "../project/parse-operations.js";
import type { ColumnRulesSource, TableRulesSource } from "../project/parse-rules.js";
import { placeInFile } from "../project/place-in-file.js";
import { rowShapes } from "../project/rule-scope.js";
import { areAlike, type KnownTables, type RuleAbout } from "../rules/alike.js";
import type { Expression, TableRules } from "../rules/ast.js";
import { defineConditions } from "../rules/define-conditions.js";
import { type Mutant, mutantsOf } from "../rules/mutants.js";
import type { Conditions } from "../rules/named-condition.js";
import { offsetIn } from "../rules/position.js";
import { conditionPath } from "../rules/write-out.js";
import { fitRules } from "../schema/fit-rules.js";
import type { LiveProject, ServedRules } from "../schema/live-project.js";

/** A project with one changed term in one of its rules. */
export interface MutatedProject {
  readonly change: Mutant["change"];
  /** The rule or condition, such as `rules.orders.read`, and the term as it is written. */
  readonly rule: string;
  readonly term: string;
  /** Where the term begins. `line` and `column` are null where the place is not known. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The table or the operation whose requests may notice; null for a condition, which any rule may use. */
  readonly about: { readonly table: string } | { readonly operation: string } | null;
  readonly project: LiveProject;
}

/** A text of a rule, and how the project is made with another one in its place. */
interface RuleText {
  readonly path: string;
  readonly file: string;
  readonly text: string;
  readonly parameters: readonly string[] | null;
  readonly about: MutatedProject["about"];
  readonly replaced: (text: string) => { readonly source: ServedRules; readonly schema: Schema };
}

/**
 * The mutants of these kinds of every rule, named condition and `allow` of an operation. Those with a rule that does not
 * fit its table are left out.
 */
export function* mutatedProjects(live: LiveProject, changes: ReadonlySet<Mutant["change"]>): Iterable<MutatedProject> {
  const { conditions } = defineConditions(live.source.conditions, rowShapes(live.schema));
  for (const text of textsOf(live, conditions)) {
    for (const mutant of mutantsOf(text.text, conditions, text.parameters)) {
      if (!changes.has(mutant.change)) continue;
      const { source, schema } = text.replaced(mutant.text);
      const project = projectWith(live, source, schema);
      if (project !== null) yield { ...placeOf(text, mutant, live), change: mutant.change, about: text.about, project };
    }
  }
}

function* textsOf({ source, schema }: LiveProject, conditions: Conditions): Iterable<RuleText> {
  const isHere = (name: string) => schema.tables.has(name);
  for (const [table, its] of source.rules) {
    if (!isHere(table)) continue;
    const ofTable = (rules: TableRulesSource) => ({
      source: { ...source, rules: new Map([...source.rules, [table, rules]]) },
      schema,
    });
    const common = { file: configFile, parameters: null, about: { table } } as const;
    for (const action of ["read", "create", "update", "delete", "history"] as const) {
      const text = its[action];
      if (text === undefined) continue;
      const path = dottedPath(["rules", table, action]);
      yield { ...common, path, text, replaced: (by) => ofTable({ ...its, [action]: by }) };
    }
    for (const [column, rules] of its.columns ?? []) {
      for (const right of ["read", "write"] as const) {
        const text = rules[right];
        if (text === undefined) continue;
        const path = dottedPath(["rules", table, "columns", column, right]);
        const columns = (changed: ColumnRulesSource) => new Map([...its.columns!, [column, changed]]);
        yield {
          ...common,
          path,
          text,
          replaced: (by) => ofTable({ ...its, columns: columns({ ...rules, [right]: by }) }),
        };
      }
    }
  }
  for (const { key, parameters } of conditions.values()) {
    const text = source.conditions.get(key);
    if (text === undefined || text === null) continue;
    yield {
      path: conditionPath(key),
      file: configFile,
      text,
      parameters,
      about: null,
      replaced: (by) => ({ source: { ...source, conditions: new Map([...source.conditions, [key, by]]) }, schema }),
    };
  }
  for (const [name, operation] of schema.operations) {
    if (operation.allow === null) continue;
    yield {
      path: operationPath(name, "allow"),
      file: schemaFile,
      text: operation.allow,
      parameters: null,
      about: { operation: name },
      replaced: (by) => ({
        source,
        schema: { ...schema, operations: new Map([...schema.operations, [name, { ...operation, allow: by }]]) },
      }),
    };
  }
}

/** The project with other rules, or with other rules of its operations; null where they do not fit. */
export function projectWith(live: LiveProject, source: ServedRules, schema: Schema): LiveProject | null {
  const { rules, operations, problems } = fitRules(source, { ...live, schema });
  if (problems.length > 0) return null;
  const called = [...live.operations].map(
    ([name, each]) =>
      [name, { ...each, operation: schema.operations.get(name)!, rules: operations.get(name)! }] as const,
  );
  return { ...live, source, schema, rules, operations: new Map(called) };
}

function placeOf(
  { path, file, text }: RuleText,
  { extent }: Mutant,
  { source }: LiveProject,
): Pick<MutatedProject, "rule" | "term" | "file" | "line" | "column"> {
  const from = offsetIn(text, extent.from);
  const term = text.slice(from, offsetIn(text, extent.to)).replace(/\s+/g, " ");
  const runs = file === configFile ? source.places.get(path) : undefined;
  const place = runs === undefined ? { line: null, column: null } : placeInFile(runs, from);
  return { rule: path, term, file, ...place };
}

/** Whether a mutated project admits the same as the project, as far as samples can tell (`areAlike`). */
export function isEquivalent({ project: mutated }: Pick<MutatedProject, "project">, live: LiveProject): boolean {
  const tables: KnownTables = (table) => live.schema.tables.get(table);
  const pairs: [Expression, Expression, RuleAbout][] = [];
  for (const [table, rules] of live.rules) {
    const others = mutated.rules.get(table)!;
    for (const action of ["read", "create", "update", "delete"] as const)
      pairs.push([rules[action], others[action], { table, kind: action }]);
    // A version is shown where both rules admit it.
    const ofHistory = ({ read, history }: TableRules) => all(read, history);
    pairs.push([ofHistory(rules), ofHistory(others), { table, kind: "history" }]);
    for (const [column, { read, write }] of rules.columns) {
      const other = others.columns.get(column)!;
      // The rule of a column is asked for rows alone that the rules of the table admit.
      if (!isSame(read, other.read))
        pairs.push([all(rules.read, read), all(others.read, other.read), { table, kind: "read" }]);
      if (write === null || other.write === null || isSame(write, other.write)) continue;
      for (const kind of ["create", "update"] as const)
        pairs.push([all(rules[kind], write), all(others[kind], other.write), { table, kind }]);
    }
  }
  for (const [name, { rules }] of live.operations)
    pairs.push([rules.allow, mutated.operations.get(name)!.rules.allow, { table: null, kind: "operation" }]);
  return pairs.every(([one, other, about]) => isSame(one, other) || areAlike(one, other, about, tables));
}

function all(...terms: readonly Expression[]): Expression {
  return { kind: "and", terms };
}

function isSame(one: Expression, other: Expression): boolean {
  const text = (rule: Expression) =>
    JSON.stringify(rule, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  return text(one) === text(other);
}
