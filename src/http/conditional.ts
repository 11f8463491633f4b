import { badRequest, type Refusal } from "./refusal.js";

/** The entity tags of `If-Match` or `If-None-Match`; `*` stands for any (RFC 9110, section 8.8.3). */
export type EntityTags = "*" | readonly EntityTag[];

/** An entity tag without its quotes. A weak one is written `W/"…"` in the header. */
export interface EntityTag {
  readonly isWeak: boolean;
  readonly text: string;
}

const tag = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;

/**
 * Reads the header (RFC 9110, sections 13.1.1 and 13.1.2). Null without it; a 400 if it is malformed, because a write
 * must not go on without the condition.
 */
export function entityTags(headers: Headers, name: "If-Match" | "If-None-Match"): EntityTags | Refusal | null {
  const text = headers.get(name)?.trim();
  if (text === undefined) return null;
  if (text === "*") return "*";
  const tags: EntityTag[] = [];
  // The list is not simply split at its commas, because a tag may hold a comma. It may have empty members (RFC 9110,
  // section 5.6.1.2).
  for (const member of text.match(/(?:[^,"]|"[^"]*"?)+/g) ?? []) {
    if (member.trim() === "") continue;
    const [, weak, opaque] = tag.exec(member.trim()) ?? [];
    if (opaque === undefined) return badRequest(`${name}: expected * or entity tags such as "7"`);
    tags.push({ isWeak: weak !== undefined, text: opaque });
  }
  return tags.length === 0 ? badRequest(`${name}: expected * or entity tags such as "7"`) : tags;
}

/** The header of a strong entity tag. `text` must hold no quote, which is not checked. */
export function etagHeader(text: string): { readonly ETag: string } {
  return { ETag: `"${text}"` };
}
