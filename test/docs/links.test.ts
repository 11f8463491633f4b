import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const filesOf = (directory: string, extension: RegExp) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => extension.test(file))
    .map((file) => join(directory, file));

const pages = ["README.md", "CONTRIBUTING.md", ...filesOf("docs", /\.md$/)];
const sources = [...filesOf("src", /\.[jt]s$/), ...filesOf("test", /\.[jt]s$/)];

/** The text without code, where brackets are no links and `#` no heading. */
const prose = (page: string) =>
  readFileSync(page, "utf8")
    .replace(/^ *```[\s\S]*?^ *```$/gm, "")
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ""));

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...prose(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const slug = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

/** What is wrong with a path, as seen from the root, and its anchor. */
function problemOf(target: string): string | null {
  const [path = "", anchor] = target.split("#");
  if (!existsSync(path)) return `${path} is not there`;
  return anchor === undefined || anchorsOf(path).includes(anchor) ? null : `${path} has no #${anchor}`;
}

test.each(pages)("the links of %s lead somewhere", (page) => {
  const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const own = links.filter((link) => !/^[a-z]+:/.test(link));
  const targets = own.map((link) => (link.startsWith("#") ? page + link : normalize(join(dirname(page), link))));
  expect(targets.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
});

test("the pages that comments cite are there", () => {
  const cited = sources.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([target]) => ({
      file,
      target,
    })),
  );
  const wrong = cited.flatMap(({ file, target }) => {
    const problem = problemOf(target);
    return problem === null ? [] : [`${file}: ${problem}`];
  });
  expect(wrong).toEqual([]);
});
