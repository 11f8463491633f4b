import { badRequest, type Refusal } from "../../http/refusal.js";
import type { RequestValue } from "./request-value.js";

/** How many words a search may have, those in phrases too, and how many characters. */
const searchWordsMax = 32;
const searchCharactersMax = 1000;

/** A word that a search looks for, or what stands between double quotes. */
export interface SearchTerm {
  readonly text: string;
  /** Whether the term may be the beginning of a word: the last one is, unless it is a phrase. */
  readonly isBeginning: boolean;
}

/** Parses the parameter `search` into terms. A row is found if it has all of them. */
export function parseSearch(sent: RequestValue): { readonly search: readonly SearchTerm[] } | Refusal {
  const text = sent.text();
  if (text === null) return badRequest("search: expected a text");
  if (text.includes("\0")) return badRequest("search: a text without the character NUL is expected");
  if (text.length > searchCharactersMax) return badRequest(`search: at most ${searchCharactersMax} characters`);
  const words = [...text.matchAll(/"([^"]*)"|\S+?(?=\s|$|"[^"]*")/g)];
  if (words.length === 0) return badRequest("search: expected words");
  const inAll = words.reduce((sum, [word]) => sum + Math.max(1, tokensIn(word)), 0);
  if (inAll > searchWordsMax) return badRequest(`search: at most ${searchWordsMax} words`);
  return {
    search: words.map(([word, phrase], i) => ({
      text: phrase ?? word,
      isBeginning: phrase === undefined && i === words.length - 1,
    })),
  };
}

/**
 * Returns how many words FTS5 may make of a text at most. Letters and digits that follow each other are one word. Each
 * other character that is neither ASCII nor punctuation nor a space, such as an emoji, counts as a word too, because
 * FTS5 takes some of these for letters.
 */
function tokensIn(text: string): number {
  return text.match(/[\p{L}\p{M}\p{N}\p{Co}]+|[^\p{ASCII}\p{P}\p{Z}]/gu)?.length ?? 0;
}
