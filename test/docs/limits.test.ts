import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { linkLifetimeSeconds } from "../../src/auth/links/links.js";

const page = readFileSync("docs/reference/limits.md", "utf8");
const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

/** The number that one file of src gives the name. Files move, so that a part of its path is enough. */
function constant(within: string, name: string): number {
  const values = sources
    .filter((path) => path.includes(within))
    .flatMap((path) => [...readFileSync(`src/${path}`, "utf8").matchAll(new RegExp(`\\b${name} = ([\\d_]+)`, "g"))]);
  expect(values, `${name} in ${within}`).toHaveLength(1);
  return Number(values[0]![1]!.replaceAll("_", ""));
}

const limits: Readonly<Record<string, number>> = {
  "size of all header lines, in bytes": constant("http-server.ts", "headerBytesMax"),
  "size of a body under `/auth`, except for the import of users, in bytes": constant(
    "auth/body.ts",
    "authBodyBytesMax",
  ),
  "time for a request to arrive, under Node, in seconds": constant("http-server.ts", "arrivalSecondsMax"),
  "size of a body without credentials at `pull`, `query`, QUERY and `batch`, in bytes": constant(
    "tables/routes/api-request.ts",
    "anonymousBytesMax",
  ),
  "nesting depth of JSON": constant("strict-json.ts", "depthMax"),
  "values and keys in a JSON body": constant("strict-json.ts", "partsMax"),
  "rows that [one request](http.md#create-several-rows) creates": constant("write-requests.ts", "bulkRowsMax"),
  "operations in a [batch](http.md#batch)": constant("writes/batch.ts", "batchWritesMax"),
  "mutations in a [push](../sync.md#push)": constant("writes/push.ts", "mutationsMax"),
  "clients of one caller that push": constant("writes/ledger.ts", "clientsMax"),
  "latest mutations of a client whose results are stored": constant("writes/ledger.ts", "resultsMax"),
  "size of a response that is [stored for repetition](http.md#idempotency), in bytes": constant(
    "kept-answers.ts",
    "keptBytesMax",
  ),
  "statements in one transaction, on D1": constant("worker/d1.ts", "statementsMax"),
  "rows on a page": constant("tables/", "limitMax"),
  "rows on a page without `limit`": constant("tables/", "limitDefault"),
  "values of an `in`": constant("tables/", "inValuesMax"),
  "values of all `in` and `not_in` of a request": constant("tables/", "listedValuesMax"),
  "paths in `expand`": constant("plan/resolve-expansions.ts", "expansionsMax"),
  "references along one path of `expand`": constant("plan/resolve-expansions.ts", "stepsMax"),
  "rows that a backward path of `expand` adds to a row": constant("plan/resolve-expansions.ts", "innerLimitMax"),
  "`limit` multiplied by the sum of the limits in `expand`": constant("plan/resolve-expansions.ts", "innerRowsMax"),
  "columns in `group` of an aggregate": constant("tables/", "groupColumnsMax"),
  "results of an aggregate": constant("tables/", "resultsMax"),
  "words in a `search`": constant("tables/", "searchWordsMax"),
  "characters in a `search`": constant("tables/", "searchCharactersMax"),
  "filters in a list": constant("tables/", "filtersMax"),
  "filters in a [list as JSON](http.md#lists-as-json)": constant("tables/", "bodyFiltersMax"),
  "nesting depth of filter groups": constant("tables/", "groupsMax"),
  "`offset` plus `limit`, in an order that no index yields": constant("tables/", "sortedPlacesMax"),
  "length of a cursor, in characters": constant("tables/", "cursorLengthMax"),
  "lifetime of a cursor, in seconds": constant("tables/", "cursorLifetimeMs") / 1000,
  "size of a [preview](http.md#previews), in bytes": constant("tables/routes/permitted-request.ts", "previewMax"),
  "[members](../sync.md#members) in a pull": constant("sync/", "membersMax"),
  "changes on a page of a pull": constant("sync/", "limitMax"),
  "changes on a page without `limit`": constant("sync/", "limitDefault"),
  "time that a pull waits, in milliseconds": constant("sync/", "waitMsMax"),
  "log entries since a checkpoint": constant("sync/", "entriesMax"),
  "rows that these entries may affect": constant("tables/sql/delta.ts", "candidatesMax"),
  "size of the request of a stream or of a waiting pull, in bytes": constant("sync/routes.ts", "waitingBytesMax"),
  "time between two comments in a stream, in seconds": constant("sync/live.ts", "heartbeatMs") / 1000,
  "duration of a stream on a Worker, in seconds": constant("sync/routes.ts", "streamMsMax") / 1000,
  "cost of all `contains` filters of a request": constant("tables/", "searchCostMax"),
  "steps in an [operation](operations.md)": constant("parse-operations.ts", "stepsMax"),
  "length of a step's SQL, in characters": constant("sqlite/proof.ts", "lengthMax"),
  "uses of parameters in a step": constant("sqlite/proof.ts", "parametersMax"),
  "rows that an operation returns": constant("sql/operation.ts", "returnedRowsMax"),
  "size of a value that a step [makes](operations.md#what-a-step-may-do), in bytes": constant(
    "sqlite/bounded-expressions.ts",
    "valueBytesMax",
  ),
  "long reads that wait": constant("libsql-long-work.ts", "waitingMax"),
  "long writes that wait": constant("long-writes.ts", "waitingMax"),
  "prepared statements of a connection, under Node, in bytes": constant("libsql-connection.ts", "statementsBytesMax"),
  "plans of lists, in bytes": constant("tables/routes/remembered.ts", "listsBytesMax"),
  "length of a cached shape (columns, filters and order), in characters": constant(
    "platform/memo.ts",
    "keyLengthMaxDefault",
  ),
  "length of a cached statement, in characters": constant("platform/memo.ts", "statementLengthMax"),
  "[last requests](log.md#the-last-requests) that a process keeps": constant("log/recent-requests.ts", "recentMax"),
  "columns in a table": constant("schema-problems.ts", "columnsMax"),
  "columns in the `search` of a table": constant("schema-problems.ts", "searchColumnsMax"),
  "length of a check, a default or an index's condition, in characters": constant("/fragment.ts", "lengthMax"),
  "length of a rule, in characters": constant("rules/", "textLengthMax"),
  "nesting depth of parentheses, `not` and `exists` in a rule": constant("rules/", "nestingMax"),
  "named conditions": constant("rules/", "conditionsMax"),
  "size of a password, in bytes": constant("passwords.ts", "passwordBytesMax"),
  "size of an address, in bytes": constant("email.ts", "emailBytesMax"),
  "users in an import": constant("import-users.ts", "usersMax"),
  "length of an imported id, in characters": constant("import-users.ts", "idLengthMax"),
  "length of an API key's name, in characters": constant("administration.ts", "nameLengthMax"),
  "lifetime of a [session of the console](../console.md#sessions), in seconds":
    constant("console-cookie.ts", "consoleSessionMs") / 1000,
  "time for which the password confirms that session, in seconds":
    constant("auth/sessions/console-cookie.ts", "confirmedMs") / 1000,
  "lifetime of the [setup link](../console.md#create-the-first-administrator), in seconds":
    constant("auth/links/setup-link.ts", "lifetimeMs") / 1000,
  "sessions of one user": constant("store/sessions.ts", "sessionsMax"),
  "client addresses from which a user is known to sign in": constant("store/throttle.ts", "knownAddressesMax"),
  "used refresh tokens that a session keeps within the grace window": constant(
    "store/refresh-tokens.ts",
    "usedTokensMax",
  ),
  "passwords waiting to be hashed": constant("node/passwords/argon2.ts", "queueMax"),
  "places in this queue that are reserved for each client address": constant(
    "node/passwords/hash-queue.ts",
    "ownPlaces",
  ),
  "window for registrations, resent links, resets and changes of address from one client address, in seconds":
    constant("request-allowance.ts", "windowMs") / 1000,
  "minimum size of a secret, in bytes": constant("environment.ts", "secretBytesMin"),
  "lifetime of a link to confirm an address, in seconds": linkLifetimeSeconds.email_verification,
  "lifetime of an invitation, in seconds": linkLifetimeSeconds.invitation,
  "lifetime of a link to reset a password, in seconds": linkLifetimeSeconds.password_reset,
  "lifetime of a link to change an address, in seconds": linkLifetimeSeconds.email_change,
  "time after a sign-in in which an account without a password needs no further proof, in seconds":
    constant("as-owner.ts", "recentSignInMs") / 1000,
  "time for a user to return from a sign-in provider, in seconds": constant("state.ts", "stateLifetimeMs") / 1000,
  "lifetime of the code of a social sign-in, in seconds": constant("state.ts", "exchangeCodeLifetimeMs") / 1000,
  "mails sent at the same time": constant("mail/outbox.ts", "mailsInHandMax"),
  "time for which a mail is retried, in seconds": constant("mail/outbox.ts", "giveUpAfterMs") / 1000,
  "time for which the outcome of a mail is kept, in seconds": constant("auth/accounts/purge.ts", "mailKeepMs") / 1000,
  "window for mails of one kind to one address, in seconds": constant("mail-allowance.ts", "mailWindowMs") / 1000,
  "expired links, sessions and tokens removed per minute, of each kind":
    constant("auth/accounts/purge.ts", "rowsMax") * constant("auth/accounts/purge.ts", "roundsMax"),
  "expired counters of failed passwords and mails removed per minute":
    constant("auth/accounts/purge.ts", "rowsMax") * constant("auth/accounts/purge.ts", "counterRoundsMax"),
  "receipts waiting in memory while the journal does not work": constant("recorder.ts", "waitingMaxDefault"),
  "receipts in a block of the journal": constant("node/journal/", "blockSize"),
  "time for requests to finish when the server stops, in seconds":
    constant("node/server/listening.ts", "drainMs") / 1000,
  "time for which another process may lock the database file, in seconds":
    constant("node/database/libsql.ts", "lockWaitMs") / 1000,
  "time for a libSQL server to respond, in seconds": constant("remote/libsql.ts", "deadlineMs") / 1000,
};

it("the page's numbers are those of the source", () => {
  const rows = page.matchAll(/^\| (.+?) \| (\d+) \|/gm);
  expect(Object.fromEntries([...rows].map(([, what, number]) => [what, Number(number)]))).toEqual(limits);
});

it("the sizes of responses on the page of backends are those of the source", () => {
  const backends = readFileSync("docs/reference/backends.md", "utf8");
  const [row] = /^\| Stored values in one response.*$/m.exec(backends)!;
  const sizes = [...row.matchAll(/(\d+) bytes/g)].map(([, size]) => Number(size));
  const files = ["node/database/libsql.ts", "remote/libsql.ts", "worker/d1.ts"];
  expect(sizes).toEqual(files.map((file) => constant(file, "answerBytesMax")));
  const [image] = /^\| Size of a row in the \[change log\].*$/m.exec(backends)!;
  expect(image).toMatch(new RegExp(`\\| ${constant("worker/d1.ts", "imageBytesMax")} bytes \\|$`));
});
