import type { Column } from "../../project/model.js";
import { type Expansion, type ExpansionStep, firstSteps, stepsIn } from "../plan/expansion.js";
import { rowSeparator } from "../sql/expansions.js";
import { finishRows } from "../sql/finish-rows.js";

/** What a list's statement has found for one step (a reference that `expand` follows). */
export interface ExpandedStep {
  /**
   * The rows that were found, as text: each is its JSON followed by a line break and the JSON array of its keys
   * (`rowAndKeys`), with `rowSeparator` between rows. Empty for none.
   */
  readonly rows: string;
  /** How many rows were examined for the step. */
  readonly candidates: number;
  /** How many rows were looked up for all `exists` in the read rule of the step's table together. */
  readonly probed: number;
  /** How many rows each value of `from` leads to: a JSON array of `[value, number]`; empty where not counted. */
  readonly counted: string;
}

/** Reads the columns of a list's result that are about expansions: three for each step. */
export function expandedSteps(columns: readonly (string | null)[]): readonly ExpandedStep[] {
  const steps: ExpandedStep[] = [];
  for (let i = 0; i < columns.length; i += 3) {
    const [rows, examined, counted] = columns.slice(i, i + 3);
    const [candidates, probed, once] = JSON.parse(examined!);
    steps.push({ rows: rows ?? "", candidates, probed: probed + once, counted: counted ?? "[]" });
  }
  return steps;
}

/** The rows of a page as JSON with commas between them, and how many they are. */
export interface WrittenRows {
  readonly text: string;
  readonly count: number;
}

/**
 * Writes the rows of a page with `_expand` and `_count`, as many as have `charactersMax` characters together. A row that
 * several others refer to is written once for each of them, so the text may be much longer than what the database has
 * returned. `rows` is the text of the page's rows with their keys; `found` has what was found for each step of the
 * expansions, in the order of `stepsIn`. The JSON of each row is copied as text, so that numbers in JSON columns keep
 * their digits.
 */
export async function expandedRows(
  rows: string,
  output: readonly Column[],
  expansions: readonly Expansion[],
  found: readonly ExpandedStep[],
  charactersMax: number,
): Promise<WrittenRows> {
  const steps = firstSteps(expansions);
  const byStep = new Map<ExpansionStep, FoundRows>();
  for (const [i, step] of stepsIn(steps).entries()) byStep.set(step, await foundOf(step, found[i]!));
  const written: string[] = [];
  let left = charactersMax;
  for (const row of await parsedRows(rows, output)) {
    const results = expansions.map((expansion) => resultOf(expansion, row, steps, byStep));
    const expand = expansions.map(
      ({ path, isBackward }, i) => `${JSON.stringify(path)}:${shown(results[i]!.rows, isBackward)}`,
    );
    const count = expansions.flatMap(({ path, counts }, i) =>
      counts ? [`${JSON.stringify(path)}:${results[i]!.count}`] : [],
    );
    const counted = count.length === 0 ? "" : `,"_count":{${count.join()}}`;
    const text = `${row.text.slice(0, -1)},"_expand":{${expand.join()}}${counted}}`;
    left -= text.length;
    if (left < 0) break;
    written.push(text);
  }
  return { text: written.join(), count: written.length };
}

function shown(rows: readonly ParsedRow[], isBackward: boolean): string {
  return isBackward ? `[${rows.map(({ text }) => text).join()}]` : (rows[0]?.text ?? "null");
}

/**
 * A row as JSON text, and its keys: the values that lead from it to related rows, each as JSON text, null for NULL.
 * `rowAndKeys` makes the SQL that returns both as one text.
 */
interface ParsedRow {
  readonly text: string;
  readonly keys: readonly (string | null)[];
}

async function parsedRows(rows: string, output: readonly Column[]): Promise<readonly ParsedRow[]> {
  if (rows === "") return [];
  const parsed: ParsedRow[] = [];
  for (const line of rows.split(rowSeparator)) {
    const [text, keys = "[]"] = line.split("\n");
    const finished = finishRows(text!, output);
    parsed.push({
      text: finished instanceof Promise ? await finished : finished,
      keys: (JSON.parse(keys) as unknown[]).map(keyText),
    });
  }
  return parsed;
}

function keyText(key: unknown): string | null {
  return key === null ? null : JSON.stringify(key);
}

/**
 * What was found for a step: rows, and their counts, by the key of the row before, which leads to them. The keys of the
 * found rows lead on to the steps inside of this one.
 */
interface FoundRows {
  readonly rows: ReadonlyMap<string, readonly ParsedRow[]>;
  readonly counts: ReadonlyMap<string, number>;
}

async function foundOf({ output }: ExpansionStep, { rows, counted }: ExpandedStep): Promise<FoundRows> {
  const byKey = new Map<string, ParsedRow[]>();
  for (const { text, keys } of await parsedRows(rows, output)) {
    const [key, ...inner] = keys;
    const others = byKey.get(key!);
    const row = { text, keys: inner };
    if (others === undefined) byKey.set(key!, [row]);
    else others.push(row);
  }
  const counts = (JSON.parse(counted) as [unknown, number][]).map(([key, count]) => [keyText(key)!, count] as const);
  return { rows: byKey, counts: new Map(counts) };
}

interface ExpandedResult {
  readonly rows: readonly ParsedRow[];
  readonly count: number;
}

const nothing: ExpandedResult = { rows: [], count: 0 };

/** Follows an expansion from a row of the page to the rows at its end, with their number; 0 where not counted. */
function resultOf(
  { steps }: Expansion,
  row: ParsedRow,
  first: readonly ExpansionStep[],
  byStep: ReadonlyMap<ExpansionStep, FoundRows>,
): ExpandedResult {
  let result: ExpandedResult = { rows: [row], count: 0 };
  let siblings = first;
  for (const step of steps ?? []) {
    const key = result.rows[0]?.keys[siblings.indexOf(step)] ?? null;
    if (key === null) return nothing;
    const { rows, counts } = byStep.get(step)!;
    result = { rows: rows.get(key) ?? [], count: counts.get(key) ?? 0 };
    siblings = step.inner;
  }
  return steps === null ? nothing : result;
}
