import { expect, test } from "vitest";
import type { Caller } from "../../src/auth/callers/principal.js";
import { type StreamBounds, Streams } from "../../src/sync/streams.js";

const bounds: StreamBounds = {
  max_streams: 8,
  max_streams_per_session: 2,
  max_streams_per_user: 3,
  max_streams_per_key: 2,
  max_streams_per_address: 3,
};
const user = (id: string, sessionId: string) => ({ kind: "user", id, sessionId }) as Caller;
const key = { kind: "key", id: "k" } as Caller;
const anonymous = { kind: "anonymous" } as Caller;

test("each session, user, key and address has its share of the streams, and a place that is given back is free", () => {
  const streams = new Streams(bounds);
  const take = (caller: Caller, address = "a") => streams.take(caller, address, 0, 1_000);
  const first = take(user("ann", "1"))!;
  expect(take(user("ann", "1"))).not.toBeNull();
  expect(take(user("ann", "1"))).toBeNull();
  // One more session is one more share, up to that of the user.
  expect(take(user("ann", "2"))).not.toBeNull();
  expect(take(user("ann", "2"))).toBeNull();
  first();
  first();
  expect(streams.size).toBe(2);
  expect(take(user("ann", "2"))).not.toBeNull();
  expect([take(key), take(key), take(key)].map((taken) => taken !== null)).toEqual([true, true, false]);
  const more = [anonymous, anonymous, anonymous, anonymous].map((each) => take(each) !== null);
  expect(more).toEqual([true, true, true, false]);
  expect(streams.size).toBe(8);
  expect(take(user("ben", "3"))).toBeNull();
});

test("anonymous callers have half of the streams, from however many addresses", () => {
  const streams = new Streams(bounds);
  const taken = ["a", "b", "c", "d", "e"].map((address) => streams.take(anonymous, address, 0, 1_000) !== null);
  expect(taken).toEqual([true, true, true, true, false]);
  expect(streams.take(user("ann", "1"), "e", 0, 1_000)).not.toBeNull();
});

test("a place ends with the time that a stream has, and with the process", () => {
  const streams = new Streams(bounds);
  for (let i = 0; i < 2; i++) streams.take(key, "a", 0, 1_000);
  expect(streams.take(key, "a", 999, 2_000)).toBeNull();
  expect(streams.take(key, "a", 1_000, 2_000)).not.toBeNull();
  expect(streams.size).toBe(1);
  streams.end();
  expect(streams.take(key, "a", 1_000, 2_000)).toBeNull();
});
