import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { linkLifetimeSeconds } from "../../src/auth/links/links.js";

const page = readFileSync("docs/reference/limits.md", "utf8");
const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

/** The number that one file of src gives the name. Files move, so that a part of its path is enough. */
function constant(within: string, name: string): number {
  const values = sources
    .filter((path) => path.includes(within))
    .flatMap((path) => [
      ...readFileSync(`src/${path}`, "utf8").matchAll(new RegExp(`\\b${name} = ([\\d_]+)`, "g")),
    ]);
  expect(values, `${name} in ${within}`).toHaveLength(1);
  return Number(values[0]![1]!.replaceAll("_", ""));
}

const limits: Readonly<Record<string, number>> = {
  "bytes of header lines together": constant("http-server.ts", "headerBytesMax"),
  "bytes of a body under `/auth`, the import of users excepted": constant("auth/body.ts", "authBodyBytesMax"),
  "seconds in which a request has to arrive, under Node": constant("http-server.ts", "arrivalSecondsMax"),
  "depth of nested JSON": constant("strict-json.ts", "depthMax"),
  "rows that [one request creates](http.md#several-at-once)": constant("write-requests.ts", "bulkRowsMax"),
  "operations of a [batch](http.md#batch)": constant("writes/batch.ts", "batchWritesMax"),
  "mutations of a [push](../sync.md#push)": constant("writes/push.ts", "mutationsMax"),
  "clients that push, for each caller": constant("writes/ledger.ts", "clientsMax"),
  "mutations of a client of which the results are known": constant("writes/ledger.ts", "resultsMax"),
  "bytes of an answer that is kept for a repetition": constant("kept-answers.ts", "keptBytesMax"),
  "statements of one transaction, on D1": constant("worker/d1.ts", "statementsMax"),
  "rows of a page": constant("tables/", "limitMax"),
  "rows of a page where `limit` is not given": constant("tables/", "limitDefault"),
  "values of `in`": constant("tables/", "inValuesMax"),
  "paths of `expand`": constant("plan/resolve-expansions.ts", "expansionsMax"),
  "references that a path of `expand` follows": constant("plan/resolve-expansions.ts", "stepsMax"),
  "rows of one path backwards inside of a row": constant("plan/resolve-expansions.ts", "innerLimitMax"),
  "`limit` times the limits inside of `expand`": constant("plan/resolve-expansions.ts", "innerRowsMax"),
  "characters of the rows of a page with `expand`": constant(
    "list/expanded-rows.ts",
    "expandedCharactersMax",
  ),
  "groups of an aggregate": constant("tables/", "groupColumnsMax"),
  "results of an aggregate": constant("tables/", "resultsMax"),
  "words of a `search`": constant("tables/", "searchWordsMax"),
  "characters of a `search`": constant("tables/", "searchCharactersMax"),
  "filters of a list": constant("tables/", "filtersMax"),
  "filters of a [list as JSON](http.md#lists-as-json)": constant("tables/", "bodyFiltersMax"),
  "depth of groups of filters": constant("tables/", "groupsMax"),
  "`offset` and `limit` together, in an order that no index yields": constant("tables/", "sortedPlacesMax"),
  "characters of a cursor": constant("tables/", "cursorLengthMax"),
  "seconds that a cursor lives": constant("tables/", "cursorLifetimeMs") / 1000,
  "bytes of a [preview](http.md#previews)": constant("tables/routes/permitted-request.ts", "previewMax"),
  "tables of a pull": constant("sync/", "tablesMax"),
  "changes of a page of a pull": constant("sync/", "limitMax"),
  "changes of a page where `limit` is not given": constant("sync/", "limitDefault"),
  "milliseconds that a pull waits": constant("sync/", "waitMsMax"),
  "entries of the log since a checkpoint": constant("sync/", "entriesMax"),
  "rows that changes may concern": constant("tables/sql/delta.ts", "candidatesMax"),
  "bytes of the request of a stream, or of a pull that waits": constant("sync/routes.ts", "waitingBytesMax"),
  "seconds between two comments of a stream": constant("sync/live.ts", "heartbeatMs") / 1000,
  "seconds that a stream lasts on a Worker": constant("sync/routes.ts", "streamMsMax") / 1000,
  "cost of the `contains` of a list": constant("tables/", "searchCostMax"),
  "steps of an [operation](operations.md)": constant("parse-operations.ts", "stepsMax"),
  "characters of a step's SQL": constant("sqlite/proof.ts", "lengthMax"),
  "parameters that a step uses, each as often as it is written": constant("sqlite/proof.ts", "parametersMax"),
  "rows that an operation answers with": constant("sql/operation.ts", "returnedRowsMax"),
  "long reads that wait": constant("libsql-long-work.ts", "waitingMax"),
  "long writes that wait": constant("long-writes.ts", "waitingMax"),
  "bytes of prepared statements of a connection, under Node": constant(
    "libsql-connection.ts",
    "statementsBytesMax",
  ),
  "bytes of the plans of lists": constant("tables/routes/remembered.ts", "listsBytesMax"),
  "characters of a shape (columns, filters and order), beyond which it is not kept": constant(
    "platform/memo.ts",
    "keyLengthMaxDefault",
  ),
  "characters of a statement, beyond which it is not kept": constant(
    "platform/memo.ts",
    "statementLengthMax",
  ),
  "[last requests](log.md#the-last-requests) that administrators see": constant(
    "log/recent-requests.ts",
    "recentMax",
  ),
  "columns of a table": constant("schema-problems.ts", "columnsMax"),
  "columns of a table's `search`": constant("schema-problems.ts", "searchColumnsMax"),
  "characters of a check, a default or an index's condition": constant("/fragment.ts", "lengthMax"),
  "characters of a rule": constant("rules/", "textLengthMax"),
  "depth of parentheses, `not` and `exists` in a rule": constant("rules/", "nestingMax"),
  "named conditions": constant("rules/", "conditionsMax"),
  "bytes of a password": constant("passwords.ts", "passwordBytesMax"),
  "bytes of an address": constant("email.ts", "emailBytesMax"),
  "users of an import": constant("import-users.ts", "usersMax"),
  "characters of an imported id": constant("import-users.ts", "idLengthMax"),
  "characters of an API key's name": constant("administration.ts", "nameLengthMax"),
  "seconds that a [session of the console](../console.md#sessions) lasts":
    constant("console-cookie.ts", "consoleSessionMs") / 1000,
  "seconds for which it stays confirmed": constant("auth/sessions/console-cookie.ts", "confirmedMs") / 1000,
  "seconds of the link that makes the first administrator":
    constant("auth/links/setup-link.ts", "lifetimeMs") / 1000,
  "sessions of one user": constant("store/sessions.ts", "sessionsMax"),
  "addresses from which a user is known to sign in": constant("store/throttle.ts", "knownAddressesMax"),
  "used refresh tokens of a session that are kept within the grace window": constant(
    "store/sessions.ts",
    "usedTokensMax",
  ),
  "passwords that wait to be hashed": constant("node/passwords/argon2.ts", "queueMax"),
  "of those places that each client address has for itself": constant(
    "node/passwords/hash-queue.ts",
    "ownPlaces",
  ),
  "seconds in which registrations, resent links, resets and changes of address from a client address are counted":
    constant("request-allowance.ts", "windowMs") / 1000,
  "bytes of a secret, at least": constant("environment.ts", "secretBytesMin"),
  "seconds of a link to confirm an address": linkLifetimeSeconds.email_verification,
  "seconds of an invitation": linkLifetimeSeconds.invitation,
  "seconds of a link to reset a password": linkLifetimeSeconds.password_reset,
  "seconds of a link to change an address": linkLifetimeSeconds.email_change,
  "seconds in which a sign-in proves whose an account without a password is":
    constant("as-owner.ts", "recentSignInMs") / 1000,
  "seconds in which a social sign-in has to come back": constant("state.ts", "stateLifetimeMs") / 1000,
  "seconds of the code of a social sign-in": constant("state.ts", "exchangeCodeLifetimeMs") / 1000,
  "mails that are sent at once": constant("mail/outbox.ts", "mailsInHandMax"),
  "seconds for which a mail is tried again": constant("mail/outbox.ts", "giveUpAfterMs") / 1000,
  "seconds for which it is kept what became of a mail":
    constant("auth/accounts/purge.ts", "mailKeepMs") / 1000,
  "seconds in which mails of a kind to one address are counted":
    constant("mail-allowance.ts", "mailWindowMs") / 1000,
  "links, sessions and tokens that have ended, removed of each kind in a minute":
    constant("auth/accounts/purge.ts", "rowsMax") * constant("auth/accounts/purge.ts", "roundsMax"),
  "counters of failed passwords and mails whose window has ended, removed in a minute":
    constant("auth/accounts/purge.ts", "rowsMax") * constant("auth/accounts/purge.ts", "counterRoundsMax"),
  "receipts that wait in memory while the journal does not work": constant(
    "recorder.ts",
    "waitingMaxDefault",
  ),
  "receipts of a block of the journal": constant("node/journal/", "blockSize"),
  "seconds in which requests may finish when the server stops":
    constant("node/listening.ts", "drainMs") / 1000,
  "seconds that a database file may be locked by another process":
    constant("node/database/libsql.ts", "lockWaitMs") / 1000,
  "seconds that a libSQL server may take to answer": constant("remote/libsql.ts", "deadlineMs") / 1000,
};

it("the page's numbers are those of the source", () => {
  const rows = page.matchAll(/^\| (.+?) \| (\d+) \|/gm);
  expect(Object.fromEntries([...rows].map(([, what, number]) => [what, Number(number)]))).toEqual(limits);
});

it("the sizes of answers on the page of backends are those of the source", () => {
  const backends = readFileSync("docs/reference/backends.md", "utf8");
  const [row] = /^\| Stored values in one answer.*$/m.exec(backends)!;
  const sizes = [...row.matchAll(/(\d+) bytes/g)].map(([, size]) => Number(size));
  const files = ["node/database/libsql.ts", "remote/libsql.ts", "worker/d1.ts"];
  expect(sizes).toEqual(files.map((file) => constant(file, "answerBytesMax")));
  const [image] = /^\| Size of a row in the \[log of changes\].*$/m.exec(backends)!;
  expect(image).toMatch(new RegExp(`\\| ${constant("worker/d1.ts", "imageBytesMax")} bytes \\|$`));
});
