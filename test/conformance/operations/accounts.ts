import { type Client, client } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { serve, type TestProject, type TestServer } from "../../support/server.js";

/** Accounts whose changes are logged, and operations on them of every kind. */
export const accountsSchema = `
accounts:
  history: forever
  columns:
    id:       { type: text, primary_key: true }
    owner_id: { type: text, not_null: true }
    cents:    { type: integer, not_null: true, check: "cents >= 0" }
    note:     { type: text }
entries:
  columns:
    id:      { type: integer, primary_key: true }
    account: { type: text, not_null: true, references: { table: accounts, on_delete: cascade } }
    cents:   { type: integer, not_null: true }
    big:     { type: integer }
    open:    { type: boolean }
    more:    { type: json }
    bytes:   { type: blob }
    ratio:   { type: real }
$operations:
  transfer:
    params: { from: text, to: text, cents: { type: integer, check: "cents > 0" } }
    allow: "exists(accounts a where a.id = params.from and a.owner_id = auth.id)"
    steps:
      - { sql: "update accounts set cents = cents - :cents where id = :from and cents >= :cents", expect: 1, else: conflict }
      - { sql: "update accounts set cents = cents + :cents where id = :to", expect: 1, else: not_found }
      - { sql: "select id, cents from accounts where id = :from", returns: one }
`;

export interface Accounts {
  readonly server: TestServer;
  readonly ada: Client;
  readonly nobody: Client;
}

/** Two accounts of Ada's with 100 cents each, and one of Bob's. `operations` are further ones. */
export async function serveAccounts(
  operations = "",
  more: Partial<TestProject> = {},
  before = accountsSchema,
): Promise<Accounts> {
  const schema = before + operations;
  const server = await serve({ schema, config: '[rules.accounts]\nread = "public"', ...more });
  for (const [id, owner] of [
    ["a1", "ada"],
    ["a2", "ada"],
    ["b1", "bob"],
  ] as const)
    await run(server, "INSERT INTO accounts (id, owner_id, cents) VALUES (?, ?, 100)", id, owner);
  return { server, ada: client(server, (await member(server, "ada")).bearer), nobody: client(server) };
}

/** What the accounts hold, by their ids. */
export async function centsOf({ server }: Accounts): Promise<Record<string, unknown>> {
  const [result] = await server.database.query([{ sql: "SELECT id, cents FROM accounts ORDER BY id", params: [] }]);
  return Object.fromEntries(result!.rows.map(([id, cents]) => [id as string, cents]));
}
