import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { exportPKCS8, generateKeyPair } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { servePatiently } from "../support/spawned-server.js";
import { svc as commandLine } from "./svc.js";

const key = Buffer.alloc(32, 1).toString("base64");
const otherKey = Buffer.alloc(32, 2).toString("base64");
const google = { client_id: "the client", client_secret: "the secret of google" };

/** A project in a directory of its own; runs commands there. */
function project() {
  const directory = mkdtempSync(join(tmpdir(), "svc-cli-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "svc.toml"), "");
  writeFileSync(
    join(directory, "svc.schema.yaml"),
    '$auth: { providers: [google, apple], redirect_urls: ["https://app.example.com/cb"] }\n',
  );
  const environment = (extra: Record<string, string>) => ({
    PATH: process.env.PATH!,
    SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more",
    ...extra,
  });
  const credentials = (name: string, value: unknown) => {
    const file = join(directory, `${name}.json`);
    writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
    return file;
  };
  const svc = (args: string[], extra: Record<string, string> = { SVC_PLATFORM_SECRETS_KEY: key }) =>
    commandLine(["auth", "provider", ...args, "--dir", directory], "", environment(extra));
  let end = async () => {};
  /** One server after the other: two of them on one database are refused. */
  const serve = async (extra: Record<string, string>, ...args: string[]) => {
    await end();
    const server = spawn(
      process.execPath,
      [...servePatiently, "dist/svc/main.js", "serve", "--dir", directory, "--port", "0", ...args],
      { env: environment(extra) },
    );
    let warnings = "";
    server.stderr.setEncoding("utf8").on("data", (chunk) => {
      warnings += chunk;
    });
    const stopped = new Promise((resolve) => server.once("exit", resolve));
    end = async () => {
      server.kill("SIGTERM");
      await stopped;
    };
    onTestFinished(end);
    for await (const line of createInterface(server.stdout)) {
      const url = line.replace("listening on ", "");
      const providers = async () => (await (await fetch(`${url}/auth/oauth/providers`)).json()) as object;
      return { url, warnings: () => warnings, providers };
    }
    throw new Error(`the server did not start: ${warnings}`);
  };
  return { directory, svc, serve, credentials, file: sealedFile(directory) };
}

/** The lines that name a provider. */
const about = (warnings: string, provider: string) =>
  warnings.split("\n").filter((line) => line.includes(`of ${provider}`) || line.includes(`: ${provider} `));

const sealedFile = (directory: string) => (provider: string) =>
  join(directory, ".svc", "secrets", "auth-providers", `${provider}.json.sealed`);

describe("svc auth provider", () => {
  it("installs, lists, prints sealed and removes, and never shows a secret", () => {
    const { svc, credentials, file, directory } = project();
    const set = svc(["set", "google", "--credentials", credentials("google", google)]);
    expect(set).toEqual({ status: 0, stdout: "installed google\n", stderr: "" });
    expect(statSync(file("google")).mode & 0o777).toBe(0o600);
    expect(statSync(join(file("google"), "..")).mode & 0o777).toBe(0o700);
    const text = readFileSync(file("google"), "utf8");
    expect(text).not.toContain(google.client_secret);
    const listed = svc(["list", "--json"], {});
    expect(JSON.parse(listed.stdout)).toEqual([
      { provider: "google", declared: true, installed: true },
      { provider: "apple", declared: true, installed: false },
      { provider: "github", declared: false, installed: false },
    ]);
    expect(svc(["list"], {}).stdout).toBe(
      "google  declared  has credentials\napple   declared  no credentials\ngithub  not declared  no credentials\n",
    );
    expect(svc(["sealed", "google"], {})).toEqual({ status: 0, stdout: text, stderr: "" });
    expect(svc(["remove", "google"], {})).toEqual({ status: 0, stdout: "removed google\n", stderr: "" });
    expect(svc(["remove", "google"], {}).status).toBe(1);
    expect(svc(["sealed", "google"], {}).status).toBe(1);
    expect(readdirSync(join(directory, ".svc", "secrets", "auth-providers"))).toEqual([]);
  });

  it("lists credentials that do not open as none, with a warning, where it knows the key", () => {
    const { svc, credentials } = project();
    svc(["set", "google", "--credentials", credentials("google", google)]);
    const installed = ({ stdout }: { stdout: string }) =>
      (JSON.parse(stdout) as { installed: boolean }[]).map((provider) => provider.installed);
    const right = svc(["list", "--json"]);
    expect([installed(right), right.stderr]).toEqual([[true, false, false], ""]);
    const wrong = svc(["list", "--json"], { SVC_PLATFORM_SECRETS_KEY: otherKey });
    expect(installed(wrong)).toEqual([false, false, false]);
    const warning = "the credentials of google do not open: they were sealed under another key or for another project";
    expect(wrong.stderr).toBe(`warning: ${warning}\n`);
  });

  it("warns of a provider that is not declared", () => {
    const { svc, credentials } = project();
    const { status, stderr } = svc(["set", "github", "--credentials", credentials("github", google)]);
    expect(status).toBe(0);
    expect(stderr).toContain("github is not declared");
  });

  it.each<[string, unknown, RegExp]>([
    ["no JSON", "{", /not valid JSON/],
    ["no fields", {}, /client_id: missing[\s\S]*client_secret: missing/],
    ["one field too many", { ...google, secret: "shh-shh" }, /secret: unknown key/],
    ["an empty field", { ...google, client_id: "" }, /client_id: expected some text/],
  ])("refuses %s with exit code 2, and installs nothing", (_, value, problem) => {
    const { svc, credentials, directory } = project();
    const { status, stdout, stderr } = svc(["set", "google", "--credentials", credentials("google", value)]);
    expect(status).toBe(2);
    expect(stderr).toMatch(problem);
    expect(stdout + stderr).not.toMatch(/the secret of google|shh-shh/);
    expect(readdirSync(directory)).not.toContain(".svc");
  });

  it("takes from apple a key for ES256 alone", async () => {
    const { svc, credentials } = project();
    const apple = async (algorithm: string) => {
      const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
      return {
        client_id: "com.example",
        team_id: "T",
        key_id: "K",
        private_key_p8: await exportPKCS8(privateKey),
      };
    };
    const wrong = svc(["set", "apple", "--credentials", credentials("apple", await apple("ES384"))]);
    expect(wrong).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("private_key_p8: not a private key"),
    });
    expect(svc(["set", "apple", "--credentials", credentials("apple", await apple("ES256"))]).status).toBe(0);
  });

  it.each([
    ["no key", {}],
    ["a short key", { SVC_PLATFORM_SECRETS_KEY: Buffer.alloc(16).toString("base64") }],
    ["a key that is no base64", { SVC_PLATFORM_SECRETS_KEY: "k".repeat(43) }],
  ])("installs nothing with %s", (_, environment) => {
    const { svc, credentials } = project();
    const file = credentials("google", google);
    const { status, stderr } = svc(["set", "google", "--credentials", file], environment);
    expect(status).toBe(2);
    expect(stderr).toContain("SVC_PLATFORM_SECRETS_KEY");
  });

  it.each([[["set", "facebook", "--credentials", "x"]], [["set", "google"]], [["set"]], [["remove", "../x"]]])(
    "takes %j for wrong arguments",
    (args) => {
      expect(project().svc(args).status).toBe(2);
    },
  );
});

