import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockFile } from "../../src/node/database/file-lock.js";
import { openLibsql } from "../../src/node/database/libsql.js";

/** Of this process. libsql's have this name. */
const threadsOfLibsql = () =>
  readdirSync("/proc/self/task").filter((task) =>
    readFileSync(`/proc/self/task/${task}/comm`, "utf8").startsWith("tokio-runtime-w"),
  );

it.runIf(process.platform === "linux")(
  "libsql has more threads than there are long reads, although a server's first database is its lock",
  async () => {
    expect(threadsOfLibsql()).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), "svc-threads-"));
    const lock = lockFile(join(folder, "data.db-lock"));
    const database = openLibsql({ path: join(folder, "data.db"), synchronous: "normal" });
    expect(threadsOfLibsql()).toHaveLength(Math.max(3, availableParallelism()) + 2);
    await database.close();
    lock?.release();
    await rm(folder, { recursive: true });
  },
);
