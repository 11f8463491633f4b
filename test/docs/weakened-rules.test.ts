import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { isEquivalent, projectWith } from "../../src/cases/mutated-projects.js";
import { failuresOf, isNoticed, judgeMutants } from "../../src/cases/run-cases.js";
import { type Benches, openBenches } from "../../src/cli/case-benches.js";
import { readCaseFiles } from "../../src/cli/case-files.js";
import { parseConfig } from "../../src/project/parse-config.js";
import type { LiveProject } from "../../src/schema/live-project.js";
import { Random } from "../property/support/random.js";
import { blocksOf, projectUnder } from "./pages.js";

const folder = "test/data/cases";
const files = readdirSync(folder);
/** How many weakenings are tried in all. `npm run test:long` tries them all, and every mutant. */
const weakenings = Number(process.env.WEAKENINGS ?? 50);
const isLong = process.env.WEAKENINGS !== undefined;

interface Opened extends Benches {
  readonly config: string;
}

/** The project that the first line of a file names: a page, and the heading there. */
async function opened(file: string): Promise<Opened> {
  const path = `${folder}/${file}`;
  const [, page, heading] = /^# (\S+?)(?:, "(.*)")?\n/.exec(readFileSync(path, "utf8"))!;
  const first = (language: string) => blocksOf(page!).find((block) => block.language === language)!.text;
  const project =
    heading === undefined ? { schema: first("yaml"), config: first("toml") } : projectUnder(page!, heading);
  const config = parseConfig(project.config).config!;
  const directory = { directory: ".", config, configText: project.config, schemaText: project.schema };
  return { ...(await openBenches(directory, readCaseFiles([path]))), config: project.config };
}

const projects = new Map<string, Opened>();
for (const file of files) projects.set(file, await opened(file));
afterAll(async () => {
  for (const { close } of projects.values()) await close();
});

describe("the cases of a project in the guides", () => {
  test("are there for every recipe, and for each other project", () => {
    const recipes = blocksOf("docs/guides/rules.md").filter(({ language }) => language === "yaml");
    expect(files.length).toBe(recipes.length + 3);
  });

  test.each(files)("%s: pass", async (file) => {
    expect(await failuresOf(projects.get(file)!.benches[0]!)).toEqual([]);
  });

  test.runIf(isLong).each(files)("%s: notice every mutant", async (file) => {
    const { benches, live } = projects.get(file)!;
    const { noticed, survivors } = await judgeMutants(benches, live, new Set(["dropped", "negated", "weakened"]));
    expect(survivors.map(({ rule, term, change }) => `${rule}: ${term} could be ${change}`)).toEqual([]);
    expect(noticed).toBeGreaterThan(0);
  });
});

/** How a person weakens a rule by a slip: what is found in svc.toml, and what stands in its place. */
const slips: readonly (readonly [RegExp, string])[] = [
  [/(?<=^\w+ = )"(?!deny|public)[^"\n]+"$/gm, '"authenticated"'],
  [/(?<=^\w+ = )"(?!deny|public|authenticated)[^"\n]+"$/gm, '"public"'],
  [/(?<= = )auth\.id\b/g, "auth.id or true"],
  [/\b(row|new|old|\w)\.\w+ = auth\.id\b/g, "auth.id is not null"],
  [/ and (new|old|row|\w)\.\w+ = (old\.|new\.)?'?\w+'?/g, ""],
  [/auth\.role = 'admin'/g, "authenticated"],
  [/ and (?=[a-z_]+\()/g, " or "],
  [/\bnot (?=exists\()/g, ""],
  [/ and \w\.may_edit\b/g, ""],
  [/\bin \('(\w+)', '(\w+)'\)/g, "is not null"],
];

/** The text of svc.toml with each slip at each of its places. */
function weakened(config: string): readonly string[] {
  const texts = slips.flatMap(([pattern, by]) =>
    [...config.matchAll(pattern)].map(
      ({ index, 0: found }) => config.slice(0, index) + by + config.slice(index + found.length),
    ),
  );
  return [...new Set(texts)].filter((text) => text !== config);
}

/** The project by these rules; null where they are not valid, or admit what its own do. */
function served({ live }: Opened, text: string): LiveProject | null {
  const source = parseConfig(text).config;
  const project = source ? projectWith(live, source, live.schema) : null;
  return project === null || isEquivalent({ project }, live) ? null : project;
}

test(`${weakenings} weakened rules of the guides are all noticed`, async () => {
  const random = new Random(Random.seedOfRun());
  const fromMs = performance.now();
  const all = [...projects].flatMap(([file, each]) => weakened(each.config).map((text) => ({ file, each, text })));
  const unnoticed: string[] = [];
  let tried = 0;
  for (const { file, each, text } of random.shuffled(all)) {
    if (tried === weakenings) break;
    const project = served(each, text);
    if (project === null) continue;
    tried++;
    if (!(await isNoticed(each.benches, { project, about: null }))) unnoticed.push(`${file}\n${text}`);
  }
  const ms = Math.round(performance.now() - fromMs);
  process.stdout.write(`${tried} of ${all.length} weakened rules of ${files.length} projects tried in ${ms} ms\n`);
  expect(unnoticed).toEqual([]);
  expect(tried).toBeGreaterThanOrEqual(50);
});
