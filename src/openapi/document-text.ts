import { nextTurn } from "../http/next-turn.js";
import type { Config } from "../project/config.js";
import { type LiveProject, operationRulesOf } from "../schema/live-project.js";
import { type DocumentedProject, documentInTurns } from "./document.js";

/** The text of a project's OpenAPI document, made once for each version of the schema. */
export function createDocumentText(config: Config, baseUrl: string): (project: LiveProject) => Promise<string> {
  const texts = new WeakMap<LiveProject, Promise<string>>();
  return (project) => {
    const operationRules = operationRulesOf(project);
    const text = texts.get(project) ?? inTurns(textOf({ ...project, operationRules, config, baseUrl }));
    texts.set(project, text);
    return text;
  };
}

/** Runs a generator to its end, with a turn of the event loop for what it does between two yields. */
async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await nextTurn();
  }
}

/** The text of a project's OpenAPI document, without turns. */
export function documentText(project: DocumentedProject): string {
  const work = textOf(project);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

function* textOf(project: DocumentedProject): Generator<void, string> {
  const pieces: string[] = [];
  yield* write(yield* documentInTurns(project), partsDepth, pieces);
  return pieces.join("");
}

/** How deep the operations and the schemas are: `paths`, a path, a method; `components`, `schemas`, a name. */
const partsDepth = 3;

/** Writes a value as JSON with a line for each part, and yields after it. Parts are what is `depth` deep in objects. */
function* write(value: unknown, depth: number, pieces: string[]): Generator<void> {
  if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    pieces.push(JSON.stringify(value));
    yield;
    return;
  }
  let separator = "{\n";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    pieces.push(separator, JSON.stringify(name), ":");
    yield* write(member, depth - 1, pieces);
    separator = ",\n";
  }
  pieces.push(separator === "{\n" ? "{}" : "\n}");
}
