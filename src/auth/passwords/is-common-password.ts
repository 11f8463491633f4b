import { commonPasswords } from "./common-passwords.js";

const lines = commonPasswords.split("\n");

/**
 * Whether a password is one of the 10,000 most used ones, in whatever case, because an attacker who tries `password1`
 * also tries `Password1`. The list is exact, so no other password is refused by mistake.
 */
export function isCommonPassword(password: string): boolean {
  const wanted = password.toLowerCase();
  const line = lines.findLast((line) => firstOf(line) <= wanted) ?? "";
  let word = firstOf(line);
  for (const [, shared, rest] of line.matchAll(/([A-Z])([^A-Z]*)/g)) {
    if (word === wanted) return true;
    word = word.slice(0, shared!.charCodeAt(0) - letterOfNone) + rest;
  }
  return word !== "" && word === wanted;
}

function firstOf(line: string): string {
  return /^[^A-Z]*/.exec(line)![0];
}

/**
 * The code of the letter A: in the compressed list, an A before a word says that it shares no beginning with the word
 * before.
 */
const letterOfNone = 65;
