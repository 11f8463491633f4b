import { describe } from "vitest";
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
