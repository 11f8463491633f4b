import { describe, expect, it } from "vitest";
import type { Database } from "../../src/platform/database.js";
import { openRemoteLibsql } from "../../src/remote/libsql.js";
import { applyChange } from "../../src/schema/apply.js";
import { client, dataOf, expectRefusal } from "../support/client.js";
import { member } from "../support/people.js";
import { serve } from "../support/server.js";
import { sqldMissing, startSqld } from "../support/sqld.js";

const page = "https://app.example.com";
const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: `
auth.cookie_mode = true
cors.allowed_origins = ["${page}"]
rules.notes = { read = "authenticated", create = "authenticated" }
`,
};

/**
 * A server whose database is a libSQL server, and what to do to that. While it hangs, `isHanging`, its deadline is a second;
 * what has to succeed has ten minutes.
 */
async function serveRemotely() {
  const sqld = await startSqld();
  const at = { url: sqld.url, authToken: null, fetch };
  const patient = openRemoteLibsql({ ...at, deadlineMs: 600_000 });
  const hasty = openRemoteLibsql({ ...at, deadlineMs: 1_000 });
  await applyChange(patient, project.schema, { allowDestructive: false, now: 0 });
  const remote = { isHanging: false };
  const database = () => (remote.isHanging ? hasty : patient);
  const wrap = (): Database => ({
    ...patient,
    query: (...args) => database().query(...args),
    batch: (...args) => database().batch(...args),
    migrate: (...args) => database().migrate(...args),
    close: async () => void (await Promise.all([patient.close(), hasty.close()])),
  });
  return { server: await serve({ ...project, wrap }), sqld, remote };
}

describe.skipIf(sqldMissing !== null)(`a libSQL server that hangs ${sqldMissing ?? ""}`, () => {
  it("is 503 after its deadline, consumes nothing, and is used again once it answers", async () => {
    const { server, sqld, remote } = await serveRemotely();
    const ada = await member(server, "ada");
    const signedIn = client(server, { ...ada.bearer, Origin: page });
    const refresh = () => client(server).post("/auth/refresh", { refresh_token: ada.refreshToken });
    expect((await signedIn.post("/api/notes", {})).status).toBe(201);
    await sqld.hang();
    remote.isHanging = true;
    expectRefusal(await signedIn.get("/api/notes"), 503, "unavailable");
    expectRefusal(await signedIn.post("/api/notes", {}), 503, "outcome_unknown");
    const refused = await refresh();
    expectRefusal(refused, 503, "auth_unavailable");
    expect(refused.headers.get("Set-Cookie")).toBeNull();
    expectRefusal(await client(server).get("/health"), 503, "unavailable");
    await sqld.goOn();
    remote.isHanging = false;
    expect((await refresh()).status).toBe(200);
    // What was sent before the deadline may have been written, or not: never by half.
    expect(dataOf<unknown[]>(await signedIn.get("/api/notes")).length).toBeLessThan(3);
    await sqld.stop();
  });

  it("is 503 at once where nobody listens", async () => {
    const { server, sqld } = await serveRemotely();
    const ada = await member(server, "ada");
    await sqld.stop();
    expectRefusal(await client(server, ada.bearer).get("/api/notes"), 503, "unavailable");
    expectRefusal(
      await client(server).post("/auth/refresh", { refresh_token: ada.refreshToken }),
      503,
      "auth_unavailable",
    );
  });
});
