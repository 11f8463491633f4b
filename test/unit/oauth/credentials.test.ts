import { describe, expect, it } from "vitest";
import {
  credentialProblems,
  openCredentials,
  type SealBinding,
  sealCredentials,
} from "../../../src/auth/oauth/credentials.js";
import { formatProblem } from "../../../src/problems/problem.js";

const iv = new Uint8Array(12).fill(7);
const binding: SealBinding = { key: new Uint8Array(32).fill(1), projectId: "project", provider: "google" };
const text = '{"client_id":"the client","client_secret":"a secret"}';

describe("sealed credentials", () => {
  it("open under the same key, project and provider", async () => {
    const sealed = await sealCredentials(text, binding, iv);
    expect(sealed).toMatch(/^svc1\.[\w-]+$/);
    expect(await openCredentials(sealed, binding)).toBe(text);
    expect(await openCredentials(`${sealed}\n`, binding)).toBe(text);
  });

  it.each<[string, Partial<SealBinding>]>([
    ["key", { key: new Uint8Array(32).fill(2) }],
    ["project", { projectId: "another" }],
    ["provider", { provider: "github" }],
    ["split of project and provider", { projectId: "project,google", provider: "" }],
  ])("do not open under another %s", async (_, change) => {
    const sealed = await sealCredentials(text, binding, iv);
    expect(await openCredentials(sealed, { ...binding, ...change })).toBeNull();
  });

  it("do not open damaged, cut or in another format", async () => {
    const sealed = await sealCredentials(text, binding, iv);
    const flipped = sealed.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    for (const damaged of [flipped, sealed.slice(0, -4), sealed.replace("svc1.", ""), "svc1.", "", text])
      expect(await openCredentials(damaged, binding)).toBeNull();
  });

  it("hide what they hold", async () => {
    const sealed = await sealCredentials(text, binding, iv);
    const bytes = Buffer.from(sealed.slice("svc1.".length), "base64url").toString("latin1");
    expect(bytes).not.toContain("client");
  });
});

describe("problems of credentials", () => {
  const problems = (provider: "google" | "apple", source: string) =>
    credentialProblems(provider, source, "file.json").map(formatProblem);

  it("are none where every field is there", () => {
    expect(problems("google", text)).toEqual([]);
  });

  it("are told all at once, without any value", () => {
    expect(problems("apple", '{"client_id":"","client_secret":"a secret","key_id":17,"private_key_p8":"shh"}')).toEqual(
      [
        "file.json: client_id: expected some text, got another value",
        "file.json: team_id: missing",
        "file.json: key_id: expected string, got another value",
        "file.json: private_key_p8: expected a PKCS #8 PEM, got another value",
        "file.json: client_secret: unknown key",
      ],
    );
  });

  it.each(["", "{", "client_id=x"])("name what is no JSON: %j", (source) => {
    expect(problems("google", source)).toEqual(["file.json: not valid JSON"]);
  });

  it.each(["null", '"text"', "1"])("name what is no object: %s", (source) => {
    expect(problems("google", source)).toEqual([expect.stringMatching(/^file\.json: expected a map, got/)]);
  });
});
