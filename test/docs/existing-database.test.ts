import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { svc } from "../cli/svc.js";
import { spawnServer } from "../support/spawned-server.js";
import { blocksOf } from "./pages.js";

test("the three steps of docs/guides/existing-database.md serve a database that was there", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-existing-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [old, music] = [join(directory, "old.sqlite"), join(directory, "music")];
  cpSync("test/data/chinook.sqlite", old);
  mkdirSync(music);
  expect(svc(["schema", "pull", "--from", old, "--dir", music])).toMatchObject({ status: 0 });
  const config = blocksOf("docs/guides/existing-database.md").find(({ language }) => language === "toml");
  writeFileSync(join(music, "svc.toml"), config!.text);
  vi.stubEnv("SVC_JWT_SECRET", "a secret of a test, which is 32 bytes long or longer");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, end } = await spawnServer(music);
  onTestFinished(async () => void (await end("SIGTERM")));
  const statusOf = async (path: string) => (await fetch(url + path)).status;
  expect(await statusOf("/api/Track/1")).toBe(200);
  expect(await statusOf("/api/Album/1")).toBe(401);
});
