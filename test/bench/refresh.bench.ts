import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { client, dataOf } from "../support/client.js";
import { figure, median } from "../support/figures.js";
import { countOf, member } from "../support/people.js";
import { serve } from "../support/server.js";

const rotations = 20_000;
const pairs = 301;

/** How long a client waits between two refreshes. */
const pauses: readonly (readonly [name: string, ms: number])[] = [
  ["every 15 seconds", 15_000],
  ["every millisecond", 1],
];

// Each refresh of the old session is timed beside the tenth refresh of a new one, so that both meet the same machine.
test.each(pauses)("what a refresh costs in an old session, refreshed %s", async (name, pauseMs) => {
  const directory = mkdtempSync(join(tmpdir(), "svc-refresh-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
  const server = await serve({ schema, path: join(directory, "data.db") });
  const anonymous = client(server);
  const refresh = async (refresh_token: string): Promise<string> => {
    const answer = await anonymous.post("/auth/refresh", { refresh_token });
    expect(answer.status).toBe(200);
    server.clock.advance(pauseMs);
    return dataOf<{ refresh_token: string }>(answer).refresh_token;
  };
  const rotated = async (token: string, times: number): Promise<string> => {
    let latest = token;
    for (let i = 0; i < times; i++) latest = await refresh(latest);
    return latest;
  };
  let old = await rotated((await member(server, "old")).refreshToken, rotations);
  const rows = await countOf(server, "_refresh_tokens");
  const young: number[] = [];
  const aged: number[] = [];
  for (let i = 0; i < pairs; i++) {
    const ninth = await rotated((await member(server, `young${i}`)).refreshToken, 9);
    const ofYoung = async () => void (await refresh(ninth));
    const ofOld = async () => {
      old = await refresh(old);
    };
    // By turns the one and the other comes first.
    const order = i % 2 === 0 ? [ofYoung, ofOld] : [ofOld, ofYoung];
    for (const work of order) {
      const start = performance.now();
      await work();
      (work === ofYoung ? young : aged).push(performance.now() - start);
    }
  }
  const [tenth, later] = [median(young), median(aged)];
  figure(
    "refresh",
    `a session that is refreshed ${name}`,
    `${tenth.toFixed(3)} ms`,
    `${later.toFixed(3)} ms`,
    later / tenth,
    rows,
  );
});
