// Read by `tsc` alone: each line that `@ts-expect-error` stands over must be an error.
import type { RxCollection } from "rxdb";
import { createClient, memoryStorage, type SvcError, type TokenUser } from "../../src/client/index.js";
import { createOutbox, type Outbox } from "../../src/client/outbox.js";
import { replicateSvc } from "../../src/client/rxdb.js";
import { svcCollectionOptions } from "../../src/client/tanstack-db.js";
import type { Json, Operations, Tables } from "./tables.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function same<A, B>(_: Equal<A, B>): void {}

const client = createClient<Tables>({ url: "https://api.example.com", storage: memoryStorage() });

export async function rows() {
  const notes = client.table("notes");
  const [note] = await notes.list();
  same<typeof note, Tables["notes"]["row"] | undefined>(true);
  same<Tables["notes"]["row"]["secret"], string | undefined>(true);
  same<Tables["notes"]["row"]["extra"], Json>(true);
  same<Tables["notes"]["row"]["rate"], number | null>(true);

  const { data, meta } = await notes.select({ select: ["id", "body"] });
  same<(typeof data)[number], { id: number; body: string }>(true);
  same<typeof meta.next_cursor, string | undefined>(true);
  for await (const page of notes.pages({ select: ["done"] })) same<(typeof page.data)[number], { done: boolean }>(true);

  await notes.list({ where: { body: "x" }, filter: { rate: { gte: 1, is_null: false } }, sort: "-rate" });
  await notes.list({
    filter: { id: { in: [1, 2] }, body: { contains: "x" } },
    sort: ["done", "-id"],
    limit: 1,
  });
  // @ts-expect-error: no such column
  await notes.list({ where: { nobody: "x" } });
  // @ts-expect-error: a column of another type
  await notes.list({ where: { id: "1" } });
  // @ts-expect-error: contains is for texts
  await notes.list({ filter: { id: { contains: "1" } } });
  // @ts-expect-error: no such operator
  await notes.list({ filter: { id: { like: 1 } } });
  // @ts-expect-error: no such column to sort by
  await notes.list({ sort: "-nobody" });
  // @ts-expect-error: no such column to select
  await notes.list({ select: ["nobody"] });

  const stop = notes.live({ where: { done: false }, sort: "-rate", limit: 3, select: ["id"] }, (live, { status }) => {
    same<(typeof live)[number]["id"], number>(true);
    same<keyof (typeof live)[number], "id" | "_pending">(true);
    same<typeof status, "stored" | "live" | "reconnecting" | "signed_out" | "refused">(true);
  });
  stop();
  // @ts-expect-error: no such column
  notes.live({ where: { nobody: "x" } }, () => {});
  // @ts-expect-error: a live list expands nothing
  notes.live({ expand: ["comments.note"] }, () => {});

  type Comment = Tables["comments"]["row"];
  const comments = client.table("comments");
  const expanded = await comments.list({
    select: ["id"],
    expand: ["note", "answers.note", "comments.answers"],
  });
  type Found = { note: Tables["notes"]["row"] | null; "answers.note": Tables["notes"]["row"] | null } & {
    "comments.answers": Comment[];
  };
  same<(typeof expanded)[number]["id"], number>(true);
  same<keyof (typeof expanded)[number], "id" | "_expand">(true);
  const inRow = expanded[0]!._expand satisfies Found;
  same<keyof typeof inRow, keyof Found>(true);
  same<(typeof inRow)["comments.answers"], Comment[]>(true);
  same<(typeof inRow)["answers.note"], Tables["notes"]["row"] | null>(true);
  const page = await notes.select({
    expand: { "comments.note": { select: ["id", "body"], sort: "-id", limit: 3, count: true } },
  });
  const [row] = page.data;
  same<NonNullable<typeof row>["_expand"]["comments.note"], { id: number; body: string }[]>(true);
  same<NonNullable<typeof row>["_count"]["comments.note"], number>(true);
  // @ts-expect-error: no such reference
  await comments.list({ expand: ["nobody"] });
  // @ts-expect-error: no such reference behind this one
  await comments.list({ expand: ["note.answers"] });
  // @ts-expect-error: no such column
  await comments.list({ expand: { note: { select: ["nobody"] } } });
  // @ts-expect-error: there is one row at most
  await comments.list({ expand: { note: { limit: 1 } } });
  // @ts-expect-error: nothing refers to it
  await client.table("pairs").list({ expand: ["comments.note"] });
  const [loose] = await untypedTable().list({ expand: ["any.thing"] });
  same<NonNullable<typeof loose>["_expand"]["any.thing"], unknown>(true);

  const created = await notes.create({ body: "x", extra: { any: ["thing", 1, null] } });
  same<typeof created, Tables["notes"]["row"]>(true);
  // @ts-expect-error: extra is needed
  await notes.create({ body: "x" });
  // @ts-expect-error: no such column
  await notes.create({ body: "x", extra: 1, nobody: 1 });
  await notes.update(1, { rate: null });
  // @ts-expect-error: a key does not change
  await notes.update(1, { id: 2 });
  // @ts-expect-error: not null
  await notes.update(1, { body: null });
  // @ts-expect-error: a key of another type
  await notes.get("1");

  const found = await notes.get(1, { withMeta: true });
  same<typeof found.data, Tables["notes"]["row"]>(true);
  same<typeof found.meta.rows_read, number | null | undefined>(true);
  same<Awaited<ReturnType<typeof plain>>, Tables["notes"]["row"]>(true);
}

