import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it, onTestFinished } from "vitest";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-gen-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe("svc gen types", () => {
  it("writes the types that test/types/client.ts is compiled with", () => {
    const { status, stdout } = svc(["gen", "types", "--dir", "test/types"]);
    expect(status).toBe(0);
    expect(stdout).toBe(readFileSync("test/types/tables.ts", "utf8"));
  });

  it("writes into a file, and integers that may be strings, where it is told to", () => {
    const out = join(temporary(), "src/generated/tables.ts");
    const outcome = svc(["gen", "types", "--dir", "test/types", "--out", out, "--big-integers"]);
    expect(outcome).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(readFileSync(out, "utf8")).toContain("      id: number | string;\n");
  });
});

describe("svc gen openapi", () => {
  it("writes a valid document of the project's tables", async () => {
    const { status, stdout } = svc(["gen", "openapi", "--dir", "test/types"]);
    expect(status).toBe(0);
    const out = join(temporary(), "src/openapi.json");
    expect(svc(["gen", "openapi", "--dir", "test/types", "--out", out])).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(out, "utf8")).toBe(stdout);
    const document = JSON.parse(stdout);
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(["/api/notes/{id}", "/auth/login"]));
  });
});

describe("svc init", () => {
  it("writes a project that has no problem, that serves as it is, and that is this one's alone", async () => {
    const parent = temporary();
    const made = svc(["init", "shop", "--dir", parent]);
    expect(made).toMatchObject({ status: 0, stderr: "" });
    const shop = join(parent, "shop");
    expect(readdirSync(shop).sort()).toEqual([".gitignore", "rules.test.yaml", "svc.schema.yaml", "svc.toml"]);
    expect(svc(["check", "--dir", shop])).toEqual({
      status: 0,
      stdout:
        "no problems\nlists find the rows that a user may read:\n  products: every row\n  orders: by orders.user_id\n",
      stderr: "",
    });
    expect(readFileSync(join(shop, "svc.toml"), "utf8")).toMatch(/^cookie_tokens_in_body = false$/m);
    const { url, end } = await spawnServer(shop);
    const answer = await fetch(`${url}/api/products`);
    expect(answer.status).toBe(200);
    expect(await end("SIGTERM")).toBe(0);
    svc(["init", "other", "--dir", parent]);
    const secretOf = (name: string) =>
      /dev_secret = ".+"/.exec(readFileSync(join(parent, name, "svc.toml"), "utf8"))![0];
    expect(secretOf("shop")).not.toBe(secretOf("other"));
  });

  it("overwrites nothing", () => {
    const parent = temporary();
    writeFileSync(join(parent, "svc.toml"), "mine");
    const refused = svc(["init", ".", "--dir", parent]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("svc.toml");
    expect(readdirSync(parent)).toEqual(["svc.toml"]);
    expect(readFileSync(join(parent, "svc.toml"), "utf8")).toBe("mine");
  });
});
