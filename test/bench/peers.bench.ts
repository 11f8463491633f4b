import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import autocannon from "autocannon";
import { expect, test } from "vitest";
import { spawnServer } from "../support/spawned-server.js";
import { type Chat, copyOf, makeChat, person, rooms, rows } from "./chat.js";
import { median, row } from "./report.js";

const rounds = Number(process.env.ROUNDS ?? 5);
const seconds = Number(process.env.SECONDS ?? 2);
const connections = 16;

/** One work as a server takes it: request after request. */
type Requests = () => autocannon.Request;

interface Work {
  readonly name: string;
  readonly atLeast: number;
  readonly svc: Requests;
  readonly bare: Requests;
}

const random = (below: number) => Math.floor(Math.random() * below);
const get =
  (path: () => string): Requests =>
  () => ({ method: "GET", path: path() });
const json = (method: "POST" | "PATCH", path: () => string, body: object): Requests => {
  const text = JSON.stringify(body);
  return () => ({ method, path: path(), body: text, headers: { "Content-Type": "application/json" } });
};

function works({ userId }: Chat): readonly Work[] {
  const message = { room_id: 7, author_id: userId, body: "a message that is new" };
  const changed = { body: "a message that is another now" };
  // Each server deletes what nobody else has deleted, from the newest on.
  const next = { svc: rows, bare: rows };
  const anyId = () => 1 + random(rows / 2);
  return [
    {
      name: "point read, owner rule",
      atLeast: 0.5,
      svc: get(() => `/api/drafts/${anyId()}`),
      bare: get(() => `/drafts/${anyId()}`),
    },
    {
      name: "list of 50 of a room, with total, membership rule",
      atLeast: 0.8,
      svc: get(() => `/api/messages?where[room_id]=${random(rooms)}`),
      bare: get(() => `/room/${random(rooms)}`),
    },
    {
      name: "list of 50 of all, with total, membership rule",
      atLeast: 0.8,
      svc: get(() => "/api/messages"),
      bare: get(() => `/messages/${userId}`),
    },
    {
      name: "create, membership rule",
      atLeast: 1.5,
      svc: json("POST", () => "/api/messages", message),
      bare: json("POST", () => "/messages", message),
    },
    {
      name: "update by key",
      atLeast: 1.5,
      svc: json("PATCH", () => `/api/messages/${anyId()}`, changed),
      bare: json("PATCH", () => `/messages/${anyId()}`, changed),
    },
    {
      name: "delete by key",
      atLeast: 1.5,
      svc: () => ({ method: "DELETE", path: `/api/messages/${next.svc--}` }),
      bare: () => ({ method: "DELETE", path: `/messages/${next.bare--}` }),
    },
  ];
}

async function rate(url: string, requests: Requests, headers: Record<string, string>, durationS: number) {
  const client = (made: autocannon.Client) => {
    made.setHeadersAndBody;
    return made;
  };
  void client;
  const result = await autocannon({
    url,
    connections,
    duration: durationS,
    requests: [
      {
        setupRequest: (request: autocannon.Request) => {
          const made = requests();
          return { ...request, ...made, headers: { ...headers, ...made.headers } };
        },
      },
    ],
  });
  expect(result.non2xx).toBe(0);
  expect(result.errors).toBe(0);
  return result["2xx"] / result.duration;
}

async function bareServer(file: string) {
  const server = spawn(process.execPath, ["test/bench/bare-server.js", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(server.stdout))
    return { url: line.replace("listening on ", ""), end: () => server.kill() };
  throw new Error("the bare server did not start");
}

test("beside a bare server on the same data", async () => {
  const chat = await makeChat();
  const copy = copyOf(chat);
  const svc = await spawnServer(chat.directory);
  const bare = await bareServer(copy);
  try {
    const login = await fetch(`${svc.url}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(person),
    });
    const { data } = (await login.json()) as { data: { access_token: string } };
    const headers = { Authorization: `Bearer ${data.access_token}` };
    process.stdout.write(
      `\nrequests a second, medians of ${rounds} runs of ${seconds} s, ${connections} connections\n`,
    );
    row("work", "svc", "bare", "ratio", "at least");
    row("---", "---", "---", "---", "---");
    for (const work of works(chat)) {
      const rates = { svc: [] as number[], bare: [] as number[] };
      await rate(svc.url, work.svc, headers, 1);
      await rate(bare.url, work.bare, {}, 1);
      for (let round = 0; round < rounds; round++) {
        rates.svc.push(await rate(svc.url, work.svc, headers, seconds));
        rates.bare.push(await rate(bare.url, work.bare, {}, seconds));
      }
      const [ours, theirs] = [median(rates.svc), median(rates.bare)];
      row(work.name, ours.toFixed(0), theirs.toFixed(0), ours / theirs, String(work.atLeast));
    }
  } finally {
    await svc.end("SIGTERM");
    bare.end();
    rmSync(chat.directory, { recursive: true, force: true });
    rmSync(dirname(copy), { recursive: true, force: true });
  }
});
