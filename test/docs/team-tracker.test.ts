import { expect, test } from "vitest";
import { type Client, client, dataOf } from "../support/client.js";
import { member } from "../support/people.js";
import { serve } from "../support/server.js";
import { blocksOf, projectUnder } from "./pages.js";

const page = "docs/guides/team-tracker.md";

/** The values that the page calls by a name in angle brackets, such as `<team>`: each is bound by the first answer that shows it. */
type Names = Map<string, unknown>;

test("the requests of the page are answered as it shows", async () => {
  const server = await serve(projectUnder(page, "The project"), "app");
  const people = new Map<string, Client>();
  for (const id of ["ada", "mia", "cleo"]) {
    people.set(id, client(server, (await member(server, id)).bearer));
    dataOf(await people.get(id)!.post("/api/profiles", { id, name: id }));
  }
  const names: Names = new Map();
  const blocks = blocksOf(page).filter(({ language }) => language === "http" || language === "json");
  expect(blocks.length % 2).toBe(0);
  for (let i = 0; i < blocks.length; i += 2) {
    const [asked, shown] = [blocks[i]!, blocks[i + 1]!];
    expect([asked.language, shown.language]).toEqual(["http", "json"]);
    const { method, path, by, headers, body } = requestOf(asked.text, names);
    server.clock.advance(1_000);
    const answer = await people.get(by)!.send(method, path, { headers, ...(body !== "" && { body }) });
    const expected: unknown = JSON.parse(shown.text);
    bind(expected, answer.body, names);
    expect(answer.body, asked.text).toMatchObject(named(expected, names) as object);
  }
  expect([...names.keys()]).toEqual(["team", "project", "version", "third", "second", "first"]);
});

/** A request as the page writes it: a line, headers, and a body after an empty line. */
function requestOf(text: string, names: Names) {
  const [head = "", body = ""] = text.trimEnd().split("\n\n");
  const filled = (part: string) => part.replace(/<(\w+)>/g, (whole, name) => String(names.get(name) ?? whole));
  const [line = "", ...lines] = head.split("\n");
  const [method = "", path = ""] = filled(line).split(" ");
  const all = new Map(lines.map((each) => each.split(": ") as [string, string]));
  const by = /^Bearer <(\w+)>$/.exec(all.get("Authorization") ?? "")?.[1] ?? "";
  all.delete("Authorization");
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  for (const [name, value] of all) headers[name] = filled(value);
  return { method, path, by, headers, body: filled(body) };
}

/** Binds the names of `expected` that have no value yet to what the answer has in their place. */
function bind(expected: unknown, answered: unknown, names: Names): void {
  const name = nameIn(expected);
  if (name !== null && !names.has(name)) names.set(name, answered);
  if (typeof expected !== "object" || expected === null) return;
  for (const [member, value] of Object.entries(expected))
    bind(value, (answered as Record<string, unknown> | undefined)?.[member], names);
}

/** `expected` with the values in the places of their names. */
function named(expected: unknown, names: Names): unknown {
  const name = nameIn(expected);
  if (name !== null) return names.get(name);
  if (Array.isArray(expected)) return expected.map((each) => named(each, names));
  if (typeof expected !== "object" || expected === null) return expected;
  return Object.fromEntries(Object.entries(expected).map(([member, value]) => [member, named(value, names)]));
}

const nameIn = (value: unknown): string | null =>
  typeof value === "string" ? (/^<(\w+)>$/.exec(value)?.[1] ?? null) : null;