export async function aggregates() {
  const notes = client.table("notes");
  const { data, meta } = await notes.aggregate({
    group: ["done", "secret"],
    count: ["*", "rate"],
    count_distinct: ["body"],
    sum: ["rate"],
    avg: ["id"],
    min: ["body"],
    max: ["rate"],
    where: { done: true },
    filter: { rate: { gt: 1 } },
    sort: ["-sum_rate", "done"],
    limit: 10,
  });
  same<
    (typeof data)[number],
    {
      done: boolean;
      secret: string;
      count: number;
      count_rate: number;
      count_distinct_body: number;
      sum_rate: number | string | null;
      avg_id: number | null;
      min_body: string | null;
      max_rate: number | null;
    }
  >(true);
  same<typeof meta.total, number | null>(true);
  for await (const page of notes.aggregatePages({ count: ["*"], sort: "-count" }))
    same<(typeof page.data)[number], { count: number }>(true);
  // @ts-expect-error: no such column
  await notes.aggregate({ count: ["nobody"] });
  // @ts-expect-error: a column without numbers
  await notes.aggregate({ sum: ["body"] });
  // @ts-expect-error: no such result
  await notes.aggregate({ count: ["*"], sort: "sum_rate" });
  // @ts-expect-error: a column of another type
  await notes.aggregate({ count: ["*"], where: { id: "1" } });
  const [row] = (await untypedTable().aggregate({ sum: ["n"], group: ["kind"] })).data;
  same<typeof row, { kind: unknown; sum_n: number | string | null } | undefined>(true);
}

const untypedTable = () => createClient({ url: "https://api.example.com" }).table("any");

const plain = () => client.table("notes").get(1);

export async function keys() {
  await client.table("members").get({ room: "a", since: 1 });
  // @ts-expect-error: the whole key
  await client.table("members").get({ room: "a" });
  await client.table("pairs").delete({ a: "1", b: "2" });
  // @ts-expect-error: a table without a key is only listed and added to
  await client.table("log").get(1);
  await client.table("log").create({ line: "x" });
  // @ts-expect-error: a virtual table is read-only
  await client.table("words").create({ word: "x" });
  // @ts-expect-error: no such table
  client.table("nobody");
}

export async function loose() {
  const [row] = await client.table<{ id: number; name: string }>("elsewhere").list({ where: { name: "x" } });
  same<typeof row, { id: number; name: string } | undefined>(true);
  const untyped = createClient({ url: "https://api.example.com", apiKey: "svc_sk_x" });
  await untyped.table<{ id: number }>("any").get({ id: 1 });
  same<Awaited<ReturnType<typeof anything>>, Record<string, unknown>>(true);
}

