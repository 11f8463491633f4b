import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseConfig } from "../../src/project/parse-config.js";
import { builtCommand } from "../support/spawned-server.js";
import { blocksOf } from "./pages.js";

const text = readFileSync("docs/deploy.md", "utf8");
const config = parseConfig("").config!;

test("proxies lead to where the server listens if nothing is set", () => {
  const { host, port } = config.server;
  const targets = [...text.matchAll(/(?:reverse_proxy|^ +server) ([\d.:]+)/gm)].map(([, target]) => target);
  expect(targets).toEqual([`${host}:${port}`, `${host}:${port}`]);
});

test("nginx takes the bodies that the server takes", () => {
  expect(text).toContain(`client_max_body_size ${config.api.max_body_bytes / 2 ** 20}m;`);
});

test("the unit runs what the build makes, and sets the variables that are read", () => {
  const [unit, environment] = blocksOf("docs/deploy.md").filter(({ language }) => language === "ini");
  expect(unit!.text).toContain(`ExecStart=/usr/bin/node /opt/svc/${builtCommand} serve --dir /srv/shop\n`);
  expect(environment!.text).toContain(`${config.auth.jwt_secret_env}=`);
  expect(environment!.text).toContain(`${config.mail.smtp_url_env}=`);
});

test("what Workers are told to run is there", () => {
  const wrangler = readFileSync("wrangler.toml", "utf8");
  expect(wrangler).toMatch(/^name = "svc"$/m);
  expect(wrangler).toMatch(/^database_name = "svc"$/m);
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(scripts["build:worker"]).toMatch(/ dist\/worker\/libsql$/);
  expect(scripts).toHaveProperty("dev:worker");
});
