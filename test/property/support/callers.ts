import type { AuthValues } from "../../../src/rules/ast.js";
import { member, run } from "../../support/people.js";
import { apiKey, type TestServer } from "../../support/server.js";
import { nobody } from "./evaluate.js";

/** Who asks. A key has no `auth`: it bypasses rules. */
export interface Caller {
  readonly name: string;
  readonly auth: AuthValues | null;
  readonly headers: Readonly<Record<string, string>>;
}

export const anonymous: Caller = { name: "anonymous", auth: nobody, headers: {} };

export async function makeKey(server: TestServer): Promise<Caller> {
  return { name: "key", auth: null, headers: await apiKey(server, "project:backend") };
}

/** Two users and an admin. */
export async function makeUsers(server: TestServer): Promise<readonly Caller[]> {
  const users: Caller[] = [];
  for (const [name, role] of [
    ["ada", "user"],
    ["bob", "user"],
    ["root", "admin"],
  ] as const) {
    const { id, bearer } = await member(server, name, role);
    const email_verified = name !== "bob";
    if (email_verified) await run(server, "UPDATE _users SET email_verified = 1 WHERE id = ?", id);
    users.push({
      name,
      auth: { id, email: `${name}@example.com`, email_verified, role },
      headers: { ...bearer },
    });
  }
  return users;
}

/** The callers' rows in `$users`, as rules see them. */
export function usersOf(callers: readonly Caller[]): readonly { readonly id: string; readonly role: string | null }[] {
  return callers.flatMap(({ auth }) => (auth?.id ? [{ id: auth.id, role: auth.role }] : []));
}
