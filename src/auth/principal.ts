import type { AuthValues } from "../rules/ast.js";

/** Who is calling, after the session or the key was found alive. */
export type Caller =
  | { readonly kind: "anonymous" }
  | {
      readonly kind: "user";
      readonly id: string;
      readonly email: string;
      readonly role: string;
      readonly sessionId: string;
    }
  | { readonly kind: "key"; readonly id: string; readonly scopes: readonly string[] };

export const anonymous: Caller = { kind: "anonymous" };

/** One text for each principal, to which cursors are bound. */
export function principalOf(caller: Caller): string {
  return caller.kind === "anonymous" ? caller.kind : `${caller.kind}:${caller.id}`;
}

/** `auth` as rules see it. A key is judged by its scopes alone, so to a rule it is nobody. */
export function authValues(caller: Caller): AuthValues {
  return caller.kind === "user"
    ? { id: caller.id, email: caller.email, role: caller.role }
    : { id: null, email: null, role: null };
}

/** Whether a key with these scopes may use a table. The legacy scopes `*` and `operations:*` grant nothing. */
export function permits(scopes: readonly string[], table: string, access: "read" | "write"): boolean {
  return scopes.includes("project:backend") || scopes.includes(`resource:${table}:${access}`);
}
