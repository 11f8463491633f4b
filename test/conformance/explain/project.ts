import type { Explanation } from "../../../src/wire/explanation.js";
import { type Client, client, dataOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";

export const schema = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer, not_null: true, references: { table: rooms } }
    user_id: { type: text, not_null: true }
    level: { type: integer, not_null: true, default: 1 }
  indexes: [{ columns: [user_id] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true, references: { table: rooms } }
    author_id: { type: text, not_null: true }
    body: { type: text, check: "length(body) < 100" }
    note: { type: text }
    token: { type: text, unique: true, default: { sql: "hex(randomblob(8))" } }
    kind: { type: text, default: plain }
    changed_at: { type: integer, managed: updated_at }
    version: { type: integer, managed: version }
  indexes: [{ columns: [room_id] }]
  history: 30d
  triggers:
    no_empty: "before update on messages when new.body = '' begin select raise(abort, 'say something'); end"
replies:
  columns:
    id: { type: integer, primary_key: true }
    message_id: { type: integer, references: { table: messages, on_delete: cascade } }
    author_id: { type: text }
`;

export const config = `usage.enabled = false

[conditions]
"member(room)" = "exists(members m where m.room_id = room and m.user_id = auth.id)"

[rules.messages]
read = "auth.role = 'admin' or member(row.room_id)"
create = """
new.author_id = auth.id
  and member(new.room_id)"""
update = "row.author_id = auth.id and new.room_id = old.room_id"
delete = """row.author_id = auth.id and (row.body not in ('', 'x') or row.note is null)"""
history = "authenticated"

[rules.messages.columns.note]
read = "auth.role = 'admin'"
write = "auth.role = 'admin'"

[rules.replies]
read = "row.author_id = auth.id"
`;

/** What the tests of this folder ask of. */
export interface World {
  readonly server: TestServer;
  /** An administrator. */
  readonly root: Client;
  readonly ada: Client;
  explain(question: unknown): Promise<Explanation>;
}

export async function newWorld(more = ""): Promise<World> {
  const server = await serve({ schema, config: more + config });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const ada = client(server, (await member(server, "ada")).bearer);
  await run(server, "INSERT INTO rooms VALUES (1, 'ada'), (2, 'bob')");
  await run(server, "INSERT INTO members VALUES (1, 'ada', 1), (2, 'bob', 1)");
  await run(
    server,
    `INSERT INTO messages (id, room_id, author_id, body, note) VALUES
      (1, 1, 'ada', 'hi', NULL), (2, 2, 'ada', NULL, 'n'), (3, 2, 'bob', 'x', NULL)`,
  );
  await run(server, "INSERT INTO replies VALUES (1, 1, 'ada'), (2, 1, 'bob'), (3, 1, NULL)");
  const explain = async (question: unknown) => dataOf<Explanation>(await root.post("/admin/api/explain", question));
  return { server, root, ada, explain };
}
