import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "../support/figures.js";
import { circles } from "./circles.js";
import { unreadExports } from "./reads.js";
import { folderCircles, type Graph, roomGraph } from "./rooms.js";
import { type Declared, readSources, type Source } from "./source.js";

export interface Row {
  readonly name: string;
  readonly value: string | number;
  /** What the value counts, one a line. */
  readonly list?: readonly string[];
}

/**
 * The state of a checkout, so that before and after can be compared. What has not been built or measured there is left out
 * or said to be missing.
 * @param listed whether each export without a docstring is named, and not counted alone
 */
export async function house(directory: string, listed: boolean): Promise<Row[]> {
  const sources = readSources(join(directory, "src"));
  const isClient = ({ path }: Source) => path.startsWith("client/");
  const [client, server] = [sources.filter(isClient), sources.filter((source) => !isClient(source))];
  const { readByTestsAlone, readByNobody } = unreadExports(sources, readTests(directory), entriesOf(directory));
  const docs = markdownIn(join(directory, "docs"));
  return [
    { name: "files in src", value: sources.length },
    { name: "lines of src", value: sources.map(({ lines }) => lines).reduce((a, b) => a + b, 0) },
    { name: "lines of a file, median", value: median(sources.map(({ lines }) => lines)) },
    longest(sources),
    counted("import circles between files", circleNames(importsOfFiles(sources))),
    counted("import circles between folders", folderCircles(sources)),
    { name: "imports between the rooms of tables/", value: arrowsWithin("tables", sources) },
    counted("files over 400 lines", sources.filter(({ lines }) => lines > 400).map(lengthOf)),
    ...undocumented(sources, listed),
    counted("names exported twice", declaredTwice(server, isExported, notCounterparts)),
    counted("names exported twice in client/", declaredTwice(client, isExported)),
    counted("type names with several shapes, exported or not", declaredTwice(server, isType, differentShapes)),
    counted("exports that only tests read", readByTestsAlone),
    counted("values exported that nobody reads", readByNobody),
    counted("files of src that cite a text nobody can open", sources.flatMap(unopenable)),
    { name: "lines of the README", value: linesOf(join(directory, "README.md")) },
    { name: "Markdown files in docs", value: docs.length },
    { name: "lines in docs", value: docs.map(linesOf).reduce((a, b) => a + b, 0) },
    ...(await bundleRows(join(directory, "dist/worker/modules"))),
    { name: "npm test", value: testTime(join(directory, "dist/test-time.json")) },
  ];
}

/** The rows as text, what they list indented below each. */
export function shown(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows
    .flatMap(({ name, value, list = [] }) => [`${name.padEnd(width)}  ${value}`, ...list.map((line) => `    ${line}`)])
    .map((line) => `${line}\n`)
    .join("");
}

function counted(name: string, list: readonly string[]): Row {
  return { name, value: list.length, list };
}

function longest(sources: readonly Source[]): Row {
  const { lines, path } = sources.reduce((a, b) => (b.lines > a.lines ? b : a));
  return { name: "lines of a file, at most", value: `${lines} (${path})` };
}

function lengthOf({ path, lines }: Source): string {
  return `${path}: ${lines}`;
}

function importsOfFiles(sources: readonly Source[]): Graph {
  return new Map(sources.map(({ path, imports }) => [path, new Set(imports)]));
}

function arrowsWithin(folder: string, sources: readonly Source[]): number {
  return [...roomGraph(folder, sources).values()].reduce((sum, targets) => sum + targets.size, 0);
}

function circleNames(graph: Graph): string[] {
  return circles(graph).map((group) => group.join(" <-> "));
}

/** Re-exports do not count: the docstring stands where a name is declared. */
function undocumented(sources: readonly Source[], listed: boolean): Row[] {
  const all = sources.flatMap(({ path, declared }) => declared.filter(isExported).map((one) => ({ ...one, path })));
  const row = (name: string, those: typeof all): Row => {
    const bare = those.filter(({ documented }) => !documented);
    return {
      name: `exported without a docstring, ${name}`,
      value: `${bare.length} of ${those.length}`,
      list: listed ? bare.map((one) => `${one.path} ${one.kind} ${one.name}`) : [],
    };
  };
  const functions = all.filter(({ kind }) => kind === "function");
  const rest = all.filter(({ kind }) => kind !== "function");
  return [row("functions", functions), row("classes, constants and types", rest)];
}

const isExported = ({ exported }: Declared) => exported;
const isType = ({ kind }: Declared) => kind === "type";

type Placed = Declared & { readonly path: string };

/** The names that several files declare, with the files. */
function declaredTwice(
  sources: readonly Source[],
  counts: (declared: Declared) => boolean,
  differ: (those: readonly Placed[]) => boolean = () => true,
): string[] {
  const byName = new Map<string, Placed[]>();
  for (const { path, declared } of sources)
    for (const one of declared.filter(counts))
      byName.set(one.name, [...(byName.get(one.name) ?? []), { ...one, path }]);
  return [...byName]
    .filter(([, those]) => those.length > 1 && differ(those))
    .map(([name, those]) => `${name}: ${those.map(({ path }) => path).join(", ")}`)
    .sort();
}

/**
 * A runtime's counterpart of another one's has its name and means the same, whichever room of the runtime it is in. So do
 * the `commands` that each command's file exports.
 */
function notCounterparts(those: readonly Placed[]): boolean {
  const roles = those.map(({ path }) =>
    path.replace(/^(node|remote|worker)\/([\w-]+\/)?/, "RUNTIME/").replace(/^cli\/commands\/.*/, "cli/commands"),
  );
  return new Set(roles).size > 1;
}

function differentShapes(those: readonly Declared[]): boolean {
  return new Set(those.map(({ shape }) => shape)).size > 1;
}

/** A citation may be broken by the end of a line of a comment. */
function unopenable({ path, text }: Source): string[] {
  const found = text.replace(/\n\s*(\*|\/\/)? */g, " ").match(/(interface|specification),? (sections? )?\d/gi);
  return found ? [`${path}: ${found.length}`] : [];
}

function readTests(directory: string): Source[] {
  return readSources(join(directory, "test"), directory);
}

/** The files of src that the package exports. */
function entriesOf(directory: string): string[] {
  const { exports = {} } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return (Object.values(exports) as { types?: string }[]).map(({ types = "" }) =>
    types.replace("./dist/", "").replace(/\.d\.ts$/, ".ts"),
  );
}

function markdownIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
}

function linesOf(file: string): number {
  return readFileSync(file, "utf8").split("\n").length - 1;
}

/** A row for each package in a bundle; none where it has not been built with its source map. */
async function bundleRows(directory: string): Promise<Row[]> {
  const file = fileURLToPath(new URL("../support/bundle-shares.ts", import.meta.url));
  if (!existsSync(join(directory, "index.js.map")) || !existsSync(file)) return [];
  const { bundleShares } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  const shares: readonly { name: string; bytes: number }[] = await bundleShares(directory);
  return shares.map(({ name, bytes }) => ({ name: `bytes in the Worker's bundle: ${name}`, value: bytes }));
}

/** As the reporter of test/support/time-budget.ts wrote it down. */
function testTime(file: string): string {
  if (!existsSync(file)) return "not measured";
  const { cpuSeconds, budget, seconds, files } = JSON.parse(readFileSync(file, "utf8"));
  // An older checkout has a budget by the clock, and one without /proc counts nothing.
  const processor = typeof cpuSeconds === "number" ? `${cpuSeconds} s of ${budget} s of the processor, ` : "";
  return `${processor}${seconds} s by the clock, ${files} test files`;
}
