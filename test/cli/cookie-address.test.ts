import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { spawnServer } from "../support/spawned-server.js";
import { cli } from "./svc.js";

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === "::1"));
const auth = '[auth]\nallow_insecure_dev_secret = true\ndev_secret = "a secret of this test, 32 bytes long"\n';
const cookies = 'cookie_mode = true\ncookie_secure = false\n[cors]\nallowed_origins = ["http://localhost:5173"]\n';

function project(toml: string): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-cookies-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), auth + toml);
  writeFileSync(
    join(directory, "svc.schema.yaml"),
    "notes: { columns: { id: { type: integer, primary_key: true } } }\n",
  );
  return directory;
}

async function served(toml: string) {
  const server = await spawnServer(project(toml));
  onTestFinished(async () => void (await server.end("SIGTERM")));
  return server.url;
}

describe("the address of a server on this machine", () => {
  it("is localhost in cookie mode, by IPv4 and IPv6, as pages under development are there", async () => {
    const url = await served(cookies);
    expect(url).toMatch(/^http:\/\/localhost:\d+$/);
    const { port } = new URL(url);
    for (const host of ["localhost", "127.0.0.1", ...(hasIpv6 ? ["[::1]"] : [])])
      expect((await fetch(`http://${host}:${port}/health`)).status).toBe(200);
  });

  it("is 127.0.0.1 otherwise, or what server.host says", async () => {
    expect(await served("")).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await served(`${cookies}[server]\nhost = "127.0.0.2"\n`)).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  });

  it.runIf(hasIpv6)("is refused while another server has one of its addresses", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "::1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const args = [cli, "serve", "--port", String(port), "--dir", project(cookies)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    expect(status).toBe(1);
    expect(stderr).toContain(`address already in use ::1:${port}`);
  });
});
