import { readFileSync, writeFileSync } from "node:fs";
import { dictionary } from "@zxcvbn-ts/language-common";
import { expect, test } from "vitest";
import { isCommonPassword } from "../../../src/auth/passwords/is-common-password.js";

// `npm run passwords` writes the list from the package, of which it takes the most used ones that are not too short.

const file = "src/auth/passwords/common-passwords.ts";
const count = 10_000;
const lengthMin = 6;

const mostUsed = dictionary["passwords-common"].filter((word) => word.length >= lengthMin).slice(0, count);

const heading = `/**
 * The 10,000 most used passwords of ${lengthMin} characters and more, sorted and compressed. Each line begins with a whole
 * password. Each further one is a capital letter, which says how many characters it shares with the password before it
 * (A: none, B: one), and the rest of its characters. Written by \`npm run passwords\`, from the package
 * @zxcvbn-ts/language-common: copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc., copyright (c) 2021 @zxcvbn-ts,
 * under the MIT licence (https://opensource.org/license/mit).
 */
export const commonPasswords = \``;

function written(words: readonly string[]): string {
  const lines: string[] = [];
  let previous = "";
  for (const word of [...words].sort()) {
    if (!/^[!-~]{6,31}$/.test(word) || /[A-Z`$\\]/.test(word)) throw new Error(`no place for ${word}`);
    let shared = 0;
    while (shared < 25 && word[shared] === previous[shared]) shared++;
    const entry = String.fromCharCode(65 + shared) + word.slice(shared);
    const line = lines.at(-1);
    if (line === undefined || line.length + entry.length > 110) lines.push(word);
    else lines.splice(-1, 1, line + entry);
    previous = word;
  }
  return `${heading}${lines.join("\n")}\`;\n`;
}

test("the list is the package's", () => {
  const expected = written(mostUsed);
  if (process.env.PASSWORDS !== undefined) writeFileSync(file, expected);
  expect(readFileSync(file, "utf8")).toBe(expected);
});

test("each of the package's most used ones is found, in whatever case, and what follows them is not", () => {
  expect(mostUsed).toHaveLength(10_000);
  expect(mostUsed.filter((word) => !isCommonPassword(word))).toEqual([]);
  expect(mostUsed.slice(0, 100).filter((word) => !isCommonPassword(word.toUpperCase()))).toEqual([]);
  const others = dictionary["passwords-common"].filter((word) => word.length >= lengthMin).slice(count);
  expect(others.length).toBeGreaterThan(10_000);
  expect(others.filter(isCommonPassword)).toEqual([]);
});

test.each(["123456", "password", "Password1", "QWERTYUIOP", "trustno1"])("%s is common", (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

test.each(["", "correct horse", "!", "password ", "paſſword", "~~~~~~~~", "A"])("%j is not", (password) => {
  expect(isCommonPassword(password)).toBe(false);
});

test("it takes a small part of a Worker's bundle", () => {
  expect(readFileSync(file).length).toBeLessThan(60_000);
});