const anything = () => createClient({ url: "https://api.example.com" }).table("any").get("1");

export async function auth() {
  const { auth } = client;
  same<Awaited<ReturnType<typeof auth.login>>, TokenUser>(true);
  const registered = await auth.register({ email: "a@example.com", password: "secret" });
  if ("verification_required" in registered) same<typeof registered.verification_expires_in, number>(true);
  else same<typeof registered, TokenUser>(true);
  // @ts-expect-error: a provider that there is not
  await auth.oauth.authorize("myspace", "https://app.example.com/callback");
  const stop: () => void = auth.onChange((user) => same<typeof user, TokenUser | null>(true));
  stop();
}

export const isGone = (error: SvcError): boolean => error.status === 404;

export function fields(error: SvcError): void {
  same<typeof error.columns, readonly string[]>(true);
}

const withOperations = createClient<Tables, Operations>({ url: "https://api.example.com" });

export async function operations() {
  const { ops } = withOperations;
  const rated = await ops.rate({ note: 1, rate: null });
  same<typeof rated, { id: number; body: string; rate: number | null; why: Json }>(true);
  const bodies = await ops.bodies();
  same<typeof bodies, { body: string }[]>(true);
  same<Awaited<ReturnType<typeof ops.clear>>, null>(true);
  await ops.bodies({ like: "x" }, { signal: new AbortController().signal });
  // @ts-expect-error: a parameter is missing
  await ops.rate({ note: 1 });
  // @ts-expect-error: all are missing
  await ops.rate();
  // @ts-expect-error: no such parameter
  await ops.bodies({ unlike: "x" });
  // @ts-expect-error: another type
  await ops.bodies({ like: 1 });
  // @ts-expect-error: no such operation
  await ops.nobody();
  const untyped = createClient({ url: "https://api.example.com" }).ops.anything!({ a: 1 });
  same<Awaited<typeof untyped>, unknown>(true);
}

