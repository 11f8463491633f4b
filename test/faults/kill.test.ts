import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { apiKeyRandomBytes, newApiKey } from "../../src/auth/callers/api-key.js";
import { insertServiceKey } from "../../src/auth/store/service-keys.js";
import { hashSecret } from "../../src/encoding/hash-secret.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { systemRandom } from "../../src/node/system.js";
import type { Database, Statement } from "../../src/platform/database.js";
import { Random } from "../property/support/random.js";
import { figure, median } from "../support/figures.js";
import { patiently } from "../support/patience.js";
import type { SpawnedServer } from "../support/spawned-server.js";
import { type Asked, ask, start } from "./killed-server.js";

/**
 * A server that is killed again and again while users write, refresh, log out and log in. What was acknowledged is there
 * after the restart; what got no answer has happened as a whole, or not at all. `npm run test:faults` runs fifty rounds.
 */
const rounds = Number(process.env.ROUNDS ?? 2);
const writerCount = 8;
const seed = Random.seedOfRun();
const random = new Random(seed);
vi.setConfig({ testTimeout: 900_000 + 10 * rounds * 10_000 });

const schema = `
notes:
  columns:
    id:       { type: text, primary_key: true }
    owner_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    body:     { type: text, not_null: true }
    copy:     { type: text, not_null: true }
history:
  columns:
    id:      { type: integer, primary_key: true }
    note_id: { type: text, not_null: true }
    body:    { type: text }
heaps:
  columns: { id: { type: text, primary_key: true } }
grains:
  columns:
    id:      { type: integer, primary_key: true }
    heap_id: { type: text, not_null: true, references: { table: heaps, on_delete: cascade } }
    label:   { type: text }
  indexes: [{ columns: [heap_id] }]
`;
const grainsOfHeap = 20_000;

// The grace window is longer than anything that keeps the test waiting. A login that is killed counts as a failed one.
const config = `
[database]
synchronous = "full"
[auth]
allow_insecure_dev_secret = true
dev_secret = "a secret of the fault tests, 32 bytes"
refresh_token_rotation_grace_secs = 300
[api]
deadline_ms = 300
key_deadline_ms = 300
[auth.throttle]
max_failures = 100000
max_failures_per_address = 100000
max_failures_per_account = 100000
[rules.notes]
read = "row.owner_id = auth.id"
create = "new.owner_id = auth.id"
update = "row.owner_id = auth.id"
delete = "row.owner_id = auth.id"
[rules.grains]
read = "exists(grains g where g.label = row.label and g.id != row.id)"
`;

/** Every change of a note is a row of the history, too, written by the same statement. */
const triggers = [
  "CREATE TRIGGER created AFTER INSERT ON notes BEGIN INSERT INTO history (note_id, body) VALUES (new.id, new.body); END",
  "CREATE TRIGGER changed AFTER UPDATE ON notes BEGIN INSERT INTO history (note_id, body) VALUES (new.id, new.body); END",
  `CREATE TRIGGER heaped AFTER INSERT ON heaps BEGIN
    INSERT INTO grains (heap_id, label)
    SELECT new.id, hex(randomblob(8)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${grainsOfHeap}) SELECT i FROM n);
  END`,
  "CREATE TRIGGER deleted AFTER DELETE ON notes BEGIN INSERT INTO history (note_id, body) VALUES (old.id, NULL); END",
];

const password = "correct horse battery staple";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Session extends Tokens {
  /** The refresh token whose successor this session's is; null before the first refresh. */
  readonly predecessor: string | null;
}

/** What a note said, change by change; null where it was deleted. */
type Story = readonly (string | null)[];

interface Operation {
  readonly request: Asked;
  /** Of the only answer there may be. */
  readonly status: number;
  /** What it does to a note. */
  readonly change?: { readonly id: string; readonly body: string | null };
  readonly endsSession?: boolean;
  /** Takes down what the answer says. */
  acknowledge(data: unknown): void;
}