describe("svc serve", () => {
  it("offers what has credentials at its own URL, and warns of what has none", async () => {
    const { svc, serve, credentials } = project();
    svc(["set", "google", "--credentials", credentials("google", google)]);
    const { url, providers, warnings } = await serve({ SVC_PLATFORM_SECRETS_KEY: key });
    const data = [{ provider: "google", callback_url: `${url}/auth/oauth/callback/google` }];
    expect(await providers()).toEqual({ data });
    expect(warnings()).toContain("apple is not offered");
    expect(warnings()).not.toContain("google");
    svc(["remove", "google"]);
    expect(await providers()).toEqual({ data: [] });
  });

  it("takes its address from SVC_GATEWAY_URL first", async () => {
    const { svc, serve, credentials, directory } = project();
    writeFileSync(join(directory, "svc.toml"), '[auth]\npublic_base_url = "https://api.example.com"\n');
    svc(["set", "google", "--credentials", credentials("google", google)]);
    const at = async (environment: Record<string, string>) =>
      JSON.stringify(await (await serve({ SVC_PLATFORM_SECRETS_KEY: key, ...environment })).providers());
    expect(await at({ SVC_GATEWAY_URL: "https://gateway.example.com/p1/" })).toContain(
      '"https://gateway.example.com/p1/auth/oauth/callback/google"',
    );
    expect(await at({})).toContain('"https://api.example.com/auth/oauth/callback/google"');
  });

  it("offers nothing that it cannot open, and says why", async () => {
    const { svc, serve, credentials } = project();
    svc(["set", "google", "--credentials", credentials("google", google)]);
    const without = await serve({});
    expect(await without.providers()).toEqual({ data: [] });
    expect(about(without.warnings(), "google")).toEqual([expect.stringContaining("need SVC_PLATFORM_SECRETS_KEY")]);
    const other = await serve({ SVC_PLATFORM_SECRETS_KEY: otherKey });
    expect(await other.providers()).toEqual({ data: [] });
    expect(about(other.warnings(), "google")).toEqual([expect.stringContaining("do not open")]);
    expect(about(other.warnings(), "apple")).toEqual([expect.stringContaining("has no credentials")]);
  });

  it("opens no credentials of another project", async () => {
    const [one, other] = [project(), project()];
    for (const { svc, credentials } of [one, other])
      svc(["set", "google", "--credentials", credentials("google", google)]);
    writeFileSync(other.file("google"), readFileSync(one.file("google")));
    const { providers, warnings } = await other.serve({ SVC_PLATFORM_SECRETS_KEY: key });
    expect(await providers()).toEqual({ data: [] });
    expect(warnings()).toContain("do not open");
  });

  it.each([
    ["SVC_PLATFORM_SECRETS_KEY", "short"],
    ["SVC_GATEWAY_URL", "gateway.example.com"],
    ["SVC_GATEWAY_URL", "https://gateway.example.com/?x"],
  ])("does not start with %s=%s", async (name, value) => {
    await expect(project().serve({ [name]: value })).rejects.toThrow(name);
  });
});
