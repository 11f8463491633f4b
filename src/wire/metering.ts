import { constant, count, flag, nullOr, object, oneOf, type Static, text } from "./schema.js";

/** The members that metering adds to the `meta` of an answer. */
export const meteringMembers = {
  rows_read: nullOr(count),
  rows_written: nullOr(count),
  rows_returned: nullOr(count),
  metering: object(
    {
      version: constant(1),
      attempt_id: text,
      status: oneOf("recorded", "unrecorded"),
      summed: flag,
    },
    "summed",
  ),
};

/** How many rows a request has cost (`docs/reference/metering.md`): null if unknown, absent if metering is off. */
export type Metering = {
  readonly [Name in keyof typeof meteringMembers]?: Static<(typeof meteringMembers)[Name]>;
};
