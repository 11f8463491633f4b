import { readFileSync } from "node:fs";

/** A fenced code block of a page. */
export interface Block {
  /** What stands behind the opening fence: `yaml`, `toml`, `sh`, … */
  readonly language: string;
  readonly text: string;
  /** The nearest heading above it, without its `#`. */
  readonly heading: string;
}

/** The code blocks of a page of the documentation, from its top to its bottom. */
export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = "";
  for (const [, title, language, text] of readFileSync(page, "utf8").matchAll(piece)) {
    if (title !== undefined) heading = title;
    else blocks.push({ language: language!, text: text!, heading });
  }
  return blocks;
}

const piece = /^#+ (.*)$|^```(\w*)\n([\s\S]*?)^```$/gm;

/** The schema and the configuration that stand under a heading of a page. */
export function projectUnder(page: string, heading: string): { schema: string; config: string } {
  const blocks = blocksOf(page).filter((block) => block.heading === heading);
  const only = (language: string) => {
    const found = blocks.filter((block) => block.language === language);
    if (found.length !== 1) throw new Error(`${page}: ${found.length} blocks of ${language} under ${heading}`);
    return found[0]!.text;
  };
  return { schema: only("yaml"), config: only("toml") };
}
