import { expect } from "vitest";
import { client, type ListMeta } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey, type TestServer } from "../../support/server.js";

/** As the server gives it: `[status, rows_read, rows_written, rows_returned]`, or `[status]` where there is no receipt. */
export type Outcome = readonly unknown[];

/** A request with what it must cost, written down in two lines. */
export interface Case {
  readonly name: string;
  readonly who: string;
  readonly method: string;
  readonly path: string;
  readonly page: number;
  readonly body: string | undefined;
  readonly outcome: Outcome;
  readonly why: string;
}

/**
 * The cases of a text, two lines each. The first is who asks (`key` bypasses rules, `admin` is one, `nobody` is not signed in,
 * others are users), the request, its body, and `page 2` for what the cursor of the first page leads to. The second is the status,
 * `rows_read`, `rows_written` and `rows_returned` (`?` is null, not known; `-` is no receipt), and how a person counts what is read.
 */
export function casesOf(text: string): readonly Case[] {
  const lines = text.trim().split("\n");
  return lines.flatMap((name, i) => (i % 2 === 0 ? [caseOf(name, lines[i + 1]!)] : []));
}

function caseOf(name: string, counted: string): Case {
  const [, who, method, path, page = 1, body] = /^(\w+) (\w+) (\S+)(?: page (\d))?(?: (\{.*\}))?$/.exec(name)!;
  const [, status, counts, why] = /^ {2}(\d+) {2}(\S+ \S+ \S+) {2}(.+)$/.exec(counted)!;
  return {
    name,
    who: who!,
    method: method!,
    path: path!,
    page: Number(page),
    body,
    outcome: [Number(status), ...counts!.split(" ").flatMap(countOf)],
    why: why!,
  };
}

/** Of a request that leaves no receipt, nothing. */
function countOf(text: string): readonly (number | null)[] {
  if (text === "-") return [];
  return [text === "?" ? null : Number(text)];
}

/** What asks that server for a case, and tells what came of it. Each request has a millisecond of its own, which finds its receipt. */
export function askerOf(server: TestServer): (one: Case) => Promise<Outcome> {
  const credentials = new Map<string, Readonly<Record<string, string>>>();
  const credentialOf = async (who: string) => {
    const credential = credentials.get(who) ?? (await signIn(server, who));
    credentials.set(who, credential);
    return credential;
  };
  return async ({ who, method, path, page, body }) => {
    const { send, get } = client(server, await credentialOf(who));
    const headers = { "Content-Type": "application/json" };
    server.clock.advance(1);
    let answer = await send(method, path, body === undefined ? {} : { headers, body });
    for (let at = 1; at < page; at++) {
      server.clock.advance(1);
      const { meta } = answer.body as { readonly meta: ListMeta };
      answer = await get(`${path.replace(/\?.*/, "")}?cursor=${meta.next_cursor}`);
    }
    const sql = `SELECT rows_read, rows_written, rows_returned FROM ${receiptRows} WHERE at = ?`;
    const [receipt = []] = await rowsOf(server, sql, BigInt(server.clock.now()));
    return [answer.status, ...receipt];
  };
}

/** Each case of the text, which only reads, costs what it says there; every one that does not is told. */
export async function expectOutcomes(server: TestServer, text: string): Promise<void> {
  const ask = askerOf(server);
  for (const one of casesOf(text)) expect.soft(await ask(one), `${one.name}: ${one.why}`).toEqual(one.outcome);
}

async function signIn(server: TestServer, who: string): Promise<Readonly<Record<string, string>>> {
  if (who === "nobody") return {};
  if (who === "key") return apiKey(server, "project:backend");
  return (await member(server, who, who === "admin" ? "admin" : "user")).bearer;
}
