import { expect, it } from "vitest";
import { FairQueue, type Waiting } from "../../src/node/database/fair-queue.js";

interface Work extends Waiting {
  readonly name: string;
}

/** `ada1`: the first work of ada. Principals that begin with `key` are keys. */
const work = (name: string): Work => {
  const principal = name.replace(/\d+$/, "");
  return { name, principal, isKey: principal.startsWith("key") };
};

function filled(places: number, names: readonly string[], waitingMax = 64) {
  const queue = new FairQueue<Work>({ places, waitingMax });
  const works = new Map(names.map((name) => [name, work(name)]));
  for (const each of works.values()) queue.add(each);
  const begun: string[] = [];
  const begin = () => {
    for (let next = queue.next(); next !== undefined; next = queue.next()) begun.push(next.name);
    return begun.splice(0);
  };
  return { queue, begin, end: (name: string) => queue.done(works.get(name)!), works };
}

it("one principal has two places, and never the last one", () => {
  expect(filled(3, ["ada1", "ada2", "ada3"]).begin()).toEqual(["ada1", "ada2"]);
  expect(filled(8, ["ada1", "ada2", "ada3"]).begin()).toEqual(["ada1", "ada2"]);
  expect(filled(2, ["ada1", "ada2"]).begin()).toEqual(["ada1"]);
});

it("principals take turns, whoever came first with many", () => {
  const { begin, end } = filled(3, ["ada1", "ada2", "ada3", "bob1", "cyd1", "cyd2"]);
  expect(begin()).toEqual(["ada1", "bob1", "cyd1"]);
  end("bob1");
  // ada and cyd have one each, and the only free place is the last one.
  expect(begin()).toEqual([]);
  end("ada1");
  expect(begin()).toEqual(["ada2"]);
  end("cyd1");
  expect(begin()).toEqual(["cyd2"]);
});

it("one client address has two places, and never the last one, whoever asks from there", () => {
  const queue = new FairQueue<Work>({ places: 4, waitingMax: 64 });
  const from = (name: string, address: string) => ({ ...work(name), address });
  const works = [from("ada1", "1"), from("bob1", "1"), from("cyd1", "1"), from("dee1", "2"), from("key1", "1")];
  for (const each of works) queue.add(each);
  const begin = () => queue.next()?.name;
  expect([begin(), begin(), begin(), begin(), begin()]).toEqual(["ada1", "bob1", "dee1", "key1", undefined]);
  queue.done(works[1]!);
  // The free place is the last one.
  expect(begin()).toBe(undefined);
  queue.done(works[0]!);
  expect(begin()).toBe("cyd1");
});

it("of too much waiting work one piece of the address with the most is refused, whose principals have little each", () => {
  const queue = new FairQueue<Work>({ places: 1, waitingMax: 4 });
  const from = (name: string, address: string) => ({ ...work(name), address });
  for (const name of ["ada1", "bob1", "cyd1"]) queue.add(from(name, "1"));
  for (const name of ["dee1", "dee2"]) queue.add(from(name, "2"));
  expect(queue.removeExcess()?.name).toBe("cyd1");
  expect(queue.removeExcess()).toBe(undefined);
});

it("keys have half of the places between them", () => {
  const { begin, end } = filled(4, ["key-a1", "key-a2", "key-a3", "key-b1", "ada1"]);
  expect(begin()).toEqual(["key-a1", "key-b1", "ada1"]);
  end("key-b1");
  expect(begin()).toEqual(["key-a2"]);
  end("key-a1");
  expect(begin()).toEqual(["key-a3"]);
});

it("a single place is for everybody in turn, keys too", () => {
  const { begin, end } = filled(1, ["key-a1", "key-a2", "ada1"]);
  expect(begin()).toEqual(["key-a1"]);
  end("key-a1");
  expect(begin()).toEqual(["ada1"]);
  end("ada1");
  expect(begin()).toEqual(["key-a2"]);
});

it("where too much waits, whoever has most waiting gives up what came last", () => {
  const { queue, begin } = filled(3, ["ada1", "ada2"], 2);
  const added = (name: string) => {
    queue.add(work(name));
    return [begin(), queue.removeExcess()?.name];
  };
  expect(begin()).toEqual(["ada1", "ada2"]);
  expect(added("ada3")).toEqual([[], undefined]);
  expect(added("ada4")).toEqual([[], undefined]);
  expect(added("ada5")).toEqual([[], "ada5"]);
  expect(added("bob1")).toEqual([["bob1"], undefined]);
  expect(added("cyd1")).toEqual([[], "ada4"]);
  expect(added("dan1")).toEqual([[], "dan1"]);
});

it("what has been taken out does not begin, and can be taken out once", () => {
  const { queue, begin, works, end } = filled(3, ["ada1", "ada2", "ada3", "ada4"]);
  begin();
  expect(queue.remove(works.get("ada3")!)).toBe(true);
  expect(queue.remove(works.get("ada3")!)).toBe(false);
  expect(queue.remove(works.get("ada1")!)).toBe(false);
  end("ada1");
  expect(begin()).toEqual(["ada4"]);
});
