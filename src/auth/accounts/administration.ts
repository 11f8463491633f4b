import { hashSecret } from "../../encoding/hash-secret.js";
import { parseInstant } from "../../encoding/instant.js";
import { badRequest, Refusal } from "../../http/refusal.js";
import { newId } from "../../platform/new-id.js";
import type { Platform } from "../../platform/platform.js";
import { run } from "../../platform/query.js";
import type { ApiKey } from "../../wire/keys.js";
import { apiKeyRandomBytes, newApiKey, parseKeyScope } from "../callers/api-key.js";
import { emailKey, isEmail } from "../email.js";
import { hashPassword, ownAddressProblem, passwordProblem } from "../passwords/passwords.js";
import { insertServiceKey, type ListedServiceKey } from "../store/service-keys.js";
import { insertUser } from "../store/users.js";

/**
 * The parts of the platform that creating users and API keys needs, whether that is asked for on the command line or
 * over HTTP.
 */
export type AdministrationPlatform = Pick<Platform, "database" | "clock" | "random" | "passwordHasher">;

/** A user to create. `role` is `user` or `admin`; anything else is refused. `passwordLengthMin` counts characters. */
export interface UserRequest {
  readonly email: string;
  readonly role: string;
  readonly password: string;
  readonly passwordLengthMin: number;
  /** Who creates the user: the text that `principalOf` makes of the caller, or `cli` for the command line. */
  readonly createdBy: string;
}

/**
 * Creates a user for an operator, whose word is taken that the address is the user's: it counts as verified. Refuses an
 * address or role that is not valid with `bad_request`, a password that is not good enough with `weak_password` or
 * `bad_request`, and an address that is registered already with `conflict`.
 */
export async function createUser(
  { database, clock, random, passwordHasher }: AdministrationPlatform,
  { email, role, password, passwordLengthMin, createdBy }: UserRequest,
): Promise<{ readonly id: string } | Refusal> {
  if (!isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (role !== "user" && role !== "admin") return badRequest("role: expected user or admin");
  const problem = passwordProblem(password, passwordLengthMin) ?? ownAddressProblem(password, email);
  if (problem !== null) return problem;
  const id = newId(random);
  const passwordHash = await hashPassword(passwordHasher, password);
  const user = {
    id,
    email,
    emailKey: emailKey(email),
    passwordHash,
    role,
    emailVerified: true,
    registrationUnconfirmed: false,
    createdAtMs: clock.now(),
    createdBy,
  } as const;
  const isStored = await run(database, insertUser(user));
  return isStored ? { id } : new Refusal("conflict", "the address is registered already");
}

/** An API key to create, with the scopes that `parseKeyScope` accepts (docs/reference/auth.md#api-keys). */
export interface ServiceKeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** When the key expires, in ISO 8601; null for a key that does not expire. */
  readonly expiresAt: string | null;
  /** Who creates the key: the text that `principalOf` makes of the caller, or `cli` for the command line. */
  readonly createdBy: string;
}

/** An API key that was created. */
export interface CreatedServiceKey {
  readonly id: string;
  /** The key itself, which is shown to its creator this once. The database stores only its hash. */
  readonly secret: string;
  readonly expiresAt: string | null;
  readonly warnings: readonly string[];
}

const nameLengthMax = 200;

/**
 * Creates an API key. Refuses a request that is not valid with `bad_request`. A legacy scope is accepted, but grants
 * nothing, and one of `warnings` says so.
 */
export async function createServiceKey(
  { database, clock, random }: AdministrationPlatform,
  { name, scopes, expiresAt, createdBy }: ServiceKeyRequest,
): Promise<CreatedServiceKey | Refusal> {
  if (name === "" || name.length > nameLengthMax) return badRequest(`name: expected 1 to ${nameLengthMax} characters`);
  if (scopes.length === 0) return badRequest("scopes: expected at least one");
  const parsed = scopes.map((text) => ({ text, scope: parseKeyScope(text) }));
  const unknown = parsed.find(({ scope }) => scope === null);
  if (unknown !== undefined)
    return badRequest(
      `scopes: ${JSON.stringify(unknown.text)} is none: resource:<table>:read, resource:<table>:write, operation:<name> or project:backend`,
    );
  const expiresAtMs = expiresAt === null ? null : parseInstant(expiresAt);
  if (expiresAt !== null && expiresAtMs === null) return badRequest("expires_at: expected ISO 8601 with a time zone");
  const id = newId(random);
  const secret = newApiKey(random.bytes(apiKeyRandomBytes));
  const hash = await hashSecret(secret);
  const createdAtMs = clock.now();
  await database.batch([insertServiceKey({ id, name, hash, scopes, createdAtMs, expiresAtMs, createdBy })]);
  const warnings = parsed
    .filter(({ scope }) => scope!.legacy)
    .map(({ text }) => `${text} is a legacy scope and grants nothing`);
  return {
    id,
    secret,
    warnings,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  };
}

/** Makes of a stored API key what the HTTP interface shows. */
export function serviceKeyOf(key: ListedServiceKey): ApiKey {
  const { id, name, scopes, createdAt, createdBy, expiresAt, revokedAt } = key;
  return {
    id,
    name,
    scopes,
    created_at: createdAt,
    created_by: createdBy,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  };
}