/** A user who does one thing after the other, and what they have been told. */
class Writer {
  readonly #random: Random;
  readonly #credentials: { readonly email: string; readonly password: string };
  #id = "";
  #changes = 0;
  session: Session | null = null;
  readonly stories = new Map<string, Story>();
  /** Sessions that were logged out. */
  ended: Session[] = [];
  /** The last operation, where it got no answer. */
  inDoubt: Operation | null = null;
  acknowledged = 0;

  constructor(
    readonly name: string,
    seedOfWriter: number,
  ) {
    this.#random = new Random(seedOfWriter);
    this.#credentials = { email: `${name}@example.com`, password };
  }

  /** Works until the server is killed, and throws where it refuses anything. */
  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const operation = this.#choose();
      if (await this.perform(url, operation)) continue;
      if (!isKilled()) throw new Error(`${this.name}: ${operation.request.path} gets no answer`);
      this.inDoubt = operation;
    }
  }

  /** Whether there was an answer. */
  async perform(url: string, { request, status, acknowledge }: Operation): Promise<boolean> {
    const answer = await ask(url, request);
    if (answer === null) return false;
    if (answer.status !== status)
      throw new Error(`${this.name}: ${request.method} ${request.path} is answered ${answer.status}`);
    acknowledge(answer.data);
    this.acknowledged++;
    return true;
  }

  register(): Operation {
    return this.#signIn("/auth/register", 201);
  }

  login(): Operation {
    return this.#signIn("/auth/login", 200);
  }

  #signIn(path: string, status: number): Operation {
    return {
      request: { method: "POST", path, body: this.#credentials },
      status,
      acknowledge: (data) => {
        const { user, ...tokens } = data as Tokens & { user: { id: string } };
        this.#id = user.id;
        this.session = { ...tokens, predecessor: null };
      },
    };
  }

  #choose(): Operation {
    if (this.session === null) return this.login();
    const turn = this.#random.next();
    if (turn < 0.03) return this.#logout(this.session);
    if (turn < 0.2) return this.#refresh(this.session);
    return this.#changeNote(this.session);
  }

  #refresh({ refresh_token }: Session): Operation {
    return {
      request: { method: "POST", path: "/auth/refresh", body: { refresh_token } },
      status: 200,
      acknowledge: (data) => {
        this.session = { ...(data as Tokens), predecessor: refresh_token };
      },
    };
  }

  #logout(session: Session): Operation {
    const { refresh_token } = session;
    return {
      request: { method: "POST", path: "/auth/logout", body: { refresh_token } },
      status: 200,
      endsSession: true,
      acknowledge: () => this.endSession(session),
    };
  }

  endSession(session: Session): void {
    this.ended.push(session);
    this.session = null;
  }

  #changeNote({ access_token: token }: Session): Operation {
    const present = [...this.stories].filter(([, story]) => story.at(-1) !== null).map(([id]) => id);
    const text = `${this.name} says ${this.#changes}`;
    const written = { body: text, copy: text };
    if (present.length === 0 || (present.length < 40 && this.#random.chance(0.4))) {
      const id = `${this.name}-${this.#changes++}`;
      const body = { id, owner_id: this.#id, ...written };
      return this.#change({ method: "POST", path: "/api/notes", body, token }, 201, id, text);
    }
    this.#changes++;
    const id = this.#random.pick(present);
    const path = `/api/notes/${id}`;
    return this.#random.chance(0.6)
      ? this.#change({ method: "PATCH", path, body: written, token }, 200, id, text)
      : this.#change({ method: "DELETE", path, token }, 200, id, null);
  }

  #change(request: Asked, status: number, id: string, body: string | null): Operation {
    const acknowledge = () => {
      this.stories.set(id, [...(this.stories.get(id) ?? []), body]);
    };
    return { request, status, change: { id, body }, acknowledge };
  }
}

/**
 * Somebody whose reads and writes take long, and are interrupted at the deadline as often as not. They have many keys,
 * because after an interrupted write the next long one of the same key is refused for a while.
 */
