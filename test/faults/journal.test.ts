import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { figure } from "../support/figures.js";
import { patiently } from "../support/patience.js";
import { projectDirectory, svcDone } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** `npm run test:faults` runs fifty. */
const rounds = Number(process.env.ROUNDS ?? 2);
const writers = 8;
vi.setConfig({ testTimeout: 900_000 + 10 * rounds * 10_000 });

const again = { ...patiently, interval: 50 };

const cli = "dist/svc/main.js";
const schema = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }\n";
const project = () => projectDirectory(schema);
const svc = (directory: string, ...args: string[]) => svcDone(directory, args);

interface Counted {
  readonly meta: {
    readonly rows_read: number | null;
    readonly rows_written: number | null;
    readonly metering: { readonly attempt_id: string; readonly status: string };
  };
}

it("keeps every recorded receipt through kill -9, once, and says where some may be missing", async () => {
  const directory = project();
  svc(directory, "schema", "apply");
  const key = svc(directory, "admin", "create-service-key", "--name", "faults", "--scope", "project:backend");
  const headers = {
    Authorization: `Bearer ${key.stdout.trim().split("\n").at(-1)}`,
    "Content-Type": "application/json",
  };
  /** What answers have said, by attempt. */
  const recorded = new Map<string, Counted["meta"]>();
  let sent = 0;
  let unanswered = 0;
  /**
   * The segments that killed servers were writing. A server that is killed between ending one segment and beginning the
   * next leaves none. It has answered nothing in between, so no receipt is missing.
   */
  const unended = new Set<string>();
  const load = async (url: string, isOver: () => boolean) => {
    while (!isOver()) {
      sent++;
      const turn = sent % 4;
      const init: RequestInit =
        turn < 2 ? { method: "POST", body: JSON.stringify({ body: `note ${sent}` }) } : { method: "GET" };
      const path = turn === 2 ? "/api/notes?limit=5&sort=-id" : turn === 3 ? `/api/notes/${sent}` : "/api/notes";
      try {
        const response = await fetch(url + path, { ...init, headers });
        const { meta } = (await response.json()) as Partial<Counted>;
        if (meta?.metering.status === "recorded") recorded.set(meta.metering.attempt_id, meta);
      } catch {
        unanswered++;
      }
    }
  };
  for (let round = 0; round < rounds; round++) {
    const { url, end } = await spawnServer(directory);
    let over = false;
    const clients = Array.from({ length: writers }, () => load(url, () => over));
    const enough = recorded.size + 10 + Math.floor(Math.random() * 40);
    await vi.waitUntil(() => recorded.size >= enough, patiently);
    await end("SIGKILL");
    over = true;
    await Promise.all(clients);
    for (const segment of unendedIn(join(directory, ".svc", "usage"))) unended.add(segment);
  }
  expect(unended.size).toBeGreaterThan(0);
  const last = await spawnServer(directory);
  await last.end("SIGTERM");
  const { stdout, stderr } = svc(directory, "usage", "export");
  const exported = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { attempt_id: string; rows_read: number; rows_written: number });
  const byAttempt = new Map(exported.map((receipt) => [receipt.attempt_id, receipt]));
  expect(byAttempt.size).toBe(exported.length);
  const lost = [...recorded.keys()].filter((attempt) => !byAttempt.has(attempt));
  const gaps = stderr.split("\n").filter((line) => line.startsWith("gap: "));
  figure(
    "strength",
    `kill -9, ${rounds} rounds, ${writers} clients: receipts`,
    `sent ${sent}, unanswered ${unanswered}; recorded ${recorded.size}, exported ${exported.length}; lost ${lost.length}; gaps ${gaps.length}`,
  );
  expect(lost).toEqual([]);
  for (const [attempt, { rows_read, rows_written }] of recorded)
    expect(byAttempt.get(attempt)).toMatchObject({ rows_read, rows_written });
  // Whoever got no answer may have a receipt, and nobody else.
  expect(exported.length).toBeLessThanOrEqual(sent);
  expect(gaps).toHaveLength(unended.size);
});

/** The segments of all journals that were begun and not ended. */
function unendedIn(usage: string): readonly string[] {
  return readdirSync(usage).flatMap((journal) =>
    readdirSync(join(usage, journal))
      .filter((name) => name.endsWith(".log"))
      .map((name) => join(usage, journal, name))
      .filter((path) => {
        const text = readFileSync(path, "utf8");
        return text.includes('{"reserved":') && !text.includes('{"end":');
      }),
  );
}

