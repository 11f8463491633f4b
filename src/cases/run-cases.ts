import { explain } from "../explain/explain.js";
import { parseExplainRequest } from "../explain/explain-request.js";
import type { ExplainServices } from "../explain/explained-call.js";
import { ruleLines } from "../explain/text.js";
import { isRefusal } from "../http/refusal.js";
import type { Problem } from "../problems/problem.js";
import { shown } from "../problems/problem.js";
import type { LiveProject } from "../schema/live-project.js";
import type { Case, CaseFile, Deed, Expected } from "./case-file.js";
import { columnsOfKey, keyProblem } from "./case-request.js";
import type { CaseServer } from "./case-server.js";
import { isEquivalent, type MutatedProject, mutatedProjects } from "./mutated-projects.js";
import { runCase } from "./run-case.js";

/** A file of tests, and the server with its fixtures on which its cases run. */
export interface Bench {
  readonly file: CaseFile;
  readonly server: CaseServer;
  readonly explaining: ExplainServices;
  /** Runs `work`, and undoes what it has written. */
  readonly trial: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What is wrong with cases whatever the rules say: tables, operations and keys that there are not. */
export function caseProblems({ file, cases, rows }: CaseFile, { schema }: LiveProject): readonly Problem[] {
  const problem = (line: number, message: string): Problem => ({ file, line, path: "", message });
  const unknown = rows.find(({ table }) => !schema.tables.has(table));
  return [
    ...(unknown === undefined ? [] : [problem(unknown.at.line, `there is no table ${shown(unknown.table)}`)]),
    ...cases.flatMap(({ at, deed, expected }) => {
      const message = deedProblem(deed, { schema }) ?? keysProblem(deed, expected, { schema });
      return message === null ? [] : [problem(at.line, message)];
    }),
  ];
}

function deedProblem(deed: Deed, { schema }: Pick<LiveProject, "schema">): string | null {
  if (deed.kind === "op")
    return schema.operations.has(deed.operation) ? null : `there is no operation ${shown(deed.operation)}`;
  const table = schema.tables.get(deed.table);
  if (table === undefined) return `there is no table ${shown(deed.table)}`;
  return "key" in deed && deed.key !== null ? keyProblem(table, deed.key) : null;
}

function keysProblem(deed: Deed, expected: Expected, { schema }: Pick<LiveProject, "schema">): string | null {
  if (expected.kind !== "sees" || deed.kind === "op") return null;
  const table = schema.tables.get(deed.table)!;
  return expected.keys.map((key) => keyProblem(table, key)).find((message) => message !== null) ?? null;
}

/** A case of which something else has come than it expects. */
export interface Failure {
  readonly failed: Case;
  /** What has come of it. */
  readonly found: string;
  /** The rule that decides, with what each of its terms says. */
  readonly why: readonly string[];
}

/** Runs all cases of a file. Each begins with the fixtures. */
export async function failuresOf({ file, server, explaining, trial }: Bench): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const each of file.cases) {
    const found = await trial(() => runCase(server, each));
    if (found === null) continue;
    failures.push({ failed: each, found: found.words, why: found.isByRules ? await why(each, explaining) : [] });
  }
  return failures;
}

async function why({ as, deed }: Case, services: ExplainServices): Promise<readonly string[]> {
  if (deed.kind === "op") {
    const { allow } = services.project.schema.operations.get(deed.operation)!;
    return [`$operations.${deed.operation}.allow`, `  ${allow ?? "deny"}`];
  }
  const question = parseExplainRequest(explainBody(as, deed, services.project));
  const explanation = isRefusal(question) ? question : await explain(question, services);
  return isRefusal(explanation) ? [] : ruleLines(explanation);
}

function explainBody(as: string | null, deed: Exclude<Deed, { kind: "op" }>, { schema }: LiveProject) {
  const { kind } = deed;
  const table = schema.tables.get(deed.table)!;
  return {
    as: as === null ? { anonymous: true } : { user: as },
    action: kind === "list" ? "read" : kind,
    table: deed.table,
    ...("key" in deed && deed.key !== null && { key: Object.fromEntries(columnsOfKey(table, deed.key)) }),
    ...(kind === "create" && { values: deed.values }),
    ...(kind === "update" && { values: deed.set }),
    ...(kind === "list" && { query: withoutExpand(deed.query) }),
  };
}

/** Rows of other tables are not explained. */
function withoutExpand({ expand: _, ...query }: Readonly<Record<string, unknown>>) {
  return query;
}

/** What cases have noticed of the mutants of a project's rules. */
export interface Judged {
  readonly noticed: number;
  /** Those that no case has noticed, without those that admit the same as the rules themselves. */
  readonly survivors: readonly MutatedProject[];
}

/**
 * Runs cases, of which none has failed, against each mutant of the rules. Mutants are noticed by the first case that
 * fails. Only mutants of the kinds in `changes` are made.
 */
export async function judgeMutants(
  benches: readonly Bench[],
  live: LiveProject,
  changes: ReadonlySet<MutatedProject["change"]>,
): Promise<Judged> {
  let noticed = 0;
  const survivors: MutatedProject[] = [];
  for (const mutated of mutatedProjects(live, changes)) {
    if (await isNoticed(benches, mutated)) noticed++;
    else if (!isEquivalent(mutated, live)) survivors.push(mutated);
  }
  return { noticed, survivors };
}

/** Whether a case fails with the rules of another project. */
export async function isNoticed(
  benches: readonly Bench[],
  { project, about }: Pick<MutatedProject, "project" | "about">,
): Promise<boolean> {
  for (const { file, server, trial } of benches) {
    const original = server.project;
    server.project = project;
    try {
      for (const each of file.cases)
        if (mayNotice(each.deed, about) && (await trial(() => runCase(server, each))) !== null) return true;
    } finally {
      server.project = original;
    }
  }
  return false;
}

function mayNotice(deed: Deed, about: MutatedProject["about"]): boolean {
  if (about === null) return true;
  if ("operation" in about) return deed.kind === "op" && deed.operation === about.operation;
  if (deed.kind === "op") return false;
  // Rows of other tables are shown by their own rules.
  return deed.table === about.table || (deed.kind === "list" && deed.query.expand !== undefined);
}
