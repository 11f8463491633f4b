/** A project whose OpenAPI document the checks and generators of `generators.test.ts` take. */
export interface DocumentedProject {
  readonly name: string;
  readonly schema: string;
  readonly config: string;
  /** A table that a generated client lists. */
  readonly table: string;
  /** The database to serve, a file of another program, from which the schema is pulled. */
  readonly pulledFrom?: string;
}

const rooms = `
rooms:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true, references: { table: rooms, on_delete: cascade } }
    author_id: { type: text, references: { table: $users } }
    answers: { type: integer, references: { table: messages } }
    body: { type: text, not_null: true }
  indexes: [{ columns: [room_id] }, { columns: [answers] }]
`;
const public_ = `
[rules.rooms]
read = "public"
create = "public"
[rules.messages]
read = "authenticated"
[rules.messages.columns.body]
read = "auth.role = 'admin'"
`;

/** A project for each part of a document that depends on the project. */
export const documentedProjects: readonly DocumentedProject[] = [
  { name: "references", schema: rooms, config: public_, table: "messages" },
  { name: "history", schema: `$history: 30d\n${rooms}`, config: public_, table: "rooms" },
  {
    name: "search",
    schema: `
notes:
  columns:
    id: { type: text, primary_key: true }
    title: { type: text, not_null: true }
    body: { type: text }
  search: [title, body]
`,
    config: "",
    table: "notes",
  },
  {
    name: "operations",
    schema: `${rooms}
$operations:
  rooms:
    params: { like: { type: text, default: "" }, most: { type: integer, nullable: true, default: null } }
    allow: public
    steps: [{ sql: "select id, name from rooms where instr(name, :like) limit coalesce(:most, 10)", returns: many }]
  rename:
    params: { room: integer, name: { type: text, check: "name != ''" }, why: { type: json, nullable: true, default: null } }
    steps: [{ sql: "update rooms set name = :name where id = :room returning id, name, :why as why", returns: one, as: { why: json } }]
  clear:
    steps: [{ sql: "delete from messages" }]
`,
    config: public_,
    table: "rooms",
  },
  {
    name: "composite keys",
    schema: `$history: forever
members:
  primary_key: [room, user]
  columns:
    room: { type: integer, not_null: true }
    user: { type: text, not_null: true, references: { table: $users } }
    role: { type: text, not_null: true, default: member }
pairs:
  primary_key: [a, b]
  columns: { a: { type: integer, not_null: true }, b: { type: blob, not_null: true } }
`,
    config: "usage.enabled = false",
    table: "members",
  },
  {
    name: "managed columns",
    schema: `
tasks:
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text, not_null: true }
    made: { type: integer, not_null: true, managed: created_at }
    changed: { type: text, managed: updated_at }
    made_by: { type: text, managed: created_by, references: { table: $users, on_delete: set_null } }
    changed_by: { type: text, managed: updated_by }
    version: { type: integer, not_null: true, managed: version }
visits:
  columns:
    id: { type: integer, primary_key: true }
    at: { type: integer, managed: created_at }
`,
    config: "",
    table: "tasks",
  },
  {
    name: "checks and cookies",
    schema: `
orders:
  columns:
    id: { type: integer, primary_key: true }
    state: { type: text, not_null: true, default: open, check: "state in ('open', 'paid', 'sent')" }
    cents: { type: integer, not_null: true, check: "cents > 0" }
    code: { type: text, unique: true }
`,
    config: `
[auth]
cookie_mode = true
cookie_tokens_in_body = false
[cors]
allowed_origins = ["https://app.example.com"]
[api]
public_openapi = true
`,
    table: "orders",
  },
  {
    name: "types",
    schema: `$history: 1d
things:
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(16)))" } }
    n: { type: integer }
    rate: { type: real, not_null: true, default: 1.5 }
    open: { type: boolean, not_null: true, default: false }
    extra: { type: json }
    image: { type: blob }
log:
  strict: false
  columns: { line: { type: text }, n: { type: integer } }
old:
  strict: false
  columns: { id: { type: integer, primary_key: true }, n: { type: integer } }
`,
    config: "",
    table: "things",
  },
  {
    name: "names",
    // Names that are words of TypeScript and of Python, names of models that generators have anyway, names that are one
    // once they are written in another case, and names that only another table's models have.
    schema: `$history: 30d
${["Error", "record", "file", "response", "client", "map", "date", "object", "list", "svc", "live", "health"].map(idAndFrom).join("")}
${["roomMembers", "room_members", "room_members_part", "room_members_by_key", "svc_list", "svc_user", "list_rooms"].map(idAndFrom).join("")}
rooms:
  columns:
    id: { type: integer, primary_key: true }
    class: { type: text }
    from: { type: text }
    default: { type: text }
    None: { type: text }
    self: { type: integer, references: { table: rooms } }
    roomName: { type: text }
$operations:
  rooms: { allow: public, steps: [{ sql: "select id, roomName from rooms", returns: many }] }
  room_members: { params: { class: text, from: text }, steps: [{ sql: "delete from rooms where class = :class or roomName = :from" }] }
  pull: { steps: [{ sql: "delete from live" }] }
`,
    config: "",
    table: "rooms",
  },
  { name: "pulled", schema: "$history: 30d\n", config: "", table: "Track", pulledFrom: "test/data/chinook.sqlite" },
];

function idAndFrom(table: string): string {
  return `${table}: { columns: { id: { type: integer, primary_key: true }, from: { type: text } } }\n`;
}
