import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { ConstraintError } from "../../platform/database.js";
import type { PasswordHasher } from "../../platform/platform.js";
import { ask } from "../../platform/query.js";
import { constant, count, data, flag, list, nullOr, object, openObject, text } from "../../wire/schema.js";
import { backendRefusal } from "../callers/backend-refusal.js";
import { longWorkFor, principalOf } from "../callers/principal.js";
import type { AuthContext, CallerRequest } from "../context.js";
import { emailKey, isEmail } from "../email.js";
import { type AuthEndpoint, bodyErrors, keys } from "../endpoint.js";
import { email, userId } from "../fields.js";
import { type ImportedUser, importUsers, usersAmong } from "../store/users.js";

const usersMax = 500;
const idLengthMax = 255;

/**
 * POST /auth/users/import, for a `project:backend` key: creates users with the ids and password hashes that they had
 * elsewhere, all of them or none (docs/reference/auth.md#importing-users). Nobody is mailed. A list with an
 * administrator is refused.
 */
export const importIdentitiesEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/users/import",
  summary: "Imports identities, all or none",
  callers: keys,
  takes: openObject({
    users: {
      ...list(
        object(
          {
            id: userId,
            email,
            role: constant("user"),
            email_verified: flag,
            disabled: flag,
            password_hash: nullOr(text),
          },
          "role",
          "email_verified",
          "disabled",
          "password_hash",
        ),
      ),
      minItems: 1,
      maxItems: 500,
    },
  }),
  answers: { 200: data(object({ imported: count })) },
  errors: [...bodyErrors, 401, 409],
  events: ["users_imported", null],
  needs: "caller first",
  handle: importIdentities,
};

async function importIdentities({ body: sent, context, caller }: CallerRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  const refusal = backendRefusal(caller);
  if (refusal !== null) return refusal;
  const body = await sent.jsonObject();
  if (isRefusal(body)) return body;
  const users = readUsers(body.users, platform.passwordHasher);
  if (isRefusal(users)) return users;
  const twice = [...repeated(users.map(({ id }) => id)), ...repeated(users.map((user) => user.emailKey))];
  if (twice.length > 0) return clash("twice in the list", twice);
  try {
    const statement = importUsers(users, platform.clock.now(), principalOf(caller));
    await platform.database.batch([statement], longWorkFor(caller, config.api));
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return clash("taken already", await takenAmong(platform.database, users));
  }
  return json({ data: { imported: users.length } });
}

function clash(what: string, which: readonly string[]): Refusal {
  return new Refusal("conflict", `nobody was imported; ${what}: ${which.join(", ")}`);
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(values.filter((value) => seen.has(value) || !seen.add(value)))];
}

async function takenAmong(
  database: AuthContext["platform"]["database"],
  users: readonly ImportedUser[],
): Promise<readonly string[]> {
  const among = usersAmong(
    users.map(({ id }) => id),
    users.map((user) => user.emailKey),
  );
  const found = await ask(database, among);
  const ids = new Set(found.map(({ id }) => id));
  const keys = new Set(found.map((user) => user.emailKey));
  return [
    ...users.filter(({ id }) => ids.has(id)).map(({ id }) => id),
    ...users.filter((user) => keys.has(user.emailKey)).map(({ email }) => email),
  ];
}

function readUsers(value: unknown, hasher: PasswordHasher): readonly ImportedUser[] | Refusal {
  if (!Array.isArray(value) || value.length < 1 || value.length > usersMax)
    return badRequest(`users: expected a list of 1 to ${usersMax}`);
  const users: ImportedUser[] = [];
  for (const [i, item] of value.entries()) {
    const user = readUser(item, hasher);
    if (typeof user === "string") return badRequest(`users[${i}]${user}`);
    if (isAdmin(item)) return new Refusal("forbidden", `users[${i}].role: an import makes no admins`);
    users.push(user);
  }
  return users;
}

const isAdmin = (item: unknown): boolean => (item as { readonly role?: unknown }).role === "admin";

const fields = new Set(["id", "email", "role", "email_verified", "disabled", "password_hash"]);

/**
 * Reads an imported user from an item of the body. Returns a text that says what is wrong where the item is not valid.
 * Values are never converted to another type.
 */
function readUser(item: unknown, hasher: PasswordHasher): ImportedUser | string {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return ": expected an object";
  const unknown = Object.keys(item).find((field) => !fields.has(field));
  if (unknown !== undefined) return `: unknown field ${JSON.stringify(unknown)}`;
  const source = item as Record<string, unknown>;
  const { id, email, role = "user", email_verified = false, disabled = false, password_hash = null } = source;
  if (typeof id !== "string" || !isId(id)) return `.id: expected 1 to ${idLengthMax} visible characters`;
  if (typeof email !== "string" || !isEmail(email)) return ".email: expected local@domain.tld";
  if (role !== "user" && role !== "admin") return ".role: expected user or admin";
  if (typeof email_verified !== "boolean") return ".email_verified: expected true or false";
  if (typeof disabled !== "boolean") return ".disabled: expected true or false";
  if (password_hash !== null && !isUsable(password_hash, hasher))
    return ".password_hash: expected argon2id (PHC, at most 64 MiB and 10 passes) or bcrypt (cost at most 14)";
  return {
    id,
    email,
    emailKey: emailKey(email),
    role: "user",
    emailVerified: email_verified,
    disabled,
    passwordHash: password_hash,
  };
}

/**
 * Whether a text is allowed as the id of an imported user. Ids are restricted because they become part of paths and of
 * access tokens.
 */
function isId(text: string): boolean {
  return text.length <= idLengthMax && /^[^\s\p{C}]+$/u.test(text);
}

function isUsable(hash: unknown, hasher: PasswordHasher): hash is string {
  return typeof hash === "string" && hasher.standing(hash) !== "unusable";
}
