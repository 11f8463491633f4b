import { readAhead, readJsonObject, readText } from "../http/body.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { isEmail } from "./email.js";

/** Two passwords of 1024 bytes, escaped, and all that comes with them. */
const authBodyBytesMax = 16_384;

/** A body under /auth: small, as anybody may send one. */
export function readAuthBody(request: Request): Promise<Readonly<Record<string, unknown>> | Refusal> {
  return readJsonObject(request, authBodyBytesMax);
}

/**
 * Whether a body has no bytes. What a request declares does not tell: one of HTTP/1.1 without a length has no body (RFC 9112,
 * section 6.3), and runtimes make an empty stream of it.
 */
export async function isAuthBodyEmpty(request: Request): Promise<boolean> {
  await readAhead(request, authBodyBytesMax);
  return (await readText(request, authBodyBytesMax)) === "";
}

/** `email` alone; this reader and those below ignore other fields. */
export async function readEmail(request: Request): Promise<string | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { email } = body;
  return typeof email === "string" && isEmail(email) ? email : badEmail;
}

export interface EmailAndPassword {
  readonly email: string;
  readonly password: string;
}

/** The credentials of a login or a registration. */
export async function readEmailAndPassword(request: Request): Promise<EmailAndPassword | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { email, password } = body;
  if (typeof email !== "string" || !isEmail(email)) return badEmail;
  return typeof password === "string" ? { email, password } : badPassword;
}

/** `token` alone, of a link. */
export async function readToken(request: Request): Promise<string | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  return typeof body.token === "string" ? body.token : badToken;
}

export interface TokenAndPassword {
  readonly token: string;
  readonly password: string;
}

/** `token` of a link, and the password to set. */
export async function readTokenAndPassword(request: Request): Promise<TokenAndPassword | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { token, password } = body;
  if (typeof token !== "string") return badToken;
  return typeof password === "string" ? { token, password } : badPassword;
}

const badEmail = badRequest("email: expected local@domain.tld");
const badPassword = badRequest("password: expected a string");
const badToken = badRequest("token: expected a string");