class Heaper {
  readonly #keys = Array.from({ length: 40 }, () => newApiKey(systemRandom.bytes(apiKeyRandomBytes)));
  #lastId = 0;
  /** What is known of each heap; null where no answer came. */
  readonly #isThere = new Map<string, boolean | null>();
  finished = 0;
  interrupted = 0;

  async work(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const id = `h${++this.#lastId}`;
      await this.#do(url, { method: "POST", path: "/api/heaps", body: { id } }, id, true);
      await this.#do(url, { method: "DELETE", path: `/api/heaps/${id}` }, id, false);
    }
  }

  /** The statements that store the keys. */
  keyStatements(): Promise<readonly Statement[]> {
    const [scopes, createdBy, expiresAtMs] = [["resource:heaps:write"], "cli", null];
    return Promise.all(
      this.#keys.map(async (key, i) => {
        const hash = await hashSecret(key);
        return insertServiceKey({
          id: `k${i}`,
          name: "h",
          hash,
          scopes,
          createdAtMs: 0,
          expiresAtMs,
          createdBy,
        });
      }),
    );
  }

  async #do(url: string, request: Asked, id: string, isThereAfter: boolean): Promise<void> {
    const isThereBefore = this.#isThere.get(id) ?? false;
    const token = this.#keys.shift()!;
    this.#keys.push(token);
    const answer = await ask(url, { ...request, token });
    if (answer === null) this.#isThere.set(id, null);
    else if (answer.status === 503) this.interrupted++;
    else if (answer.status < 300) {
      this.finished++;
      this.#isThere.set(id, isThereAfter);
    } else if (isThereBefore !== isThereAfter && answer.status !== 404)
      throw new Error(`${request.method} ${request.path} is answered ${answer.status}`);
  }

  async read(url: string, isKilled: () => boolean): Promise<void> {
    while (!isKilled()) {
      const answer = await ask(url, { method: "GET", path: "/api/grains?limit=1000" });
      if (answer?.status === 503) this.interrupted++;
      else if (answer !== null) this.finished++;
    }
  }

  /** Every heap is whole or gone, as its answer said. */
  check(grains: ReadonlyMap<string, number>, heaps: ReadonlySet<string>, { lost, torn }: Findings): void {
    for (const id of new Set([...heaps, ...grains.keys()])) {
      const count = grains.get(id) ?? 0;
      if (count !== (heaps.has(id) ? grainsOfHeap : 0)) torn.push(`heap ${id} has ${count} grains`);
    }
    for (const [id, isThere] of this.#isThere) {
      if (isThere !== null && isThere !== heaps.has(id)) lost.push(`heap ${id} is not as it was answered`);
      this.#isThere.set(id, heaps.has(id));
    }
  }
}

/** What was found wrong after a restart. */
interface Findings {
  /** Acknowledged, and not there. */
  readonly lost: string[];
  /** There by half. */
  readonly torn: string[];
}

const refresh = async (url: string, refresh_token: string): Promise<Tokens | null> => {
  const answer = await ask(url, { method: "POST", path: "/auth/refresh", body: { refresh_token } });
  if (answer?.status === 401) return null;
  expect(answer?.status).toBe(200);
  return answer!.data as Tokens;
};

const isSignedIn = async (url: string, token: string): Promise<boolean> => {
  const answer = await ask(url, { method: "GET", path: "/auth/me", token });
  expect([200, 401]).toContain(answer?.status);
  return answer!.status === 200;
};

/** The session of a writer, if there is one, is alive with each of its tokens, and can be gone on with. */
async function checkSession(url: string, writer: Writer, { lost, torn }: Findings): Promise<void> {
  const { session, inDoubt, name } = writer;
  if (session === null) return;
  const { access_token, refresh_token, predecessor } = session;
  const isAlive = await isSignedIn(url, access_token);
  if (!isAlive && inDoubt?.endsSession) return writer.endSession(session);
  if (!isAlive) lost.push(`${name}: the access token is refused`);
  if (predecessor !== null && (await refresh(url, predecessor))?.refresh_token !== refresh_token)
    lost.push(`${name}: a refresh that was answered has not happened`);
  // Whether a refresh is in doubt or not: it is one successor, and the same for whoever asks again.
  const next = await refresh(url, refresh_token);
  if (next === null) lost.push(`${name}: the newest refresh token is refused`);
  else if ((await refresh(url, refresh_token))?.refresh_token !== next.refresh_token)
    torn.push(`${name}: a refresh token has two successors`);
  writer.session = next && { ...next, predecessor: refresh_token };
}

