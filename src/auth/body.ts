import type { RequestBody } from "../http/body.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { isEmail } from "./email.js";

/**
 * How many bytes a body under /auth may have: room for two passwords of 1024 bytes with all characters escaped, and for
 * the other fields.
 */
const authBodyBytesMax = 16_384;

/**
 * Reads a JSON object from the body of a request under /auth. The size limit is small, because these endpoints are open
 * to everybody.
 */
export function readAuthBody(body: RequestBody): Promise<Readonly<Record<string, unknown>> | Refusal> {
  return body.jsonObject(authBodyBytesMax);
}

/**
 * Whether the body of a request under /auth has no bytes. The headers cannot tell: an HTTP/1.1 request without a
 * declared length has no body (RFC 9112, section 6.3), but runtimes give it an empty stream.
 */
export async function isAuthBodyEmpty(body: RequestBody): Promise<boolean> {
  return (await body.text(authBodyBytesMax)) === "";
}

/** Reads `email` from the body of a request under /auth, and ignores all other fields. */
export async function readEmail(sent: RequestBody): Promise<string | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { email } = body;
  return typeof email === "string" && isEmail(email) ? email : badEmail;
}

/**
 * The credentials in the body of a login or a registration. The address has a valid form; of the password only the type
 * was checked.
 */
export interface EmailAndPassword {
  readonly email: string;
  readonly password: string;
}

/** Reads `email` and `password` from the body of a login or a registration. */
export async function readEmailAndPassword(sent: RequestBody): Promise<EmailAndPassword | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { email, password } = body;
  if (typeof email !== "string" || !isEmail(email)) return badEmail;
  return typeof password === "string" ? { email, password } : badPassword;
}

/**
 * Reads `email` and `password` from the body of a request to change the address. The password may be left out, which
 * gives null.
 */
export async function readEmailAndOptionalPassword(
  sent: RequestBody,
): Promise<{ readonly email: string; readonly password: string | null } | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { email } = body;
  if (typeof email !== "string" || !isEmail(email)) return badEmail;
  const password = optionalPassword(body);
  return isRefusal(password) ? password : { email, password };
}

/** Reads `password` from the body of a request to delete one's account. It may be left out, which gives null. */
export async function readOptionalPassword(sent: RequestBody): Promise<string | null | Refusal> {
  const body = await readAuthBody(sent);
  return isRefusal(body) ? body : optionalPassword(body);
}

function optionalPassword({ password = null }: Readonly<Record<string, unknown>>): string | null | Refusal {
  return password === null || typeof password === "string" ? password : badPassword;
}

/** Reads `token`, the secret of a mailed link, from the body of a request. */
export async function readToken(sent: RequestBody): Promise<string | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  return typeof body.token === "string" ? body.token : badToken;
}

/** The secret of a mailed link, and the password to set with it. Of both only the type was checked. */
export interface TokenAndPassword {
  readonly token: string;
  readonly password: string;
}

/** Reads `token`, the secret of a mailed link, and `password`, the one to set, from the body of a request. */
export async function readTokenAndPassword(sent: RequestBody): Promise<TokenAndPassword | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { token, password } = body;
  if (typeof token !== "string") return badToken;
  return typeof password === "string" ? { token, password } : badPassword;
}

const badEmail = badRequest("email: expected local@domain.tld");
const badPassword = badRequest("password: expected a string");
const badToken = badRequest("token: expected a string");
