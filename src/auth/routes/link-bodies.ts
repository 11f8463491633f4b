import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { readAuthBody } from "../body.js";
import { isEmail } from "../email.js";

/** `email` alone; other fields are ignored. */
export async function readEmail(request: Request): Promise<string | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { email } = body;
  return typeof email === "string" && isEmail(email) ? email : badRequest("email: expected local@domain.tld");
}

/** `token` alone. */
export async function readToken(request: Request): Promise<string | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  return typeof body.token === "string" ? body.token : badRequest("token: expected a string");
}

export interface TokenAndPassword {
  readonly token: string;
  readonly password: string;
}

/** `token` and the password to set. */
export async function readTokenAndPassword(request: Request): Promise<TokenAndPassword | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { token, password } = body;
  if (typeof token !== "string") return badRequest("token: expected a string");
  if (typeof password !== "string") return badRequest("password: expected a string");
  return { token, password };
}
