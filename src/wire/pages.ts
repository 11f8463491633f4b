import { count, list, mark, object, ref, type Static, text, type WireSchema } from "./schema.js";

const total: WireSchema<number | null> = { ...count, type: ["integer", "null"] };

/** The members of `meta` in the answer to a list. */
export const pageMembers = {
  limit: count,
  offset: count,
  total,
  next_cursor: text,
  truncated: mark,
};

/** The schema `svc.systemList`: which page of a list of the server's own the answer is. */
export const systemListMeta = object(pageMembers, "next_cursor", "truncated");

/** A page of a list of the server's own that is read like a list of rows, such as that of users. */
export interface SystemPage<T> {
  readonly data: readonly T[];
  readonly meta: Static<typeof systemListMeta>;
}

/** Makes the schema of a page of a list of the server's own. `item` is the schema of one of its items. */
export const systemPage = <T>(item: WireSchema<T>): WireSchema<SystemPage<T>> =>
  object({ data: list(item), meta: ref<SystemPage<T>["meta"]>("svc.systemList") });

const newestMeta = object({ limit: count, next_cursor: text }, "next_cursor");

/** A page of a list that is sorted from the newest entry to the oldest. */
export interface NewestPage<T> {
  readonly data: readonly T[];
  readonly meta: Static<typeof newestMeta>;
}

/** Makes the schema of a page of a list that is sorted from the newest entry to the oldest. */
export const newestPage = <T>(entry: WireSchema<T>): WireSchema<NewestPage<T>> =>
  object({ data: list(entry), meta: newestMeta });
