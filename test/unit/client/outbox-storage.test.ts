import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Kept, nothingKept, withQueued } from "../../../src/client/outbox/kept.js";
import { defaultOutboxStorage, memoryOutboxStorage } from "../../../src/client/outbox/storage.js";

const here = globalThis as { indexedDB?: InstanceType<typeof IDBFactory> };
beforeEach(() => {
  here.indexedDB = new IDBFactory();
});
afterEach(() => {
  delete here.indexedDB;
});

const added = (kept: Kept | undefined, name: string): Kept =>
  withQueued(kept ?? nothingKept("c"), { name, id: null, operations: [] });
const namesIn = ({ queue }: Kept) => queue.map(({ name }) => name);

it.each([
  ["IndexedDB", defaultOutboxStorage],
  ["memory", memoryOutboxStorage],
])("changes in %s are done one after the other, each name by itself", async (_, open) => {
  const storage = open();
  const names = ["a", "b", "c", "d"];
  await Promise.all(names.map((name) => storage.change("one", (kept) => added(kept, name))));
  await storage.change("other", (kept) => added(kept, "e"));
  let found: Kept | undefined;
  await storage.change("one", (kept) => {
    found = kept;
    return kept!;
  });
  expect(namesIn(found!)).toEqual(names);
});

it("finds in IndexedDB what another page has kept, and opens it anew where it was deleted", async () => {
  await defaultOutboxStorage().change("one", (kept) => added(kept, "a"));
  const storage = defaultOutboxStorage();
  await storage.change("one", (kept) => added(kept, "b"));
  const read = async () => {
    const found: Kept[] = [];
    await storage.change("one", (kept) => {
      found.push(kept ?? nothingKept("c"));
      return found[0]!;
    });
    return namesIn(found[0]!);
  };
  expect(await read()).toEqual(["a", "b"]);
  await new Promise<void>((resolve, reject) => {
    const request = here.indexedDB!.deleteDatabase("svc.outbox");
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
  expect(await read()).toEqual([]);
});

it("says that IndexedDB cannot be opened, and tries again with the next change", async () => {
  const { open } = here.indexedDB!;
  const storage = defaultOutboxStorage();
  here.indexedDB!.open = () => {
    const request = { error: new DOMException("no room", "QuotaExceededError"), onerror: () => {} };
    queueMicrotask(() => request.onerror());
    return request as never;
  };
  const failed = storage.change("one", (kept) => added(kept, "a"));
  await expect(failed).rejects.toMatchObject({ name: "QuotaExceededError" });
  here.indexedDB!.open = open;
  await storage.change("one", (kept) => added(kept, "a"));
});
