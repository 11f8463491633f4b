import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import Libsql from "libsql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { patiently } from "../support/patience.js";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

const config = 'auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the test suite, 32 bytes" }\n';

function project(more = ""): string {
  const above = mkdtempSync(join(tmpdir(), "svc-private-"));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  const directory = join(above, "project");
  mkdirSync(directory);
  writeFileSync(join(directory, "svc.toml"), config + more);
  const auth = "$auth: { password_reset_url: 'https://app.example.com/reset' }\n";
  writeFileSync(
    join(directory, "svc.schema.yaml"),
    `${auth}notes: { columns: { id: { type: integer, primary_key: true } } }\n`,
  );
  return directory;
}

/** Modes of the folder and everything in it, such as `data.db` → `600`. */
function modes(folder: string): Record<string, string> {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = [folder, ...inside.map((entry) => join(entry.parentPath, entry.name))];
  return Object.fromEntries(
    paths.map((path) => [relative(folder, path) || ".", (statSync(path).mode & 0o777).toString(8)]),
  );
}

/** Paths that anybody but their owner can do something with. */
function open(folder: string): readonly string[] {
  return Object.entries(modes(folder)).flatMap(([path, mode]) => (mode.endsWith("00") ? [] : [`${path} ${mode}`]));
}

function loosen(folder: string): void {
  for (const [path, mode] of Object.entries(modes(folder)))
    chmodSync(join(folder, path), mode.startsWith("7") ? 0o755 : 0o644);
}

const createUser = ["admin", "create-user", "--email", "ada@example.com", "--password-stdin", "--dir"];

describe("what the server keeps", () => {
  it("is its owner's alone, from the first start on, and after one of another release", async () => {
    const directory = project();
    const folder = join(directory, ".svc");
    for (let start = 0; start < 2; start++) {
      const { url, end } = await spawnServer(directory);
      onTestFinished(() => void end("SIGKILL"));
      const post = (path: string, body: object) =>
        fetch(url + path, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
      await post("/auth/register", { email: `ada${start}@example.com`, password: "correct horse" });
      await post("/auth/password-reset/request", { email: `ada${start}@example.com` });
      await vi.waitFor(() => expect(readdirSync(join(folder, "mail"))).toHaveLength(start + 1), patiently);
      const found = modes(folder);
      expect(Object.keys(found)).toEqual(
        expect.arrayContaining(["data.db", "data.db-wal", "data.db-shm", "mail", "usage"]),
      );
      expect(Object.keys(found).join()).toMatch(/lock\.db.*00000001\.log|00000001\.log.*lock\.db/);
      expect(open(folder)).toEqual([]);
      expect(await end("SIGTERM")).toBe(0);
      expect(open(folder)).toEqual([]);
      loosen(folder);
      expect(open(folder)).not.toEqual([]);
    }
  });

  it("is so beside a command, too, which leaves alone what another owner may run", () => {
    const directory = project();
    const folder = join(directory, ".svc");
    expect(svc([...createUser, directory], "correct horse\n")).toMatchObject({ status: 0, stderr: "" });
    expect(modes(folder)).toMatchObject({ ".": "700", "data.db": "600" });
    loosen(folder);
    writeFileSync(join(folder, "backup.sh"), "");
    chmodSync(join(folder, "backup.sh"), 0o755);
    expect(svc(["admin", "list-users", "--dir", directory])).toMatchObject({ status: 0, stderr: "" });
    expect(modes(folder)).toMatchObject({ ".": "700", "data.db": "600", "backup.sh": "700" });
  });

  it("in places that svc.toml names: what is new is private, and what is there stays as it is", async () => {
    const directory = project(
      '[database]\nurl = "file:../kept/data.db"\n[usage]\njournal_dir = "../journal"\n[mail]\nlog_dir = "../new/mail"\n',
    );
    const above = join(directory, "..");
    for (const name of ["kept", "journal"]) {
      mkdirSync(join(above, name));
      chmodSync(join(above, name), 0o755);
    }
    const kept = new Libsql(join(above, "kept/data.db"));
    kept.exec("CREATE TABLE other (x)");
    kept.close();
    chmodSync(join(above, "kept/data.db"), 0o640);
    const { url, end } = await spawnServer(directory);
    onTestFinished(() => void end("SIGKILL"));
    await fetch(`${url}/api/notes`);
    expect(modes(join(above, "kept"))).toMatchObject({ ".": "755", "data.db": "640", "data.db-wal": "640" });
    const [journal] = readdirSync(join(above, "journal"));
    expect(modes(join(above, "journal"))).toMatchObject({
      ".": "755",
      [journal!]: "700",
      [`${journal}/lock.db`]: "600",
    });
    expect(await end("SIGTERM")).toBe(0);
  });

  it("is so after an import, where the files had other modes", () => {
    const directory = project();
    expect(svc([...createUser, directory], "correct horse\n").status).toBe(0);
    const archive = join(directory, "../a.tar.gz");
    expect(svc(["export", "--out", archive, "--dir", directory]).status).toBe(0);
    const copy = join(directory, "../copy");
    mkdirSync(join(copy, ".svc/mail"), { recursive: true });
    writeFileSync(join(copy, ".svc/mail/old.eml"), "");
    expect(svc(["import", archive, "--dir", copy])).toMatchObject({ status: 0, stderr: "" });
    expect(modes(copy)).toMatchObject({
      "svc.toml": "600",
      "svc.schema.yaml": "600",
      ".svc": "700",
      ".svc/data.db": "600",
      ".svc/mail": "700",
      ".svc/mail/old.eml": "600",
    });
  });
});
