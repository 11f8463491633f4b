import { writeFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { expect, it, onTestFinished, vi } from "vitest";
import { figure, quantile, timed } from "../support/figures.js";
import { projectDirectory } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** The long form has `SECONDS=60`. */
const seconds = Number(process.env.SECONDS ?? 1);
vi.setConfig({ testTimeout: 900_000 + 10 * seconds * 2_000 });

const password = "correct horse battery staple";
const [flood, school, home] = ["203.0.113.1", "198.51.100.7", "198.51.100.1"];

it("200 connections that register keep nobody from signing in from another address", async () => {
  const directory = projectDirectory("notes: { columns: { id: { type: integer, primary_key: true } } }");
  // The limit of registrations would end the flood early.
  const settings = [
    "auth.allow_insecure_dev_secret = true",
    'auth.dev_secret = "a secret of the fault tests, 32 bytes"',
    "auth.throttle.max_registrations_per_address = 1000000",
    "server.trust_proxy = true",
  ];
  writeFileSync(join(directory, "svc.toml"), settings.join("\n"));
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => {
    await end("SIGKILL");
  });
  const ask = async (path: string, from: string, email: string) => {
    const answer = await fetch(new URL(path, url), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": from },
      body: JSON.stringify({ email, password }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const pupils = Array.from({ length: 30 }, (_, i) => `pupil${i}@example.com`);
  for (const email of ["ada@example.com", ...pupils]) expect(await ask("/auth/register", home, email)).toBe(201);

  let isOver = false;
  const flooding = autocannon({
    url: `${url}/auth/register`,
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": flood },
    body: JSON.stringify({ email: "user[<id>]@example.com", password }),
    idReplacement: true,
    connections: 200,
    duration: seconds,
    workers: 1,
  }).then((result) => {
    isOver = true;
    return result;
  });
  const [times, statuses]: [number[], number[]] = [[], []];
  const signIns = async () => {
    while (!isOver)
      times.push(await timed(async () => statuses.push(await ask("/auth/login", home, "ada@example.com"))));
  };
  const [result, , class_] = await Promise.all([
    flooding,
    signIns(),
    Promise.all(pupils.map((email) => ask("/auth/login", school, email))),
  ]);
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(class_).toEqual(Array(30).fill(200));
  const { "2xx": made } = result;
  figure(
    "strength",
    "200 connections that register from one address",
    `${made} of ${result.requests.total} registered; sign-ins from another address: ${statuses.filter((status) => status === 200).length} of ${statuses.length} succeeded, p99 ${quantile(times, 0.99).toFixed(0)} ms; simultaneous sign-ins from a third address: 30 of 30`,
  );
});
