import { type EntityTags, entityTags, etagHeader } from "../../http/conditional.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { HeadersRecord } from "../../http/respond.js";
import type { Access } from "../access/access.js";
import { type Expected, managedVersion } from "./row-write.js";

/**
 * The header ETag with the version of a row that is answered whole (docs/reference/http.md#versions). No header for a
 * table without versions, or where the caller is not shown the version. `json` is the row.
 */
export function etagOf(access: Access, json: string): HeadersRecord {
  const column = managedVersion(access);
  if (column === null) return {};
  const version: unknown = JSON.parse(json)[column.name];
  return version === undefined || version === null ? {} : etagHeader(String(version));
}

/**
 * What `If-Match` and `If-None-Match` expect of a row that a request changes or deletes; null without them. The caller
 * has to be able to read the row. `If-Match: *` lets any version of it pass, `If-None-Match: *` none, and any other
 * `If-None-Match` is refused. Refused are also both headers where the table has no versions, or the caller may not read
 * them.
 */
export function expectedVersions(access: Access, headers: Headers): Expected | Refusal | null {
  const match = entityTags(headers, "If-Match");
  const noneMatch = entityTags(headers, "If-None-Match");
  if (isRefusal(match)) return match;
  if (isRefusal(noneMatch)) return noneMatch;
  if (match === null && noneMatch === null) return null;
  const column = managedVersion(access);
  if (column === null) return noVersions;
  if (access.writeOnlyKey || !access.readable.has(column.name)) return hiddenVersions;
  if (noneMatch !== null) return noneMatch === "*" ? { kind: "versions", versions: [] } : onlyAny;
  if (match === null || match === "*") return { kind: "readable" };
  const versions = match.filter(({ isWeak }) => !isWeak).map(({ text }) => text);
  return { kind: "versions", versions };
}

/** The refusal of `If-Match` and `If-None-Match` on a request that creates rows; null where it has none. */
export function creatingUnder(headers: Headers): Refusal | null {
  const noneMatch = entityTags(headers, "If-None-Match");
  if (isRefusal(noneMatch)) return noneMatch;
  if (noneMatch !== null) return noneMatch === "*" ? tableIsThere : onlyAny;
  return headers.has("If-Match") ? notWhenCreating : null;
}

/** The refusal of `If-Match` and `If-None-Match` on a request of several rows, where they fit none; null for none. */
export function withoutPreconditions(headers: Headers): Refusal | null {
  return headers.has("If-Match") || headers.has("If-None-Match") ? notOfOneRow : null;
}

const notOfOneRow = badRequest("If-Match and If-None-Match are taken by requests to read, change or delete one row");
const noVersions = badRequest("If-Match: the table has no managed version");
const hiddenVersions = new Refusal("forbidden", "you may not read the version of the row");
const onlyAny = badRequest("If-None-Match: a write takes * alone");
const notWhenCreating = badRequest("If-Match: a request that creates rows takes none");
/** The answer to `If-None-Match: *` on a create (RFC 9110, section 13.1.2): its target, the table, exists. */
const tableIsThere = new Refusal("precondition_failed", "there is something already");

/**
 * Whether a client that sent `If-None-Match` with the entity tags `known` has the version in the answer's header ETag
 * already (RFC 9110, section 13.1.2). Weak tags count, too.
 */
export function isKnownTo(known: EntityTags | null, { ETag }: HeadersRecord): boolean {
  if (known === null || ETag === undefined) return false;
  return known === "*" || known.some(({ text }) => `"${text}"` === ETag);
}
