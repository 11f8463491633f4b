import { emailBytesMax, emailShape } from "../auth/email.js";
import { passwordBytesMax } from "../auth/passwords.js";
import type { JsonSchema } from "./column-schema.js";

/** Lengths of a schema are characters, and those of the server bytes: no text of more characters fits. */
export const email: JsonSchema = {
  type: "string",
  pattern: emailShape.source,
  maxLength: emailBytesMax,
  description: `at most ${emailBytesMax} bytes of UTF-8`,
};

/** One that is presented: it may have been set under other settings, or elsewhere. */
export const presentedPassword: JsonSchema = {
  type: "string",
  maxLength: passwordBytesMax,
  description: `at most ${passwordBytesMax} bytes of UTF-8`,
};

/** One that is set. */
export function newPassword(minLength: number): JsonSchema {
  return { ...presentedPassword, minLength };
}

export const refreshToken: JsonSchema = { type: "string", pattern: "^svc_rt_[A-Za-z0-9_-]+$" };

/** 256 bits in base64url: the token of a link, a code, a challenge (RFC 7636, method S256). */
export const secret: JsonSchema = { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" };

/** Of an imported user: it becomes part of paths. */
export const userId: JsonSchema = {
  type: "string",
  pattern: "^[^\\s\\p{C}]+$",
  maxLength: 255,
  description: "at most 255 code units of UTF-16",
};

/** RFC 7636, section 4.1. */
export const codeVerifier: JsonSchema = { type: "string", pattern: "^[A-Za-z0-9._~-]{43,128}$" };
