import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { accountWindowMsMax } from "../../src/auth/limits/account-backoff.js";
import { mailWindowMs } from "../../src/auth/limits/mail-allowance.js";
import { linkLifetimeSeconds } from "../../src/auth/links/links.js";
import { stateLifetimeMs } from "../../src/auth/oauth/state.js";
import { wranglerTemplate } from "../../src/cli/project-template.js";
import { withScripts } from "../../src/cli/with-scripts.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { cursorLifetimeMs } from "../../src/tables/list/cursor.js";
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
  expect(unit!.text).toContain(
    `ExecStart=/usr/bin/node /srv/shop/node_modules/svc-server/${builtCommand} serve --dir /srv/shop\n`,
  );
  expect(environment!.text).toContain(`${config.auth.jwt_secret_env}=`);
  expect(environment!.text).toContain(`${config.mail.smtp_url_env}=`);
});

test("what lives under the previous secret lives as long as the page says", () => {
  const [, section = ""] = /## Changing the secret\n([\s\S]*?)\n## /.exec(text) ?? [];
  const seconds = [...section.matchAll(/^ +\| ([^|]+) \| [^|]*?(\d+) seconds[^|]* \|$/gm)];
  const { auth } = config;
  expect(Object.fromEntries(seconds.map(([, what, number]) => [what, Number(number)]))).toEqual({
    "access token": auth.access_token_ttl_secs,
    "successor that the server returns again for a used refresh token": auth.refresh_token_rotation_grace_secs,
    cursor: cursorLifetimeMs / 1000,
    "social sign-in in progress": stateLifetimeMs / 1000,
    "link to reset a password": linkLifetimeSeconds.password_reset,
    "link to change an address": linkLifetimeSeconds.email_change,
    "link to confirm an address": linkLifetimeSeconds.email_verification,
    invitation: linkLifetimeSeconds.invitation,
    "count of failed passwords": accountWindowMsMax / 1000,
    "count of mails to an address": mailWindowMs / 1000,
  });
  expect(Math.max(...seconds.map(([, , number]) => Number(number)))).toBe(7 * 86_400);
  for (const name of ["jwt_secret_env", "jwt_previous_secret_env"] as const)
    expect(section).toContain(`\`${auth[name]}\``);
});

test("the checkout has the wrangler.toml that `svc init --worker` writes, but for the build", () => {
  const wrangler = readFileSync("wrangler.toml", "utf8");
  expect(wrangler.replace("npm run --silent build:worker", "npx --no svc worker build")).toBe(wranglerTemplate("svc"));
  const { scripts, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(JSON.parse(withScripts(null, true)!).devDependencies).toEqual({ wrangler: `^${devDependencies.wrangler}` });
  expect(scripts["build:worker"]).toMatch(/ dist\/svc\/main\.js worker build$/);
});