it("goes on where the journal's disk is full or read-only, and has the receipts once it is not (needs a tmpfs)", async (context) => {
  const directory = project();
  const journal = join(directory, ".svc", "usage");
  mkdirSync(journal, { recursive: true });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", journal]);
  if (mounted.status !== 0) context.skip("no file system may be mounted here");
  onTestFinished(() => {
    spawnSync("umount", ["-l", journal]);
  });
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => void (await end("SIGKILL")));
  const key = svc(directory, "admin", "create-service-key", "--name", "faults", "--scope", "project:backend");
  const headers = { Authorization: `Bearer ${key.stdout.trim().split("\n").at(-1)}` };
  const ask = async () => ((await (await fetch(`${url}/api/notes`, { headers })).json()) as Counted).meta.metering;
  const attempts = [await ask()];
  writeFileSync(join(journal, "filler"), Buffer.alloc(16_384));
  spawnSync("sh", ["-c", `cat /dev/zero > ${join(journal, "more")}`]);
  for (let i = 0; i < 40; i++) attempts.push(await ask());
  expect(attempts.filter(({ status }) => status === "unrecorded").length).toBeGreaterThan(10);
  rmSync(join(journal, "filler"));
  rmSync(join(journal, "more"));
  // Once it is time to try a broken journal again.
  const recovers = () =>
    vi.waitFor(async () => {
      attempts.push(await ask());
      expect(attempts.at(-1)!.status).toBe("recorded");
    }, again);
  await recovers();
  const remount = (how: string) => spawnSync("mount", ["-o", `remount,${how}`, journal]).status;
  // Nobody may remount it read-only while it is being written.
  await end("SIGTERM");
  expect(remount("ro")).toBe(0);
  const readOnly = await spawnServer(directory);
  onTestFinished(async () => void (await readOnly.end("SIGKILL")));
  const askThere = async () =>
    ((await (await fetch(`${readOnly.url}/api/notes`, { headers })).json()) as Counted).meta.metering;
  for (let i = 0; i < 5; i++) attempts.push(await askThere());
  expect(attempts.slice(-5).map(({ status }) => status)).toEqual(Array(5).fill("unrecorded"));
  expect(remount("rw")).toBe(0);
  await vi.waitFor(async () => {
    attempts.push(await askThere());
    expect(attempts.at(-1)!.status).toBe("recorded");
  }, again);
  await readOnly.end("SIGTERM");
  const exported = svc(directory, "usage", "export").stdout.trim().split("\n");
  const ids = exported.map((line) => (JSON.parse(line) as { attempt_id: string }).attempt_id);
  expect(ids.sort()).toEqual(attempts.map(({ attempt_id }) => attempt_id).sort());
});

it("says that an unknown number of receipts may be missing where a journal was dead from the start", async () => {
  const directory = project();
  svc(directory, "schema", "apply");
  // A file is in the place of the journal's directory.
  const place = join(directory, ".svc", "usage");
  mkdirSync(join(directory, ".svc"), { recursive: true });
  writeFileSync(place, "");
  const key = svc(directory, "admin", "create-service-key", "--name", "faults", "--scope", "project:backend");
  const headers = { Authorization: `Bearer ${key.stdout.trim().split("\n").at(-1)}` };
  const { url, end } = await spawnServer(directory);
  for (let i = 0; i < 50; i++) {
    const { meta } = (await (await fetch(`${url}/api/notes`, { headers })).json()) as Counted;
    expect(meta.metering.status).toBe("unrecorded");
  }
  await end("SIGKILL");
  rmSync(place);
  const next = await spawnServer(directory);
  const usage = await fetch(`${next.url}/admin/api/usage`, { headers });
  const gap = { at: expect.any(String), reason: "crash", attempts_max: null };
  expect(await usage.json()).toEqual({ data: [], meta: { gaps: [gap] } });
  await next.end("SIGTERM");
  const { stdout, stderr } = svc(directory, "usage", "export");
  expect([stdout, stderr]).toEqual(["", expect.stringMatching(/^gap: \S+ crash, unknown number of receipts\n$/)]);
});

it("says of no receipts that they may be missing, where a start has failed as its port was taken", async () => {
  const directory = project();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => {
    taken.close();
  });
  const { port } = taken.address() as AddressInfo;
  const args = [cli, "serve", "--dir", directory, "--host", "127.0.0.1", "--port", String(port)];
  const refused = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(refused.status, refused.stderr).toBe(1);
  expect(refused.stderr).toContain("--port or PORT chooses another");
  expect(svc(directory, "usage", "recover").stdout).toBe("recovered 0 receipts; gaps: 0\n");
  expect(svc(directory, "usage", "export")).toMatchObject({ stdout: "", stderr: "" });
});
