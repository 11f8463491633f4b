import { count, dateTime, milliseconds, nullOr, object, oneOf, type Static, text } from "./schema.js";

/** The schema of a request that the server has answered lately. */
export const answeredRequest = object({
  id: text,
  at: dateTime,
  method: text,
  route: text,
  status: count,
  ms: milliseconds,
  principal: nullOr(object({ kind: oneOf("anonymous", "user", "key"), id: nullOr(text) })),
  rows_read: nullOr(count),
  rows_written: nullOr(count),
  rows_returned: nullOr(count),
  rule: nullOr(text),
});
/** A request that the server has answered lately. */
export type AnsweredRequest = Static<typeof answeredRequest>;

/** The schema of what has answered the listed requests: one process of Node, or one isolate of a Worker. */
export const requestsMeta = object({ scope: oneOf("process", "isolate") });
/** What has answered the listed requests: one process of Node, or one isolate of a Worker. */
export type RequestsMeta = Static<typeof requestsMeta>;
