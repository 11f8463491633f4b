import type { FollowedTables } from "./changes.js";

/** Lists of rows that are followed together, by the names under which the server tells of them (`docs/sync.md#members`). */
export type Members = Readonly<Record<string, object>>;

/** The most members that one stream has (`docs/reference/limits.md#streams`). */
export const membersMax = 40;

/**
 * The name of a member, which is the same for the same rows and columns, in every page and tab. So all who follow these
 * share one member. Names of different members differ: the chance that they do not is one in 2^64.
 */
export function memberName(alias: string, terms: FollowedTables[string]): string {
  const { table = alias, ...others } = terms as { readonly table?: string };
  return `${table.slice(0, 60)}.${hash(JSON.stringify([table, others]))}`;
}

/** FNV-1a (RFC 9923) of the text's UTF-16 units in 64 bits, as hexadecimal digits. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++)
    value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}
