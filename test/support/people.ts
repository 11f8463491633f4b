import { createAccessTokens } from "../../src/auth/access-token.js";
import { hashSecret } from "../../src/auth/api-key.js";
import { deriveBytes } from "../../src/encoding/secret-keys.js";
import type { Result, SqlValue } from "../../src/platform/database.js";
import { type SignedIn, type TestServer, testSecret } from "./server.js";

/** One statement on the server's database, from the side. */
export async function run(server: TestServer, sql: string, ...params: SqlValue[]): Promise<Result> {
  const [result] = await server.database.batch([{ sql, params }]);
  return result!;
}

export async function rowsOf(
  server: TestServer,
  sql: string,
  ...params: SqlValue[]
): Promise<Result["rows"]> {
  const [result] = await server.database.query([{ sql, params }]);
  return result!.rows;
}

export async function countOf(server: TestServer, table: string): Promise<number> {
  return (await rowsOf(server, `SELECT count(*) FROM ${table}`))[0]![0] as number;
}

const bytes = new TextEncoder();

/**
 * A user with a session, put straight into the database: for tests that are about something else than passwords, as
 * every hash costs a tenth of a second. Their id is the local part of the address.
 */
export async function member(
  server: TestServer,
  id: string,
  role: "user" | "admin" = "user",
): Promise<SignedIn> {
  const email = `${id}@example.com`;
  const now = BigInt(server.clock.now());
  const refreshToken = `svc_rt_${id}`;
  await run(
    server,
    "INSERT INTO _users (id, email, email_key, role, created_at) VALUES (?, ?, ?, ?, ?)",
    id,
    email,
    email,
    role,
    now,
  );
  await run(
    server,
    "INSERT INTO _sessions (id, user_id, created_at) VALUES (?, ?, ?)",
    `session of ${id}`,
    id,
    now,
  );
  await run(
    server,
    "INSERT INTO _refresh_tokens (hash, session_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
    await hashSecret(refreshToken),
    `session of ${id}`,
    now,
    now + 2_592_000_000n,
  );
  const tokens = createAccessTokens(await deriveBytes(bytes.encode(testSecret), "access token"));
  const accessToken = await tokens.issue(
    { userId: id, sessionId: `session of ${id}`, email, role },
    server.clock.now(),
    900,
  );
  return { id, accessToken, refreshToken, bearer: { Authorization: `Bearer ${accessToken}` } };
}
