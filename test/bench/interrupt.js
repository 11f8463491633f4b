// What stops a statement that runs too long, with libsql and with node:sqlite: the figures of docs/driver.md.
// `node test/bench/interrupt.js`, with Node 24 or later. Each way is tried in a process of its own, which is killed after 20
// seconds, and no process uses both libraries.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const self = fileURLToPath(import.meta.url);
const giveUpMs = 20_000;
/** How long a statement has been running when it is told to end. */
const headStartMs = 300;
const turns = 7;

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
const numbered = (rows) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
   INSERT INTO t SELECT i, 'row ' || (i * 7919 % ${rows}) FROM n`;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const since = (from) => performance.now() - from;

/** A table of so many rows in a new file, and the file's path. */
async function filled(rows) {
  const { DatabaseSync } = await import("node:sqlite");
  const file = join(process.env.DIRECTORY, "data.db");
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body TEXT); DELETE FROM t; ${numbered(rows)}`);
  database.close();
  return file;
}

/** A thread that runs `sql`; `go(x)` in it is 1, until the flag is set. */
function inThread(file, sql) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { parentPort, workerData: { file, sql, flag } } = require("node:worker_threads");
    const { DatabaseSync } = require("node:sqlite");
    const database = new DatabaseSync(file);
    database.function("go", { varargs: true }, () => {
      if (Atomics.load(flag, 0)) throw new Error("told to end");
      return 1;
    });
    parentPort.postMessage("runs");
    let ended = "ran to its end";
    try { database.prepare(sql).all(); } catch (error) { ended = error.message; }
    parentPort.postMessage(ended);`;
  return { worker: new Worker(code, { eval: true, workerData: { file, sql, flag } }), flag };
}

/** How long the statement goes on after the flag is set, and how it ends. */
async function stoppedByFunction(file, sql) {
  const { worker, flag } = inThread(file, sql);
  await once(worker, "message");
  const end = once(worker, "message");
  await delay(headStartMs);
  const from = performance.now();
  Atomics.store(flag, 0, 1);
  const [ended] = await end;
  const took = since(from);
  await worker.terminate();
  return `${ms(took)}: ${ended}`;
}

const ways = {
  "libsql/promise: `interrupt()`": async () => {
    const { default: Database } = await import("libsql/promise");
    const database = new Database(":memory:");
    const statement = await database.prepare(endless);
    const times = [];
    for (let turn = 0; turn < turns; turn++) {
      const running = statement.all([]).catch((error) => error);
      await delay(headStartMs);
      const from = performance.now();
      database.interrupt();
      const { code } = await running;
      if (code !== "SQLITE_INTERRUPT") return `not interrupted: ${code}`;
      times.push(since(from));
    }
    const after = await (await database.prepare("SELECT 1")).raw(true).all([]);
    return `${ms(median(times))}; the connection is ${after[0][0] === 1 ? "usable" : "not usable"} afterwards`;
  },
  "node:sqlite: `terminate()` of the thread": async () => {
    const { worker } = inThread(":memory:", endless);
    await once(worker, "message");
    await delay(headStartMs);
    const from = performance.now();
    await worker.terminate();
    return ms(since(from));
  },
  "node:sqlite: `process.exit()` while the thread runs": async () => {
    const { worker } = inThread(":memory:", endless);
    await once(worker, "message");
    await delay(headStartMs);
    process.exit(0);
  },
  "node:sqlite: calls to an authorizer for a statement": async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(await filled(100_000));
    const statement = database.prepare("SELECT count(*) FROM t WHERE body LIKE '%x%'");
    let calls = 0;
    database.setAuthorizer(() => {
      calls++;
      return 0;
    });
    statement.all();
    return `${calls}`;
  },
  "node:sqlite: a function that throws, called for each row of a scan": async () =>
    stoppedByFunction(await filled(20_000), "SELECT count(*) FROM t a, t b WHERE a.body < b.body AND go(a.id + b.id)"),
  "node:sqlite: the same function, called outside a long subquery": async () =>
    stoppedByFunction(
      await filled(20_000),
      "SELECT count(*) FROM t a WHERE go(a.id) AND (SELECT count(*) FROM t b, t c WHERE b.body < c.body AND b.id > a.id)",
    ),
  "node:sqlite: end of a sort of 1,000,000 rows, in which the function is not called": async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(await filled(1_000_000));
    let lastCall = 0;
    database.function("go", { varargs: true }, () => {
      lastCall = performance.now();
      return 1;
    });
    database.prepare("SELECT json_group_array(body) FROM (SELECT body FROM t WHERE go(id) ORDER BY body, id)").all();
    return ms(since(lastCall));
  },
  "node:sqlite: a scan of 100,000 rows with that function, and one without": async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(await filled(100_000));
    const flag = new Int32Array(new SharedArrayBuffer(4));
    database.function("go", { varargs: true }, () => {
      if (Atomics.load(flag, 0)) throw new Error("told to end");
      return 1;
    });
    const scans = ["", " AND go(id)"].map((more) =>
      database.prepare(`SELECT count(*) FROM t WHERE id > 0 AND body <> 'x'${more}`),
    );
    const times = Array.from({ length: 3 * turns }, () =>
      scans.map((scan) => {
        const from = performance.now();
        scan.all();
        return since(from);
      }),
    );
    const [plain, checked] = [0, 1].map((side) => median(times.map((pair) => pair[side])));
    return `${ms(checked)} and ${ms(plain)}: ${median(times.map(([a, b]) => b / a)).toFixed(1)} times`;
  },
  "node:sqlite: a child process that is killed": async () => {
    const file = await filled(1000);
    const code = `
      const { DatabaseSync } = require("node:sqlite");
      const database = new DatabaseSync(process.argv[1]);
      const point = database.prepare("SELECT body FROM t WHERE id = 7");
      process.on("message", (sql) => process.send(sql === "" ? point.all() : database.prepare(sql).all()));
      process.send("ready");`;
    const start = async () => {
      const from = performance.now();
      const child = spawn(process.execPath, ["-e", code, file], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      await once(child, "message");
      return { child, startMs: since(from) };
    };
    const starts = [];
    const kills = [];
    const hops = [];
    let residentMb = 0;
    for (let turn = 0; turn < turns; turn++) {
      const { child, startMs } = await start();
      starts.push(startMs);
      for (let hop = 0; hop < 200; hop++) {
        const from = performance.now();
        child.send("");
        await once(child, "message");
        hops.push(since(from) * 1000);
      }
      residentMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024;
      child.send(endless);
      await delay(headStartMs);
      const from = performance.now();
      child.kill("SIGKILL");
      await once(child, "exit");
      kills.push(since(from));
    }
    return `${ms(median(kills))}, and ${ms(median(starts))} until another one is ready; ${median(hops).toFixed(0)} µs per point read, ${residentMb.toFixed(0)} MB each`;
  },
};

/** What the way prints, or that its process had to be killed. */
async function tried(name) {
  const directory = mkdtempSync(join(tmpdir(), "svc-interrupt-"));
  const env = { ...process.env, DIRECTORY: directory, NODE_NO_WARNINGS: "1" };
  const child = spawn(process.execPath, [self, name], { stdio: ["ignore", "pipe", "inherit"], env });
  const exited = once(child, "exit");
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), giveUpMs);
  const [code, signal] = await exited;
  clearTimeout(timer);
  rmSync(directory, { recursive: true, force: true });
  return said || (signal ? `never: killed after ${giveUpMs / 1000} s` : `the process ended with ${code}`);
}

const [, , way] = process.argv;
if (way !== undefined) process.stdout.write(await ways[way]());
else for (const name of Object.keys(ways)) console.log(`| ${name} | ${await tried(name)} |`);
