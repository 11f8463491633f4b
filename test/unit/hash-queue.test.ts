import { expect, it } from "vitest";
import { HashQueue } from "../../src/node/passwords/hash-queue.js";
import type { HashTurn } from "../../src/platform/platform.js";

interface Work extends HashTurn {
  readonly name: string;
}

/** `ada1`: the first sign-in of ada's address. What begins with `new` is a registration, `new-ada1`. */
const work = (name: string): Work => {
  const address = name.replace(/^new-|\d+$/g, "");
  return { name, address, isFor: name.startsWith("new-") ? "registration" : "sign_in" };
};

const many = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i + 1}`);

function filled(places: number, names: readonly string[]) {
  const queue = new HashQueue<Work>(places);
  const refused = names.flatMap((name) => queue.add(work(name))?.name ?? []);
  const order: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) order.push(next.name);
  return { refused, order };
}

it("sign-ins come before registrations, whoever came first", () => {
  expect(filled(64, ["new-ada1", "new-bob1", "cyd1", "ada1"]).order).toEqual(["cyd1", "ada1", "new-ada1", "new-bob1"]);
});

it("addresses take turns, and keep their own order", () => {
  expect(filled(64, ["ada1", "ada2", "ada3", "bob1", "cyd1", "cyd2"]).order).toEqual([
    "ada1",
    "bob1",
    "cyd1",
    "ada2",
    "cyd2",
    "ada3",
  ]);
});

it("an address that is alone has all places, and no more", () => {
  const { refused, order } = filled(64, many("school", 66));
  expect(refused).toEqual(["school65", "school66"]);
  expect(order).toEqual(many("school", 64));
});

it("borrowed places are given back as others come, the latest first, down to eight", () => {
  const others = many("bob", 10);
  const { refused, order } = filled(20, [...many("ada", 20), ...others]);
  expect(refused).toEqual(["ada20", "ada19", "ada18", "ada17", "ada16", "ada15", "ada14", "ada13", "bob9", "bob10"]);
  expect(order.filter((name) => name.startsWith("ada"))).toEqual(many("ada", 12));
  expect(order.filter((name) => name.startsWith("bob"))).toEqual(many("bob", 8));
});

it("whoever has none waiting is let in, even if all places are others' own, as long as one of these has two", () => {
  const crowd = [...many("ada", 8), ...many("bob", 8)];
  expect(filled(16, [...crowd, "cyd1", "dan1", "cyd2"]).refused).toEqual(["ada8", "bob8", "cyd2"]);
  expect(filled(2, ["ada1", "bob1", "cyd1"]).refused).toEqual(["cyd1"]);
});

it("a sign-in takes a registration's place, of the address with the most", () => {
  const { refused, order } = filled(4, [
    "new-ada1",
    "new-bob1",
    "new-bob2",
    "new-ada2",
    "bob3",
    "bob4",
    "bob5",
    "bob6",
    "cyd1",
  ]);
  expect(refused).toEqual(["new-ada2", "new-bob2", "new-ada1", "new-bob1", "bob6"]);
  expect(order).toEqual(["bob3", "cyd1", "bob4", "bob5"]);
});

it("tells who would find a place", () => {
  const queue = new HashQueue<Work>(10);
  const hasRoom = (name: string) => queue.hasRoomFor(work(name));
  for (const name of many("new-ada", 9)) expect(queue.add(work(name))).toBeNull();
  expect([hasRoom("new-ada"), hasRoom("new-bob")]).toEqual([true, true]);
  queue.add(work("new-ada10"));
  expect([hasRoom("new-ada"), hasRoom("new-bob"), hasRoom("ada")]).toEqual([false, true, true]);
  for (const name of ["new-bob1", "new-bob2"]) queue.add(work(name));
  expect([hasRoom("new-ada"), hasRoom("new-bob"), hasRoom("cyd")]).toEqual([false, false, true]);
});

it("a registration takes no sign-in's place", () => {
  expect(filled(12, [...many("ada", 12), "new-bob1"]).refused).toEqual(["new-bob1"]);
  expect(filled(12, [...many("new-ada", 11), "cyd1", "new-bob1"]).refused).toEqual(["new-ada11"]);
});
