import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { parseCaseFile } from "../../src/cases/case-file.js";
import type { Invocation } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands/check.js";
import { blocksOf } from "./pages.js";

/** Tests of their own follow these, command by command. */
const followed = ["docs/start.md", "docs/guides/existing-database.md"];
const pages = ["README.md", ...markdownIn("docs"), ...markdownIn("docs/guides")].filter(
  (page) => !followed.includes(page),
);

/** The warnings that a page says are meant. */
const explained: Readonly<Record<string, readonly string[]>> = {
  "docs/guides/team-tracker.md": ["rules.memberships.update"],
};

const isTestFile = ({ text, language }: { text: string; language: string }) =>
  language === "yaml" && /^cases:$/m.test(text);

test.each(pages.flatMap(partsOf))("$page, $heading: `svc check` finds no problem", async (part) => {
  const { problems, warnings } = await checked(part);
  expect(problems).toEqual([]);
  // Of tables without rules, or providers without credentials, only a whole project can be blamed.
  const ofRules = warnings.filter(({ path }) => path.startsWith("rules.")).map(({ path }) => path);
  expect(ofRules).toEqual(explained[part.page] ?? []);
});

test("the README shows rules of the example project", () => {
  const rules = blocksOf("README.md").findLast(({ language }) => language === "toml");
  const example = readFileSync("svc.toml", "utf8").split("\n");
  for (const line of rules!.text.trimEnd().split("\n")) expect(example).toContain(line);
});

function markdownIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(directory, file));
}

interface Part {
  readonly page: string;
  readonly heading: string;
  readonly schema: string;
  readonly config: string;
}

/**
 * What stands under each heading of a page, as a project of its own. Rules without a schema are of the page's first schema, or
 * of the example project.
 */
function partsOf(page: string): Part[] {
  const blocks = blocksOf(page).filter((block) => !isTestFile(block));
  const textUnder = (heading: string, language: string) =>
    blocks.filter((block) => block.heading === heading && block.language === language).map(({ text }) => text);
  const first = blocks.find(({ language }) => language === "yaml")?.text ?? "";
  const example = readFileSync("svc.schema.yaml", "utf8");
  return [...new Set(blocks.map(({ heading }) => heading))].flatMap((heading) => {
    const [schemas, configs] = [textUnder(heading, "yaml"), textUnder(heading, "toml")];
    if (schemas.length + configs.length === 0) return [];
    const config = configs.join("\n");
    const missing = config.includes("[rules.") ? `${first}\n${example}` : "";
    return [{ page, heading, schema: schemas.join("\n") || missing, config }];
  });
}

test("every test file that a page shows can be read", () => {
  const files = [...pages, ...markdownIn("docs/reference")].flatMap((page) =>
    blocksOf(page)
      .filter(isTestFile)
      .map(({ text }) => parseCaseFile(page, text)),
  );
  expect(files).toHaveLength(2);
  for (const file of files) expect(file).toMatchObject({ cases: expect.anything() });
});

/** What `svc check --json` prints. */
async function checked({ schema, config }: Part) {
  const directory = mkdtempSync(join(tmpdir(), "svc-docs-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  writeFileSync(join(directory, "svc.toml"), config);
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  const environment = { SVC_JWT_SECRET: "a secret of a test, which is 32 bytes long or longer" };
  const flag = () => false;
  await commands[0]!.run({ directory, environment, json: true, flag } as Partial<Invocation> as Invocation);
  return JSON.parse(print.mock.lastCall![0]) as Record<"problems" | "warnings", { path: string }[]>;
}
