import { list, nullOr, object, type Static, text } from "./schema.js";

const members = { id: text, name: text, scopes: list(text), expires_at: nullOr(text) };
const listed = { ...members, created_at: text, created_by: nullOr(text), revoked_at: nullOr(text) };

/** The schema of an API key in a list, or of those of its members that the list selects. */
export const someApiKey = object(listed, ...(Object.keys(listed) as (keyof typeof listed)[]));
/** An API key in a list that selects nothing: without its secret. */
export type ApiKey = Required<Static<typeof someApiKey>>;

/** The schema of an API key that was just made, with its secret as `key`. */
export const madeApiKey = object({ ...members, key: text });
/** An API key that was just made, with its secret as `key`. */
export type MadeApiKey = Static<typeof madeApiKey>;
