import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createArgon2 } from "../../src/node/argon2.js";
import { HasherBusyError } from "../../src/platform/platform.js";
import { passwordHasherContract } from "./password-hasher.contract.js";

const started = vi.hoisted(() => ({ workers: [] as import("node:worker_threads").Worker[] }));

vi.mock("node:worker_threads", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:worker_threads")>();
  class Worker extends original.Worker {
    constructor(...parameters: ConstructorParameters<typeof original.Worker>) {
      super(...parameters);
      started.workers.push(this);
    }
  }
  return { ...original, Worker };
});

passwordHasherContract("hash-wasm in a worker thread", async () => {
  const hasher = createArgon2();
  return { hasher, close: () => hasher.close() };
});

describe("createArgon2", () => {
  const malformed = "$argon2id$v=19$m=65537,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  let hasher: ReturnType<typeof createArgon2>;

  beforeEach(() => {
    started.workers.length = 0;
    hasher = createArgon2({ queueMax: 2 });
  });

  afterEach(() => hasher.close());

  it("starts its worker with the first password, and only one", async () => {
    await hasher.verify("password", malformed);
    expect(started.workers).toHaveLength(0);
    await Promise.all([hasher.hash("one"), hasher.hash("two")]);
    expect(started.workers).toHaveLength(1);
  });

  it("refuses more than the queue holds, and serves those in it", async () => {
    const outcomes = await Promise.allSettled(
      ["one", "two", "three", "four"].map((password) => hasher.hash(password)),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(outcomes[3]).toMatchObject({ reason: expect.any(HasherBusyError) });
    expect(await hasher.hash("later")).toMatch(/^\$argon2id\$/);
  });

  it("answers for a malformed string even when the queue is full", async () => {
    const hashes = Promise.all([hasher.hash("one"), hasher.hash("two"), hasher.hash("three")]);
    expect(await hasher.verify("password", malformed)).toBe(false);
    await hashes;
  });

  it("fails the password whose worker stops, and goes on with another worker", async () => {
    const outcomes = Promise.allSettled([hasher.hash("the secret"), hasher.hash("two")]);
    await started.workers[0]!.terminate();
    const [stopped, next] = await outcomes;
    expect(stopped).toMatchObject({ status: "rejected", reason: expect.any(Error) });
    expect(String((stopped as PromiseRejectedResult).reason)).not.toContain("the secret");
    expect(next!.status).toBe("fulfilled");
    expect(started.workers).toHaveLength(2);
  });

  it("starts again after its worker stopped while idle", async () => {
    const phc = await hasher.hash("one");
    await started.workers[0]!.terminate();
    expect(await hasher.verify("one", phc)).toBe(true);
  });

  it("rejects a password that cannot be hashed, and goes on", async () => {
    await expect(hasher.hash("")).rejects.toThrow("the password cannot be hashed");
    expect(await hasher.hash("one")).toMatch(/^\$argon2id\$/);
  });

  it("rejects what is not finished when it closes, and what comes after", async () => {
    const outcomes = Promise.allSettled([hasher.hash("one"), hasher.hash("two")]);
    await hasher.close();
    expect((await outcomes).map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    await expect(hasher.hash("three")).rejects.toThrow(/closed/);
  });
});
