import { toHex } from "../encoding/hex.js";
import { parseInstant } from "../encoding/instant.js";
import { badRequest, Refusal } from "../http/refusal.js";
import type { Result } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import { apiKeyRandomBytes, hashSecret, newApiKey, parseKeyScope } from "./api-key.js";
import { emailKey, isEmail } from "./email.js";
import { ownAddressProblem, passwordProblem } from "./passwords.js";
import { insertServiceKey } from "./store/service-keys.js";
import { insertUser } from "./store/users.js";

/** The parts of the platform that are needed to create users and API keys, from the command line or over HTTP. */
export type AdministrationPlatform = Pick<Platform, "database" | "clock" | "random" | "passwordHasher">;

/** A user to create. `role` is `user` or `admin`; anything else is refused. `passwordLengthMin` counts characters. */
export interface UserRequest {
  readonly email: string;
  readonly role: string;
  readonly password: string;
  readonly passwordLengthMin: number;
  /** Who creates the user: `principalOf` the caller, or `cli`. */
  readonly createdBy: string;
}

/**
 * Creates a user on behalf of an operator, who vouches for the address, so that it counts as verified. Refuses with
 * `bad_request` or `weak_password` what is not valid, and with `conflict` an address that is registered already.
 */
export async function createUser(
  { database, clock, random, passwordHasher }: AdministrationPlatform,
  { email, role, password, passwordLengthMin, createdBy }: UserRequest,
): Promise<{ readonly id: string } | Refusal> {
  if (!isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (role !== "user" && role !== "admin") return badRequest("role: expected user or admin");
  const problem = passwordProblem(password, passwordLengthMin) ?? ownAddressProblem(password, email);
  if (problem !== null) return problem;
  const id = toHex(random.bytes(16));
  const passwordHash = await passwordHasher.hash(password);
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
  const [inserted] = await database.batch([insertUser(user)]);
  return inserted!.rows.length === 0 ? new Refusal("conflict", "the address is registered already") : { id };
}

/** An API key to create, with the scopes that `parseKeyScope` accepts (docs/reference/auth.md#api-keys). */
export interface ServiceKeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** When the key expires, in ISO 8601; null for a key that does not expire. */
  readonly expiresAt: string | null;
  /** Who creates the key: `principalOf` the caller, or `cli`. */
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
 * Creates an API key. A legacy scope is accepted, with a warning that it grants nothing. Refuses with `bad_request` a
 * request that is not valid.
 */
export async function createServiceKey(
  { database, clock, random }: AdministrationPlatform,
  { name, scopes, expiresAt, createdBy }: ServiceKeyRequest,
): Promise<CreatedServiceKey | Refusal> {
  if (name === "" || name.length > nameLengthMax)
    return badRequest(`name: expected 1 to ${nameLengthMax} characters`);
  if (scopes.length === 0) return badRequest("scopes: expected at least one");
  const parsed = scopes.map((text) => ({ text, scope: parseKeyScope(text) }));
  const unknown = parsed.find(({ scope }) => scope === null);
  if (unknown !== undefined)
    return badRequest(
      `scopes: ${JSON.stringify(unknown.text)} is none: resource:<table>:read, resource:<table>:write, operation:<name> or project:backend`,
    );
  const expiresAtMs = expiresAt === null ? null : parseInstant(expiresAt);
  if (expiresAt !== null && expiresAtMs === null)
    return badRequest("expires_at: expected ISO 8601 with a time zone");
  const id = toHex(random.bytes(16));
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

/** A row of `listServiceKeys` as an object with the field names of the HTTP interface. */
export function serviceKeyOf(row: Result["rows"][number]) {
  const [id, name, scopes, createdAt, expiresAt, revokedAt, createdBy] = row;
  return {
    id,
    name,
    scopes: JSON.parse(scopes as string) as string[],
    created_at: createdAt,
    created_by: createdBy,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  };
}
