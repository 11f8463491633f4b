/** A part of a text, or a mark in place of a character that cannot be seen. */
export interface TextPiece {
  readonly text: string;
  readonly isMark: boolean;
}

// Control characters, marks that change the writing direction of what follows, characters without width and the like.
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** Cuts a text into pieces, so that two texts that differ only in characters that cannot be seen look different. */
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
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
