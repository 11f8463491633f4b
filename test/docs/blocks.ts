import { readFileSync } from "node:fs";

/** The code blocks of a page that are of a language, in the page's order. */
export function blocksOf(page: string, language: string): readonly string[] {
  const blocks = readFileSync(page, "utf8").matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm);
  return [...blocks].filter(([, of]) => of === language).map(([, , text]) => text!);
}
