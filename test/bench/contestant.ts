import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import autocannon from "autocannon";
import { expect } from "vitest";
import { builtCommand, spawnServer } from "../support/spawned-server.js";
import { addMessages, type Chat, login, rooms, rows } from "./chat.js";

export const connections = 16;

/** What everybody is asked, of the tables of chat.ts. */
export type Work = "point" | "room" | "all" | "create" | "update" | "delete";

/** One request after the other. */
export type Requests = () => autocannon.Request;

/** A server that takes part, running. */
export interface Contestant {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<Work, Requests>>;
  /** Makes what so many requests need, before they are measured. */
  prepare(work: Work, howMany: number): Promise<void>;
  end(): Promise<unknown>;
}

/** What it takes to ask a contestant for one kind of work. */
export interface Asked<W extends Work> extends Pick<Contestant, "url" | "headers" | "prepare"> {
  readonly requests: Pick<Contestant["requests"], W>;
}

const random = (below: number) => Math.floor(Math.random() * below);
/** Of a row that is neither created nor deleted meanwhile. */
export const anyId = () => 1 + random(rows / 2);
export const anyRoom = () => random(rooms);

export const newMessage = (userId: string) => ({
  room_id: 7,
  author_id: userId,
  body: "a message that is new",
});
export const changedMessage = { body: "a message that is another now" };

export function get(path: () => string): Requests {
  return () => ({ method: "GET", path: path() });
}

export function send(method: "POST" | "PATCH", path: () => string, body: object): Requests {
  const text = JSON.stringify(body);
  return () => ({ method, path: path(), body: text, headers: { "Content-Type": "application/json" } });
}

/**
 * Deletes rows that `add` has made for it, so many before each turn as it takes: the table is as large in each, however fast
 * the machine is. `add` gives the number of the first of the rows, which the others' follow.
 */
export function removals(
  pathOf: (id: number) => string,
  add: (howMany: number) => Promise<number>,
): { readonly requests: Requests; readonly prepare: Contestant["prepare"] } {
  const ids: number[] = [];
  return {
    requests: () => ({ method: "DELETE", path: pathOf(ids.pop()!) }),
    prepare: async (work, howMany) => {
      if (work !== "delete") return;
      // Each connection has its next request at hand before it knows that the turn is over.
      const missing = howMany + 2 * connections - ids.length;
      if (missing <= 0) return;
      const first = await add(missing);
      for (let i = 0; i < missing; i++) ids.push(first + i);
    },
  };
}

export async function startSvc(
  chat: Chat,
  command = builtCommand,
): Promise<Contestant & { readonly pid: number; readonly startMs: number }> {
  const from = performance.now();
  const server = await spawnServer(chat.directory, "ignore", undefined, command);
  await fetch(`${server.url}/health`);
  const startMs = performance.now() - from;
  const removal = removals(
    (id) => `/api/messages/${id}`,
    (howMany) => addMessages(chat.file, chat.userId, howMany),
  );
  return {
    url: server.url,
    pid: server.process.pid!,
    /** From the start of the process to its first answer. */
    startMs,
    headers: { Authorization: `Bearer ${await login(server.url)}` },
    requests: {
      point: get(() => `/api/drafts/${anyId()}`),
      room: get(() => `/api/messages?where[room_id]=${anyRoom()}`),
      all: get(() => "/api/messages"),
      create: send("POST", () => "/api/messages", newMessage(chat.userId)),
      update: send("PATCH", () => `/api/messages/${anyId()}`, changedMessage),
      delete: removal.requests,
    },
    prepare: removal.prepare,
    end: () => server.end("SIGTERM"),
  };
}

export async function startBare(file: string, userId: string): Promise<Contestant> {
  const server = spawn(process.execPath, ["test/bench/bare-server.js", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const removal = removals(
    (id) => `/messages/${id}`,
    (howMany) => addMessages(file, userId, howMany),
  );
  for await (const line of createInterface(server.stdout))
    return {
      url: line.replace("listening on ", ""),
      headers: {},
      requests: {
        point: get(() => `/drafts/${anyId()}`),
        room: get(() => `/room/${anyRoom()}`),
        all: get(() => `/messages/${userId}`),
        create: send("POST", () => "/messages", newMessage(userId)),
        update: send("PATCH", () => `/messages/${anyId()}`, changedMessage),
        delete: removal.requests,
      },
      prepare: removal.prepare,
      end: async () => server.kill(),
    };
  throw new Error("the bare server did not start");
}

/** What autocannon says of a run; every answer has to be a success. */
export async function load<W extends Work>(
  { url, headers, requests }: Asked<W>,
  work: W,
  options: Partial<autocannon.Options>,
): Promise<autocannon.Result> {
  const setupRequest = (request: autocannon.Request) => {
    const made = requests[work]();
    return { ...request, ...made, headers: { ...headers, ...made.headers } };
  };
  const result = await autocannon({ url, ...options, requests: [{ setupRequest }] });
  expect(result.non2xx).toBe(0);
  expect(result.errors).toBe(0);
  return result;
}

/** Requests a second that it answers. */
export async function rate<W extends Work>(contestant: Asked<W>, work: W, options: Partial<autocannon.Options>) {
  const result = await load(contestant, work, options);
  return result["2xx"] / result.duration;
}

/** Resident, at most, since the process began. */
export function peakMb(pid: number): number {
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kb) / 1024;
}

/** Seconds of processor time that a process has used (proc(5): `utime` and `stime`, in hundredths). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
