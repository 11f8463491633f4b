import { expect, test } from "vitest";
import { Refusal } from "../../src/http/refusal.js";
import type { Checkpoint } from "../../src/sync/checkpoint.js";
import { liveEvents } from "../../src/sync/live.js";
import type { PulledPage } from "../../src/sync/pull.js";

const at = (seq: number): Checkpoint => ({
  who: "w",
  caller: "c",
  members: [],
  refused: [],
  freshFrom: 0,
  from: { seq, witness: "1" },
  round: null,
  copy: null,
});
const quiet = (seq: number): PulledPage => ({
  changes: "[]",
  count: 0,
  checkpoint: at(seq),
  more: false,
  reset: null,
  fresh: [],
  refused: {},
  isEmpty: true,
  isQuiet: true,
  isBehind: false,
  clients: null,
});

/** A stream whose looks find `found`, and for which the time between two comments passes at once. */
async function textOf(found: readonly (PulledPage | Refusal)[]): Promise<string> {
  const pages = [...found];
  const stream = await liveEvents(quiet(1), 0, {
    commits: {
      known: () => 0,
      announce: () => {},
      within: (ms) => ({ isOver: ms === 15_000, next: async () => {} }),
    },
    streams: { isEnding: false, whenEnding: () => () => {} },
    release: () => {},
    taken: () => {},
    look: async () => pages.shift() ?? new Refusal("unauthorized", "the session is over"),
    seal: async ({ from }) => `sealed-${from!.seq}`,
    counts: { event: () => {}, reset: () => {} },
    endsAfterMs: Number.POSITIVE_INFINITY,
  });
  return new Response(stream).text();
}

test("with a comment comes the id of the state of then, but not in the middle of one", async () => {
  const page: PulledPage = { ...quiet(8), changes: "[{}]", count: 1, isEmpty: false, more: true };
  expect((await textOf([quiet(7), page, quiet(9)])).split("\n\n")).toEqual([
    'event: change\nid: sealed-1\ndata: {"changes":[],"more":false}',
    ":\nid: sealed-7",
    'event: change\ndata: {"changes":[{}],"more":true}',
    ":",
    'event: change\nid: sealed-9\ndata: {"changes":[],"more":false}',
    ":\nid: sealed-9",
    'event: bye\ndata: {"reason":"auth_expired"}',
    "",
  ]);
});
