import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { HasherBusyError } from "../../src/platform/platform.js";
import { passwordHasherContract } from "./password-hasher.contract.js";

/** What the library has been asked for; `failNext` makes a double of its next answer. */
const library = vi.hoisted(() => ({ calls: 0, running: 0, runningMax: 0, failNext: false }));

vi.mock("@node-rs/argon2", async (importOriginal) => {
  const original = await importOriginal<typeof import("@node-rs/argon2")>();
  const hashRaw: typeof original.hashRaw = async (...parameters) => {
    library.calls++;
    library.runningMax = Math.max(library.runningMax, ++library.running);
    try {
      if (library.failNext) throw new Error("no memory");
      return await original.hashRaw(...parameters);
    } finally {
      library.failNext = false;
      library.running--;
    }
  };
  return { ...original, hashRaw };
});

passwordHasherContract("native libraries", async () => {
  const hasher = createArgon2();
  return { hasher, close: () => hasher.close() };
});

describe("createArgon2", () => {
  const malformed = "$argon2id$v=19$m=65537,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  let hasher: ReturnType<typeof createArgon2>;

  beforeEach(() => {
    Object.assign(library, { calls: 0, running: 0, runningMax: 0, failNext: false });
    hasher = createArgon2({ queueMax: 2 });
  });

  afterEach(() => hasher.close());

  it("refuses more than the queue holds, and serves those in it, one at a time", async () => {
    const outcomes = await Promise.allSettled(["one", "two", "three", "four"].map((password) => hasher.hash(password)));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(outcomes[3]).toMatchObject({ reason: expect.any(HasherBusyError) });
    expect(library).toMatchObject({ calls: 3, runningMax: 1 });
    expect(await hasher.hash("later")).toMatch(/^\$argon2id\$/);
  });

  it.each([
    ["Argon2id", malformed.replace("65537", "65536")],
    ["bcrypt", "$2b$10$abcdefghijklmnopqrstuuGGgFFcYeueaAql8Z7U7CnCTRw4DR77W"],
  ])("leaves the event loop to others meanwhile: %s", async (_name, stored) => {
    let isDone = false;
    const verified = hasher.verify("a password", stored).finally(() => {
      isDone = true;
    });
    let turns = 0;
    for (; !isDone; turns++) await nextTurn();
    expect(turns).toBeGreaterThan(20);
    expect(await verified).toBe(false);
  });

  it("answers for a malformed string even when the queue is full", async () => {
    const hashes = Promise.all([hasher.hash("one"), hasher.hash("two"), hasher.hash("three")]);
    expect(await hasher.verify("password", malformed)).toBe(false);
    await hashes;
    expect(library.calls).toBe(3);
  });

  it("rejects a password that cannot be hashed, and goes on", async () => {
    await expect(hasher.hash("")).rejects.toThrow("the password cannot be hashed");
    expect(await hasher.hash("one")).toMatch(/^\$argon2id\$/);
  });

  it("goes on behind a password that could not be hashed", async () => {
    library.failNext = true;
    const outcomes = await Promise.allSettled([hasher.hash("the secret"), hasher.hash("two")]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "fulfilled"]);
    const [phc, ...others] = await Promise.all(["three", "four", "five"].map((text) => hasher.hash(text)));
    expect(await hasher.verify("three", phc!)).toBe(true);
    expect(others).toHaveLength(2);
  });

  it("finishes what it computes when it closes, and refuses what waits and what comes after", async () => {
    const outcomes = Promise.allSettled([hasher.hash("one"), hasher.hash("two"), hasher.hash("three")]);
    while (library.calls === 0) await nextTurn();
    await hasher.close();
    expect(library.running).toBe(0);
    expect((await outcomes).map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await expect(hasher.hash("four")).rejects.toThrow(/closed/);
    expect(library.calls).toBe(1);
  });
});
