import { readJsonObject } from "../../http/body.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { isEmail } from "../email.js";

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The specification's credentials body (section 2); other fields are ignored. */
export async function readCredentials(
  request: Request,
  bodyBytesMax: number,
): Promise<Credentials | Refusal> {
  const body = await readJsonObject(request, bodyBytesMax);
  if (isRefusal(body)) return body;
  const { email, password } = body;
  if (typeof email !== "string" || !isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (typeof password !== "string") return badRequest("password: expected a string");
  return { email, password };
}