/** Nothing of sessions that were logged out is alive. */
async function checkEnded(
  url: string,
  { name }: Writer,
  sessions: readonly Session[],
  { lost }: Findings,
): Promise<void> {
  for (const { access_token, refresh_token, predecessor } of sessions) {
    if (await isSignedIn(url, access_token)) lost.push(`${name}: an access token outlives its logout`);
    for (const token of [refresh_token, ...(predecessor === null ? [] : [predecessor])])
      if ((await refresh(url, token)) !== null) lost.push(`${name}: a refresh token outlives its logout`);
  }
}

interface Note {
  readonly id: string;
  readonly body: string;
  readonly copy: string;
}

/** The notes that a writer can list agree with their history, and that with what the writer has been told. */
async function checkNotes(
  url: string,
  writer: Writer,
  histories: ReadonlyMap<string, Story>,
  { lost, torn }: Findings,
): Promise<void> {
  const { stories, inDoubt, name } = writer;
  const token = writer.session!.access_token;
  const list = () => ask(url, { method: "GET", path: "/api/notes?limit=1000", token });
  let answer = await list();
  // On a slow machine a long list may take longer than the deadline.
  while (answer?.status === 503) answer = await list();
  expect(answer?.status).toBe(200);
  const notes = new Map((answer!.data as Note[]).map((note) => [note.id, note]));
  const written = [...histories.keys()].filter((id) => id.startsWith(`${name}-`));
  for (const id of new Set([...stories.keys(), ...notes.keys(), ...written])) {
    const note = notes.get(id);
    const found = histories.get(id) ?? [];
    if (note?.body !== note?.copy || (note?.body ?? null) !== (found.at(-1) ?? null))
      torn.push(`${id}: ${JSON.stringify(note)} with the history ${JSON.stringify(found)}`);
    const told = stories.get(id) ?? [];
    const allowed = [told, ...(inDoubt?.change?.id === id ? [[...told, inDoubt.change.body]] : [])];
    if (!allowed.some((story) => JSON.stringify(story) === JSON.stringify(found)))
      lost.push(`${id}: ${JSON.stringify(told)} was answered, ${JSON.stringify(found)} is there`);
    stories.set(id, found);
  }
}

/** What the database itself says, while nobody writes; returns the history of every note. */
async function checkDatabase(
  database: Database,
  heaper: Heaper,
  findings: Findings,
): Promise<ReadonlyMap<string, Story>> {
  const { torn } = findings;
  const read = async (sql: string) => (await database.query([{ sql, params: [] }]))[0]!.rows;
  for (const [problem] of await read("PRAGMA integrity_check"))
    if (problem !== "ok") torn.push(`integrity_check: ${problem}`);
  for (const violation of await read("PRAGMA foreign_key_check")) torn.push(`foreign key: ${violation}`);
  // A session has one token that is not consumed, and the consumed ones of the grace window, a hundred at most.
  const sessions = await read(`SELECT s.id, count(t.hash), count(t.used_at) FROM _sessions s
    LEFT JOIN _refresh_tokens t ON t.session_id = s.id
    GROUP BY s.id HAVING count(t.hash) <> count(t.used_at) + 1 OR count(t.used_at) > 100`);
  for (const [id, tokens, used] of sessions)
    torn.push(`session ${id} has ${tokens} refresh tokens, ${used} of them consumed`);
  const grains = await read("SELECT heap_id, count(*) AS n FROM grains GROUP BY heap_id");
  const heaps = await read("SELECT id FROM heaps");
  heaper.check(new Map(grains as [string, number][]), new Set((heaps as [string][]).map(([id]) => id)), findings);
  const histories = new Map<string, (string | null)[]>();
  for (const [id, body] of await read("SELECT note_id, body FROM history ORDER BY id")) {
    const history = histories.get(id as string) ?? [];
    histories.set(id as string, history);
    history.push(body as string | null);
  }
  return histories;
}

