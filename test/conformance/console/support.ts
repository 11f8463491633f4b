import { createUser } from "../../../src/auth/accounts/administration.js";
import { isRefusal } from "../../../src/http/refusal.js";
import { type Answer, type Client, client, dataOf } from "../../support/client.js";
import { serve, type TestServer } from "../../support/server.js";

export const schema = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }";

/** The server's own origin, unless `auth.public_base_url` names another. */
export const own = "http://127.0.0.1:8787";
export const ownPage = { Origin: own };

export const password = "correct horse battery";
export const root = { email: "root@example.com", password };

/** A user whose password is known. Returns their id. */
export async function userWith(server: TestServer, email: string, role: "user" | "admin"): Promise<string> {
  const user = { email, role, password, passwordLengthMin: 6, createdBy: "cli" };
  const made = await createUser(server.platform, user);
  if (isRefusal(made)) throw new Error(made.message);
  return made.id;
}

export async function withRoot(config = ""): Promise<{ server: TestServer; id: string }> {
  const server = await serve({ schema, config });
  return { server, id: await userWith(server, root.email, "admin") };
}

export interface SessionBody {
  readonly user: { readonly id: string; readonly email: string; readonly role: string };
  readonly expires_at: string;
  readonly confirmed_until: string;
}

/** Name and value of the one cookie that an answer sets. */
export function cookieOf(answer: Answer): string {
  const [text, ...others] = answer.headers.getSetCookie();
  if (text === undefined || others.length > 0) throw new Error(`not one cookie: ${answer.text}`);
  return text.split(";")[0]!;
}

export interface SignedIn {
  readonly cookie: string;
  readonly session: SessionBody;
  /** Requests as the console's page sends them. */
  readonly console: Client;
}

export async function signIn(server: TestServer, origin = own, as = root): Promise<SignedIn> {
  const answer = await client(server).post("/admin/api/session", as, { Origin: origin });
  const session = dataOf<SessionBody>(answer);
  const cookie = cookieOf(answer);
  return { cookie, session, console: client(server, { Cookie: cookie, Origin: origin }) };
}
