import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

const old = "the secret that is replaced, 32 bytes and more";
const young = "the secret that replaces it, 32 bytes and more";

it("a server takes both secrets from its environment, and offers the provider whose credentials are sealed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-secret-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(join(directory, "svc.toml"), '[auth]\njwt_previous_secret_env = "OLD_SECRET"\n');
  writeFileSync(
    join(directory, "svc.schema.yaml"),
    '$auth: { providers: [google], redirect_urls: ["https://app.example.com/cb"] }\n',
  );
  const credentials = join(directory, "google.json");
  writeFileSync(credentials, JSON.stringify({ client_id: "the client", client_secret: "its secret" }));
  vi.stubEnv("SVC_PLATFORM_SECRETS_KEY", Buffer.alloc(32, 7).toString("base64"));
  const set = ["auth", "provider", "set", "google", "--credentials", credentials, "--dir", directory];
  expect(svc(set, "", process.env as Record<string, string>).status).toBe(0);

  /** Serves under these secrets; what the server answers to the token, and the providers that it offers. */
  const served = async (current: string, previous: string, token: string | null) => {
    vi.stubEnv("SVC_JWT_SECRET", current);
    vi.stubEnv("OLD_SECRET", previous);
    const { url, end } = await spawnServer(directory);
    onTestFinished(() => void end("SIGKILL"));
    const headers = { Authorization: `Bearer ${token}` };
    const { status } = await fetch(`${url}/auth/me`, { headers });
    const offered = (await (await fetch(`${url}/auth/oauth/providers`)).json()) as {
      data: { provider: string }[];
    };
    const registered = await fetch(`${url}/auth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: "correct horse" }),
    });
    const { data } = (await registered.json()) as { data: { access_token: string } };
    await end("SIGTERM");
    return { status, providers: offered.data.map(({ provider }) => provider), token: data.access_token };
  };
  const providers = ["google"];
  const before = await served(old, "", null);
  const during = await served(young, old, before.token);
  expect(during).toMatchObject({ status: 200, providers });
  expect(await served(young, "", during.token)).toMatchObject({ status: 200, providers });
  expect(await served(young, "", before.token)).toMatchObject({ status: 401, providers });
});
