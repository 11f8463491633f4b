import { count, dateTime, nullOr, object, oneOf, type Static, text } from "./schema.js";

/** The schema of a mail that the server has sent or is to send. */
export const listedMail = object(
  {
    id: text,
    purpose: text,
    to: text,
    created_at: dateTime,
    state: oneOf("waiting", "sent", "failed", "dropped"),
    attempts: count,
    next_attempt_at: nullOr(dateTime),
    ended_at: nullOr(dateTime),
    last_error: nullOr(text),
    link: nullOr(text),
  },
  "link",
);
/** A mail that the server sent or will send. `link` is shown only if mails are logged, not sent, as in development. */
export type ListedMail = Static<typeof listedMail>;
