import { resolve } from "node:path";
import type { MutatedProject } from "../../cases/mutated-projects.js";
import { type Failure, failuresOf, type Judged, judgeMutants } from "../../cases/run-cases.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { stepsOf } from "../../problems/dotted-path.js";
import { visible } from "../../problems/problem.js";
import { schemaFile } from "../../project/file-names.js";
import { linesIn } from "../../project/lines/located.js";
import { yamlPlaces } from "../../project/lines/yaml-places.js";
import { openBenches } from "../case-benches.js";
import { filesEnding, readCaseFiles } from "../case-files.js";
import { type Command, type ExitCode, UsageError } from "../command.js";

const ending = ".test.yaml";

/** Runs the cases of the project's test files against its rules. */
const test: Command = {
  name: "test",
  usage: "[FILE…] [--mutate [--min PERCENT]] [--json]",
  summary: "Tries what the project's test files say that users may do and see, on a database in memory.",
  options: { mutate: { type: "boolean" }, min: { type: "string" } },
  help: [
    `FILE           a file of tests (default: every *${ending} beside svc.toml)`,
    "--mutate       also says which term of a rule could be dropped, negated or weakened, and no case would notice",
    "--min PERCENT  exit code 1 if the cases notice less than so many of 100 such changes",
    "--json         as JSON: {cases, failures, undecided, mutants}",
    "Without --mutate, the terms are listed that no case decides: with their opposite, all cases would pass, too.",
    "The exit code is 0 if every case has passed, 1 if one has failed, and 2 if a file is wrong or there is none.",
  ],
  positionals: [],
  others: "FILE…",
  run: async ({ directory, positionals, flag, text, json }) => {
    const project = readProject(directory);
    const paths = positionals.length > 0 ? positionals : filesEnding(directory, ending);
    if (paths.length === 0) throw new UsageError(`there is no *${ending} in ${resolve(directory)}`);
    const min = percent(text("min"), flag("mutate"));
    const files = readCaseFiles(paths);
    if (files.every(({ cases }) => cases.length === 0))
      throw new UsageError(`there are no cases in ${paths.join(", ")}`);
    const fromMs = performance.now();
    const { benches, live, close } = await openBenches(project, files);
    try {
      const failures: Failure[] = [];
      for (const bench of benches) failures.push(...(await failuresOf(bench)));
      const count = files.reduce((sum, { cases }) => sum + cases.length, 0);
      const casesMs = performance.now() - fromMs;
      const changes = new Set<MutatedProject["change"]>(
        flag("mutate") ? ["dropped", "negated", "weakened"] : ["negated"],
      );
      const judged = failures.length > 0 ? null : placed(await judgeMutants(benches, live, changes), project);
      const result = { count, failures, judged, isWhole: flag("mutate"), casesMs, ms: performance.now() - fromMs };
      console.log(json ? JSON.stringify(asJson(result)) : visible(report(result)));
      return exitCode(result, min);
    } finally {
      await close();
    }
  },
};

/** `svc test` */
export const commands: readonly Command[] = [test];

interface Tested {
  readonly count: number;
  readonly failures: readonly Failure[];
  /** Null where a case has failed. */
  readonly judged: Judged | null;
  /** Whether the mutants are all, or those alone that negate a term. */
  readonly isWhole: boolean;
  readonly casesMs: number;
  readonly ms: number;
}

/** With the lines of rules in svc.schema.yaml, whose columns are not known. */
function placed({ noticed, survivors }: Judged, { schemaText }: ProjectDirectory): Judged {
  const lineOf = linesIn(schemaText, yamlPlaces);
  const withLine = (each: MutatedProject) =>
    each.file === schemaFile ? { ...each, line: lineOf(stepsOf(each.rule)) } : each;
  return { noticed, survivors: survivors.map(withLine) };
}

function percent(text: string | undefined, mutates: boolean): number {
  if (text === undefined) return 0;
  if (!mutates) throw new UsageError("--min goes with --mutate");
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 100) throw new UsageError("--min: expected a number from 0 to 100");
  return value;
}

function exitCode({ failures, judged }: Tested, min: number): ExitCode {
  if (failures.length > 0) return 1;
  return judged !== null && noticedPercent(judged) < min ? 1 : 0;
}

function noticedPercent({ noticed, survivors }: Judged): number {
  const all = noticed + survivors.length;
  return all === 0 ? 100 : (100 * noticed) / all;
}

function report({ count, failures, judged, isWhole, casesMs, ms }: Tested): string {
  const failed = failures.map(({ failed: { at, name, as, expected }, found, why }) =>
    [
      `${at.file}:${at.line}: ${name ?? `as ${as ?? "anonymous"}`}: expected ${expectedWords(expected)}, ${found}`,
      ...why.map((line) => `  ${line}`),
    ].join("\n"),
  );
  const passed = `${count - failures.length} of ${count} cases passed, in ${Math.round(casesMs)} ms`;
  if (judged === null) return [...failed, passed].join("\n");
  const lines = judged.survivors.map((mutated) => survivorLine(mutated, isWhole));
  if (!isWhole) {
    const heading = lines.length === 0 ? [] : ["no case decides these terms:", ...lines.map((line) => `  ${line}`)];
    return [passed, ...heading].join("\n");
  }
  const all = judged.noticed + judged.survivors.length;
  const noticed = `${judged.noticed} of ${all} changes of the rules noticed (${Math.floor(noticedPercent(judged))} %), in ${Math.round(ms - casesMs)} ms`;
  return [passed, ...lines, noticed].join("\n");
}

function expectedWords(expected: Failure["failed"]["expected"]): string {
  switch (expected.kind) {
    case "allow":
      return expected.columns === null ? "allow" : `allow with the columns ${[...expected.columns].sort().join(", ")}`;
    case "deny":
      return ["deny", expected.code, expected.columns && `columns ${expected.columns.join(", ")}`]
        .filter((part) => part !== null)
        .join(" ");
    case "sees":
      return `sees ${JSON.stringify(expected.keys)}`;
  }
}

function survivorLine({ file, line, column, rule, term, change }: MutatedProject, isWhole: boolean): string {
  const place = [file, line, column].filter((part) => part !== null).join(":");
  return `${place}  ${rule}: ${term}${isWhole ? ` could be ${change}` : ""}`;
}

function asJson({ count, failures, judged, isWhole }: Tested) {
  const survivors = judged?.survivors.map(({ file, line, column, rule, term, change }) => {
    return { file, line, column, rule, term, ...(isWhole && { change }) };
  });
  return {
    cases: count,
    failures: failures.map(({ failed: { at, name }, found, why }) => ({ ...at, name, found, why })),
    undecided: isWhole ? null : (survivors ?? null),
    mutants: isWhole && judged !== null ? { noticed: judged.noticed, survivors } : null,
  };
}
