import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { readAuthBody } from "../body.js";
import { isEmail } from "../email.js";

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The specification's credentials body (section 2); other fields are ignored. */
export async function readCredentials(request: Request): Promise<Credentials | Refusal> {
  const body = await readAuthBody(request);
  if (isRefusal(body)) return body;
  const { email, password } = body;
  if (typeof email !== "string" || !isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (typeof password !== "string") return badRequest("password: expected a string");
  return { email, password };
}
