import { describe } from "vitest";
import { openRemoteLibsql } from "../../src/remote/libsql.js";
import { sqldMissing, startSqld } from "../support/sqld.js";
import { databaseContract } from "./database.contract.js";

describe.skipIf(sqldMissing !== null)(`a libSQL server ${sqldMissing ?? ""}`, () => {
  databaseContract("libSQL over HTTP", async () => {
    const { url, stop } = await startSqld();
    return { database: openRemoteLibsql({ url, authToken: null, fetch }), dispose: stop };
  });
});
