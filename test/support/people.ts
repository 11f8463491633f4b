import { SignJWT } from "jose";
import { familyOf, newRefreshToken, refreshTokenRandomBytes } from "../../src/auth/sessions/refresh-rotation.js";
import { openSession } from "../../src/auth/store/sessions.js";
import { insertUser, userWithPassword } from "../../src/auth/store/users.js";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { deriveBytes } from "../../src/encoding/secret-keys.js";
import type { Result, SqlValue } from "../../src/platform/database.js";
import { type SignedIn, type TestServer, testSecret } from "./server.js";

/** One statement on the server's database, from the side. */
export async function run(server: TestServer, sql: string, ...params: SqlValue[]): Promise<Result> {
  const [result] = await server.database.batch([{ sql, params }]);
  return result!;
}

export async function rowsOf(server: TestServer, sql: string, ...params: SqlValue[]): Promise<Result["rows"]> {
  const [result] = await server.database.query([{ sql, params }]);
  return result!.rows;
}

export async function countOf(server: TestServer, table: string): Promise<number> {
  return (await rowsOf(server, `SELECT count(*) FROM ${table}`))[0]![0] as number;
}

export interface Forgery {
  readonly secret?: string;
  readonly algorithm?: string;
  readonly type?: string;
  readonly issuer?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Seconds from the server's now. */
  readonly lifetimeSeconds?: number;
}

/** An access token as the server would sign it, but for what the forgery changes. */
export async function accessTokenOf(server: TestServer, id: string, forgery: Forgery = {}): Promise<string> {
  const secret = new TextEncoder().encode(forgery.secret ?? testSecret);
  const issuedAt = Math.floor(server.clock.now() / 1000);
  const claims = { sid: sessionOf(id), email: `${id}@example.com`, role: "user", ...forgery.claims };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: forgery.algorithm ?? "HS256", typ: forgery.type ?? "at+jwt" })
    .setIssuer(forgery.issuer ?? "svc")
    .setSubject(id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + (forgery.lifetimeSeconds ?? 900))
    .setJti(`token of ${id}`)
    .sign(await deriveBytes(secret, "access token"));
}

const sessionOf = (id: string) => `session of ${id}`;

/**
 * A user with a session, put straight into the database: for tests that are about something else than passwords, as
 * every hash costs a tenth of a second. Their id is the local part of the address, and no password is theirs.
 */
export async function member(server: TestServer, id: string, role: "user" | "admin" = "user"): Promise<SignedIn> {
  const email = `${id}@example.com`;
  const now = server.clock.now();
  const refreshToken = newRefreshToken(crypto.getRandomValues(new Uint8Array(refreshTokenRandomBytes)));
  const passwordHash = "none";
  await server.database.batch([
    ...insertUser({
      id,
      email,
      emailKey: email,
      passwordHash,
      role,
      emailVerified: false,
      registrationUnconfirmed: false,
      createdAtMs: now,
      createdBy: null,
    }).statements,
    ...openSession(
      {
        id: sessionOf(id),
        refreshTokenHash: await hashSecret(refreshToken),
        familyHash: await hashSecret(familyOf(refreshToken)!),
        now,
        refreshExpiresAtMs: now + 2_592_000_000,
      },
      userWithPassword(id, passwordHash),
    ).statements,
  ]);
  const accessToken = await accessTokenOf(server, id, { claims: { role } });
  return { id, accessToken, refreshToken, bearer: { Authorization: `Bearer ${accessToken}` } };
}
