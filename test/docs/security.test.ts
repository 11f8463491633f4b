import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/security.md", "utf8");

/** ASVS 5.0.0: each section, and how many requirements it has of level 1 and then of level 2, in the order of their numbers. */
const sections = `
1.1 0 2, 1.2 5 4, 1.3 2 9, 1.4 0 3, 1.5 1 1
2.1 1 2, 2.2 2 1, 2.3 1 3, 2.4 0 1
3.2 2 0, 3.3 1 3, 3.4 2 4, 3.5 3 2, 3.7 0 2
4.1 1 2, 4.2 0 1, 4.3 0 2, 4.4 1 3
5.1 0 1, 5.2 2 1, 5.3 2 0, 5.4 0 3
6.1 1 2, 6.2 8 4, 6.3 2 2, 6.4 2 2, 6.5 0 5, 6.6 0 3, 6.8 0 4
7.1 0 3, 7.2 4 0, 7.3 0 2, 7.4 2 3, 7.5 0 2, 7.6 0 2
8.1 1 1, 8.2 2 1, 8.3 1 0, 8.4 0 1
9.1 3 0, 9.2 1 3
10.1 0 2, 10.2 0 2, 10.3 0 4, 10.4 5 6, 10.5 0 5, 10.6 0 2, 10.7 0 3
11.1 0 2, 11.2 0 3, 11.3 2 1, 11.4 1 3, 11.5 0 1, 11.6 0 1
12.1 1 2, 12.2 2 0, 12.3 0 4
13.1 0 1, 13.2 0 5, 13.3 0 2, 13.4 1 4
14.1 0 2, 14.2 1 3, 14.3 1 2
15.1 1 2, 15.2 1 2, 15.3 1 6
16.1 0 1, 16.2 0 5, 16.3 0 4, 16.4 0 3, 16.5 0 3
17.1 0 1, 17.2 0 4, 17.3 0 2`;

/** The level of each requirement, by its number. */
const levels = new Map<string, number>(
  [...sections.matchAll(/(\d+\.\d+) (\d+) (\d+)/g)].flatMap(([, section, level1, level2]) =>
    Array.from({ length: Number(level1) + Number(level2) }, (_, i) => [
      `${section}.${i + 1}`,
      i < Number(level1) ? 1 : 2,
    ]),
  ),
);

const states = ["met", "not met", "owner's", "n/a"];

/** A row of the tables: requirements that share a state and its reason. */
interface Row {
  readonly numbers: readonly string[];
  readonly state: string;
  readonly reason: string;
}

const rows: readonly Row[] = [
  ...page.matchAll(/^\| (\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*) \| .*? \| ([a-z/' ]+) \| (.*) \|$/gm),
].map(([, numbers, state, reason]) => ({ numbers: numbers!.split(", "), state: state!, reason: reason! }));

test("every requirement of ASVS 5.0.0 of the levels 1 and 2 has one row, which says how it stands", () => {
  expect(levels.size).toBe(253);
  expect(rows.flatMap(({ numbers }) => numbers).sort()).toEqual([...levels.keys()].sort());
  expect(rows.filter(({ state }) => !states.includes(state))).toEqual([]);
});

test("what is met says where", () => {
  const bare = rows.filter(({ state, reason }) => state === "met" && !/\]\(|`(src|test)\//.test(reason));
  expect(bare).toEqual([]);
});

test("the files that the page names are there", () => {
  const named = [...page.matchAll(/`(\w[\w./-]*\.(?:[jt]s|json))`/g)].map(([, file]) => file!);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

test("the page counts the requirements right", () => {
  const ofLevel = (level: number, state: string) =>
    rows
      .filter((row) => row.state === state)
      .flatMap(({ numbers }) => numbers)
      .filter((number) => levels.get(number) === level).length;
  const [, table] = /^\| State \| Level 1 \| Level 2 \|\n.*\n((?:\|.*\n)*)/m.exec(page)!;
  expect(table).toBe(states.map((state) => `| ${state} | ${ofLevel(1, state)} | ${ofLevel(2, state)} |\n`).join(""));
});
