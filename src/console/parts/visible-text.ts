/**
 * A piece of a text that is shown: either a part of the text itself, or a mark in the place of a character that cannot
 * be seen.
 */
export interface TextPiece {
  readonly text: string;
  readonly isMark: boolean;
}

// Matches the characters that cannot be seen, such as control characters, marks that change the writing direction of
// what follows, and characters without width.
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/**
 * Cuts a text into parts that are shown as they are, and marks for characters that cannot be seen. So two texts that
 * differ only in such characters do not look the same.
 */
export function visiblePieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(unseen)) {
    if (index > from) pieces.push({ text: text.slice(from, index), isMark: false });
    pieces.push({ text: markOf(character), isMark: true });
    from = index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMark: false });
  return pieces;
}

function markOf(character: string): string {
  if (character === "\n") return "↵";
  if (character === "\t") return "⇥";
  const code = character.codePointAt(0)!;
  return code < 0x20
    ? String.fromCharCode(0x2400 + code)
    : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