export async function writes() {
  const notes = client.table("notes");
  const created = await notes.create([{ body: "x", extra: 1 }]);
  same<typeof created, Tables["notes"]["row"][]>(true);
  const counted = await notes.create([{ body: "x", extra: 1 }], { withMeta: true });
  same<typeof counted.data, Tables["notes"]["row"][]>(true);
  // @ts-expect-error: extra is needed
  await notes.create([{ body: "x" }]);
  await notes.update(1, { rate: 1 }, { ifMatch: 7 });
  await notes.delete(1, { ifMatch: '"7"', withMeta: true });
  const written = await notes.upsert([{ body: "x", extra: 1 }], {
    onConflict: ["id"],
    onDuplicate: "update",
  });
  same<typeof written, Tables["notes"]["row"][]>(true);
  await notes.upsert([{ rate: 1 }], { onConflict: ["body"], onDuplicate: "update" });
  // @ts-expect-error: no such column
  await notes.upsert([{ nobody: 1 }], { onConflict: ["body"], onDuplicate: "update" });
  const kept = await notes.upsert([{ body: "x", extra: 1 }], { onConflict: ["id"], onDuplicate: "ignore" });
  same<typeof kept, (Tables["notes"]["row"] | null)[]>(true);
  const single = await notes.upsert({ body: "x", extra: 1 }, { onConflict: ["id"], onDuplicate: "update" });
  same<typeof single, Tables["notes"]["row"]>(true);
  const ignored = await notes.upsert({ body: "x", extra: 1 }, { onConflict: ["id"], onDuplicate: "ignore" });
  same<typeof ignored, Tables["notes"]["row"] | null>(true);
  // @ts-expect-error: no such column
  await notes.upsert([], { onConflict: ["nobody"], onDuplicate: "ignore" });
  // @ts-expect-error: what becomes of those that are there has to be said
  await notes.upsert([], { onConflict: ["id"] });

  const { data: versions } = await notes.history(1, { limit: 5 });
  same<(typeof versions)[number]["row"], Tables["notes"]["row"] | null>(true);
  const past = await notes.state({ at: versions[0]!.seq, select: ["id"], where: { body: "x" } });
  same<typeof past, Pick<Tables["notes"]["row"], "id">[]>(true);
  const restored = await notes.restore(1, versions[0]!.seq);
  same<typeof restored, Tables["notes"]["row"]>(true);
  // @ts-expect-error: the key of a pair has two columns
  await client.table("pairs").history(1);

  const [note, comment, pair] = await client.batch([
    { op: "create", table: "notes", values: { body: "x", extra: { any: "thing" } } },
    { op: "update", table: "comments", key: { id: 1 }, set: { note: { $ref: "0.id" } } },
    { op: "delete", table: "pairs", key: { a: "x", b: { $ref: "0.body" } } },
  ]);
  same<typeof note, Tables["notes"]["row"]>(true);
  same<typeof comment, Tables["comments"]["row"]>(true);
  same<typeof pair, Partial<Tables["pairs"]["row"]>>(true);
  // @ts-expect-error: no such table
  await client.batch([{ op: "delete", table: "nobody", key: { id: 1 } }]);
  // @ts-expect-error: a key is an object of its columns
  await client.batch([{ op: "delete", table: "notes", key: 1 }]);
  // @ts-expect-error: no such column
  await client.batch([{ op: "update", table: "notes", key: { id: 1 }, set: { nobody: 1 } }]);
  await client.batch([{ op: "update", table: "notes", key: { id: 1 }, set: { rate: 1 }, base: { rate: 2 } }]);
  // @ts-expect-error: a column of another type
  await client.batch([{ op: "update", table: "notes", key: { id: 1 }, set: { rate: 1 }, base: { rate: "2" } }]);
  // @ts-expect-error: rows without a key cannot be named
  await client.batch([{ op: "delete", table: "log", key: {} }]);
  const loose = await createClient({ url: "https://api.example.com" }).batch([
    { op: "create", table: "any", values: { any: "thing" } },
  ]);
  same<(typeof loose)[0], Record<string, unknown>>(true);

  const pushed = await client.push({
    client: "c",
    mutations: [
      {
        id: 1,
        operations: [{ op: "update", table: "notes", key: { id: 1 }, set: { rate: 1 }, base: { rate: 2 } }],
      },
    ],
  });
  same<typeof pushed.last_id, number>(true);
}

export async function outboxes() {
  const outbox = createOutbox(client, {
    onConflict: ({ fields, mutation }) => (fields.length > 0 ? mutation.operations : "discard"),
  });
  await outbox.create("notes", { body: "x", extra: 1 });
  await outbox.update("notes", { id: 1 }, { rate: 1 }, { rate: 2 });
  const { settled } = await outbox.delete("pairs", { a: "x", b: "y" });
  same<Awaited<typeof settled>["status"], "applied" | "duplicate" | "conflict" | "rejected">(true);
  // @ts-expect-error: no such column
  await outbox.update("notes", { id: 1 }, { nobody: 1 });
  // @ts-expect-error: a column of another type
  await outbox.delete("notes", { id: 1 }, { rate: "2" });
  // @ts-expect-error: no such table
  await outbox.create("nobody", {});
  await createOutbox(createClient({ url: "https://api.example.com" })).create("any", { any: "thing" });
}

/** A client with operations, too, is one for an outbox and for the adapters. */
export function clientsWithOperations(collection: RxCollection<Tables["notes"]["row"]>) {
  const outbox = createOutbox(withOperations);
  same<typeof outbox, Outbox<Tables>>(true);
  const named = createOutbox<Tables>(withOperations);
  same<typeof named, Outbox<Tables>>(true);
  const untyped = createOutbox(createClient<Record<never, never>, Operations>({ url: "https://api.example.com" }));
  same<typeof untyped, Outbox<Record<never, never>>>(true);
  svcCollectionOptions<Tables["notes"]["row"]>({ client: withOperations, table: "notes" });
  replicateSvc({ client: withOperations, collection, table: "notes", replicationIdentifier: "notes" });
}
