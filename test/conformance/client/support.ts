import { Browser, type BrowserOptions } from "../../support/browser.js";
import { serve, type TestServer } from "../../support/server.js";

export const credentials = { email: "ada@example.com", password: "correct horse" };

export interface Note {
  readonly id: number;
  readonly body: string;
  readonly stars: number | null;
}

interface Member {
  readonly room: string;
  readonly user: string;
  readonly since: number;
}

interface Task {
  readonly id: number;
  readonly title: string | null;
  readonly version: number;
}

/** As `svc gen types` would write them. */
export interface Tables {
  notes: {
    row: Note;
    create: { id?: number; body: string; stars?: number | null };
    update: { body?: string; stars?: number | null };
    key: number | { id: number };
    references: { "comments.note": ["comments"] };
  };
  comments: {
    row: { readonly id: number; readonly note: number | null };
    create: { id?: number; note?: number | null };
    update: { note?: number | null };
    key: number | { id: number };
    references: { note: "notes" };
  };
  guests: {
    row: { readonly id: number; readonly name: string };
    create: { name: string };
    update: { name?: string };
    key: number;
  };
  tasks: {
    row: Task;
    create: { id?: number; title: string };
    update: { title?: string };
    key: number | { id: number };
  };
  members: {
    row: Member;
    create: Member;
    update: { since?: number };
    key: { room: string; user: string };
  };
}

const schema = `
notes:
  columns:
    id:    { type: integer, primary_key: true }
    body:  { type: text, not_null: true }
    stars: { type: integer }
  search: [body]
members:
  history: forever
  primary_key: [room, user]
  columns:
    room:  { type: text, not_null: true }
    user:  { type: text, not_null: true }
    since: { type: integer, not_null: true }
guests:
  columns:
    id:   { type: integer, primary_key: true }
    name: { type: text, not_null: true }
tasks:
  history: forever
  columns:
    id:      { type: integer, primary_key: true }
    title:   { type: text, unique: true }
    version: { type: integer, managed: version }
comments:
  columns:
    id:   { type: integer, primary_key: true }
    note: { type: integer, references: { table: notes } }
  indexes: [{ columns: [note] }]
`;

const all = ["read", "create", "update", "delete"].map((action) => `${action} = "authenticated"`).join("\n");

const config = (tokensInBody: boolean) => `
[auth]
cookie_mode = true
cookie_tokens_in_body = ${tokensInBody}
[api]
scan_limit = 100
[cors]
allowed_origins = ["https://app.example.com"]
[rules.notes]
${all}
[rules.members]
history = "authenticated"
${all}
[rules.tasks]
history = "authenticated"
${all}
[rules.guests]
read = "public"
create = "public"
[rules.comments]
${all}
`;

export type { BrowserOptions };

/** Pages that leave their tokens to cookies find them nowhere else. */
export async function browse(
  options: BrowserOptions = {},
): Promise<{ readonly server: TestServer; readonly browser: Browser }> {
  const server = await serve({ schema, config: config(options.session !== "cookie") });
  return { server, browser: new Browser(server, options) };
}

export const accessTokenMs = 900_000;
