import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Command } from "../../src/cli/command.js";
import { helpOf } from "../../src/cli/help-of.js";
import { configSchema } from "../../src/project/config.js";
import { docstrings } from "./docstrings.js";

// `npm run docs` writes the parts of pages that are made from the source, between `<!-- generated: NAME -->` and `<!-- end -->`.

/** What is read of a valibot schema: the kind of value, its bounds or choices, and its default. */
interface Setting {
  readonly type: string;
  readonly wrapped: Setting;
  readonly default?: unknown;
  readonly entries?: Readonly<Record<string, Setting>>;
  readonly options?: readonly string[];
  readonly pipe?: readonly { readonly type: string; readonly requirement?: number }[];
}

const settings = docstrings("src/project/config.ts");
const variables = docstrings("src/project/environment.ts");

/** The tables of a section of svc.toml and of those within, a row for each key. */
function sections(name: string, { entries = {} }: Setting): readonly string[] {
  const all = Object.entries(entries).map(([key, entry]) => [name === "" ? key : `${name}.${key}`, entry] as const);
  const keys = all.filter(([, { wrapped }]) => wrapped.entries === undefined);
  const rows = keys.map(([path, entry]) => {
    const doc = settings.get(`configSchema.${path}`);
    if (doc === undefined) throw new Error(`${path} has no docstring in src/project/config.ts`);
    return [`\`${path.split(".").at(-1)}\``, kindOf(entry), `\`${JSON.stringify(entry.default)}\``, doc];
  });
  const own = name === "" ? [] : [`### [${name}]\n\n${table(["Key", "Type", "Default", "Meaning"], rows)}`];
  return [...own, ...all.flatMap(([path, { wrapped }]) => (wrapped.entries ? sections(path, wrapped) : []))];
}

function kindOf({ wrapped: { type, options, pipe } }: Setting): string {
  const bound = (kind: string) => pipe?.find((step) => step.type === kind)?.requirement;
  if (type === "number") return `integer, ${bound("min_value")} to ${bound("max_value")}`;
  if (type === "picklist") return options!.map((option) => `\`"${option}"\``).join(", ");
  return ({ array: "list of texts", string: "text" } as Record<string, string>)[type] ?? type;
}

function environment(): string {
  const rows = [...variables].flatMap(([path, doc]) =>
    path.startsWith("Environment.") ? [[`\`${path.replace("Environment.", "")}\``, doc]] : [],
  );
  return table(["Variable", "Meaning"], rows);
}

async function commands(): Promise<string> {
  const files = readdirSync("src/cli/commands")
    .map((file) => file.replace(/\.ts$/, ""))
    .sort();
  const groups = await Promise.all(
    files.map((file): Promise<{ commands: readonly Command[] }> => import(`../../src/cli/commands/${file}.ts`)),
  );
  return groups
    .flatMap((group) => group.commands)
    .map((command) => `### svc ${command.name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`)
    .join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return [head, head.map(() => "---"), ...rows].map(line).join("");
}

const parts: readonly (readonly [page: string, part: string, make: () => string | Promise<string>])[] = [
  ["docs/reference/configuration.md", "svc.toml", () => sections("", configSchema as unknown as Setting).join("\n")],
  ["docs/reference/configuration.md", "environment", environment],
  ["docs/reference/command-line.md", "commands", commands],
];

test.each(parts)("%s: %s is what the source says (`npm run docs` writes it)", async (page, part, make) => {
  const text = readFileSync(page, "utf8");
  const [begin, end] = [`<!-- generated: ${part} -->\n`, "<!-- end -->\n"];
  const from = text.indexOf(begin) + begin.length;
  expect(from, `${page} has no ${begin}`).toBeGreaterThanOrEqual(begin.length);
  const to = text.indexOf(end, from);
  const made = `\n${await make()}\n`;
  if (process.env.DOCS === "1") writeFileSync(page, text.slice(0, from) + made + text.slice(to));
  else expect(text.slice(from, to)).toBe(made);
});

test("every variable that the source names, beside the defaults of svc.toml, has a row", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const source = files.map((file) => readFileSync(`src/${file}`, "utf8")).join("");
  const read = source.matchAll(/\benvironment\.([A-Z_]+)|(?<!environmentName\()"(SVC_[A-Z_]+)"/g);
  for (const [, dotted, quoted] of read) expect(variables.keys()).toContain(`Environment.${dotted ?? quoted}`);
});
