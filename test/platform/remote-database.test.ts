import { describe, expect, it } from "vitest";
import { UnavailableError } from "../../src/platform/database.js";
import { openRemoteLibsql } from "../../src/remote/libsql.js";
import { sqldMissing, startSqld } from "../support/sqld.js";
import { databaseContract } from "./database.contract.js";

describe.skipIf(sqldMissing !== null)(`a libSQL server ${sqldMissing ?? ""}`, () => {
  databaseContract("libSQL over HTTP", async () => {
    const { url, stop } = await startSqld();
    // Two hundred batches at once wait for each other; the deadline is tested in test/faults.
    const options = { url, authToken: null, fetch, deadlineMs: 60_000 };
    return { database: openRemoteLibsql(options), dispose: stop };
  });
});

describe("a libSQL server that has too much to do", () => {
  it("is unavailable: a write is not sent twice", async () => {
    let requests = 0;
    const tooMany = async () => {
      requests++;
      return new Response(null, { status: 429 });
    };
    const at = { url: "https://database.example.com", authToken: null, fetch: tooMany };
    const database = openRemoteLibsql(at);
    const write = database.batch([{ sql: "DELETE FROM item", params: [] }]);
    await expect(write).rejects.toThrow(UnavailableError);
    expect(requests).toBe(1);
    await database.close();
  });
});
