import { ref, type WireSchema } from "../wire/schema.js";
import { emailBytesMax, emailShape } from "./email.js";
import { passwordBytesMax } from "./passwords/passwords.js";

/**
 * The control and format characters of Unicode's first plane, for patterns that the regular expressions of every language
 * understand: `\p{Cc}` and `\p{Cf}` are none for Python. The server also refuses those of other planes.
 */
const hiddenCharacters =
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890-\\u0891\\u08e2\\u180e" +
  "\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb";

/**
 * The schema `svc.email` of the OpenAPI document: an email address. `maxLength` counts characters where the server counts bytes; it is right all the
 * same, as a text never has fewer bytes than characters.
 */
export const emailSchema: WireSchema<string> = {
  type: "string",
  pattern: emailShape.source.replaceAll("\\p{Cc}\\p{Cf}", hiddenCharacters),
  maxLength: emailBytesMax,
  description: `at most ${emailBytesMax} bytes of UTF-8`,
};

/** The schema of an email address. */
export const email = ref<string>("svc.email");

/**
 * The schema of a password to sign in with. It has no minimum length, because the password may have been set under
 * other settings or been imported.
 */
export const presentedPassword: WireSchema<string> = {
  type: "string",
  maxLength: passwordBytesMax,
  description: `at most ${passwordBytesMax} bytes of UTF-8`,
};

/** Makes the schema of a password that is being set. `minLength` is `auth.password_min_length`, in characters. */
export function newPassword(minLength: number): WireSchema<string> {
  return { ...presentedPassword, minLength };
}

/** The schema of a refresh token. */
export const refreshToken: WireSchema<string> = { type: "string", pattern: "^svc_rt_[A-Za-z0-9_-]+$" };

/**
 * The schema of 256 bits in base64url: the token of a mailed link, the code of a social sign-in, or a PKCE challenge
 * (RFC 7636, section 4.2).
 */
export const secret: WireSchema<string> = { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" };

/** The schema of an imported user's id. Its characters are restricted, because the id becomes a part of paths. */
export const userId: WireSchema<string> = {
  type: "string",
  pattern: `^[^\\s${hiddenCharacters}]+$`,
  maxLength: 255,
  description: "at most 255 code units of UTF-16",
};

/** The schema of a PKCE code verifier (RFC 7636, section 4.1). */
export const codeVerifier: WireSchema<string> = { type: "string", pattern: "^[A-Za-z0-9._~-]{43,128}$" };