/** Everything that must hold after a restart. Then every writer is signed in, and nothing is in doubt. */
async function check(url: string, writers: readonly Writer[], heaper: Heaper, file: string, findings: Findings) {
  await each(writers, async (writer) => {
    await checkSession(url, writer, findings);
    await checkEnded(url, writer, writer.ended, findings);
  });
  // Closed again before the next kill: whoever has the file open keeps what a restart has to recover.
  const database = openLibsql({ path: file, synchronous: "full", commandLine: true });
  const histories = await checkDatabase(database, heaper, findings);
  await database.close();
  await each(writers, async (writer) => {
    if (writer.session === null) expect(await writer.perform(url, writer.login())).toBe(true);
    await checkNotes(url, writer, histories, findings);
    writer.inDoubt = null;
  });
}

const each = <T>(items: readonly T[], work: (item: T) => Promise<unknown>) => Promise.all(items.map(work));

/** Lets the writers work until some more is acknowledged, and kills the server in the middle of it. */
async function killAtWork(server: SpawnedServer, writers: readonly Writer[], heaper: Heaper): Promise<void> {
  let killed = false;
  const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  const enough = acknowledged() + random.int(20, 250);
  const work = Promise.all([
    ...writers.map((writer) => writer.work(server.url, () => killed)),
    heaper.work(server.url, () => killed),
    heaper.read(server.url, () => killed),
    heaper.read(server.url, () => killed),
  ]);
  await Promise.race([work, vi.waitUntil(() => acknowledged() >= enough, patiently)]);
  killed = true;
  await server.end("SIGKILL");
  await work;
}

it(`${rounds} times kill -9: nothing that was answered is lost, nothing is there by half`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-kill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const file = join(directory, ".svc/data.db");
  const writers = Array.from({ length: writerCount }, (_, i) => new Writer(`w${i}`, seed + i + 1));
  const heaper = new Heaper();
  let server = await start(directory);
  const database = openLibsql({ path: file, synchronous: "full", commandLine: true });
  await database.batch(triggers.map((sql) => ({ sql, params: [] })));
  await database.batch(await heaper.keyStatements());
  await database.close();
  await each(writers, (writer) => writer.perform(server.url, writer.register()));

  const findings: Findings = { lost: [], torn: [] };
  const restarts: number[] = [];
  const ended = new Map(writers.map((writer) => [writer, [] as Session[]]));
  let unanswered = 0;
  for (let round = 0; round < rounds; round++) {
    await killAtWork(server, writers, heaper);
    unanswered += writers.filter(({ inDoubt }) => inDoubt !== null).length;
    server = await start(directory);
    restarts.push(server.ms);
    await check(server.url, writers, heaper, file, findings);
    for (const writer of writers) ended.get(writer)!.push(...writer.ended.splice(0));
  }
  await each(writers, (writer) => checkEnded(server.url, writer, ended.get(writer)!, findings));
  expect(await server.end("SIGTERM")).toBe(0);

  const { lost, torn } = findings;
  const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  figure(
    "strength",
    `kill -9, ${rounds} rounds, ${writerCount} writers: changes of rows, refreshes, logouts, logins`,
    `acknowledged ${acknowledged}, unanswered ${unanswered}; lost ${lost.length}; torn ${torn.length}; restart p50 ${median(restarts).toFixed(0)} ms, max ${Math.max(...restarts).toFixed(0)} ms`,
  );
  figure(
    "strength",
    `kill -9, ${rounds} rounds: long reads and writes, with a deadline of 300 ms`,
    `${heaper.finished} finished, ${heaper.interrupted} interrupted; none partly done`,
  );
  expect({ lost, torn }).toEqual({ lost: [], torn: [] });
});
