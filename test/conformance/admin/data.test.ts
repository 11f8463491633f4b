import { describe, expect, it } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
notes:
  history: 30d
  columns:
    id:      { type: integer, primary_key: true }
    owner:   { type: text, not_null: true }
    title:   { type: text }
    secret:  { type: text }
    by:      { type: text, managed: created_by }
    changed: { type: text, managed: updated_by }
    version: { type: integer, managed: version }
closed: { history: 30d, columns: { id: { type: text, primary_key: true }, note: { type: integer, references: { table: notes } } } }
`;
const config = `
[rules.notes]
read = "row.owner = auth.id"
create = "new.owner = auth.id"
history = "public"
[rules.notes.columns.secret]
read = "deny"
write = "deny"
`;

interface Served {
  readonly server: TestServer;
  readonly root: Client;
  readonly ada: Client;
}

async function served(): Promise<Served> {
  const server = await serve({ schema, config });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const ada = client(server, (await member(server, "ada")).bearer);
  return { server, root, ada };
}

const data = "/admin/api/data";

it("debug", async () => {
  const { server, root, ada } = await served();
  const made = await root.post(`${data}/notes`, { owner: "ada", title: "one", secret: "s" });
  console.log(made.status, made.text);
  console.log((await root.get(`${data}/notes`)).text);
  console.log((await ada.get(`${data}/notes`)).text);
  console.log((await client(server).get(`${data}/notes`)).text);
  console.log((await root.get(`${data}/notes`, { "Svc-As": "user:ada" })).text);
  console.log((await root.get(`${data}/notes/1`, { "Svc-As": "user:root" })).text);
  console.log((await root.get(`${data}/notes/1`, { "Svc-As": "user:no" })).text);
  console.log((await root.get(`${data}/notes/1`, { "Svc-As": "anonymous" })).text);
  console.log((await root.get(`${data}/notes/_svc/history`)).text);
  console.log((await root.post(`${data}/notes`, {}, { "Svc-As": "user:ada" })).text);
  for (const each of ["requests", "sessions", "outbox", "settings", "schema"]) {
    const answer = await root.get(`/admin/api/${each}`);
    console.log(each, answer.status, answer.text);
  }
});
