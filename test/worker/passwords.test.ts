import { afterAll, describe, expect, it } from "vitest";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { passwordHasherContract } from "../platform/password-hasher.contract.js";
import { workerHasher } from "../support/workerd/worker.js";

const node = createArgon2();
afterAll(() => node.close());
const worker = workerHasher();

passwordHasherContract("precompiled modules in workerd", async () => ({
  hasher: { ...worker, standing: (stored) => node.standing(stored), hasRoomFor: () => true },
  close: async () => {},
}));

describe("hashes of the Worker and of Node", () => {
  it("are each verified by the other", async () => {
    for (const password of ["p", "correct horse battery staple", "пароль 🔑", "x".repeat(1024)]) {
      const [ofNode, ofWorker] = await Promise.all([node.hash(password), worker.hash(password)]);
      expect(await worker.verify(password, ofNode)).toBe(true);
      expect(await node.verify(password, ofWorker)).toBe(true);
      expect(await worker.verify(`${password}.`, ofNode)).toBe(false);
      expect(await node.verify(`${password}.`, ofWorker)).toBe(false);
    }
  });
});
