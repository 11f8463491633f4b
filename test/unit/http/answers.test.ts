import { expect, it } from "vitest";
import { AnswerRoom } from "../../../src/http/answer-room.js";
import { Refusal } from "../../../src/http/refusal.js";
import { jsonText } from "../../../src/http/respond.js";
import { UnsentBytes } from "../../../src/http/unsent-bytes.js";

/** docs/reference/limits.md#answers: long answers that wait until they are taken */
const text = (length: number) => `"${"x".repeat(length - 2)}"`;
const long = 300_000;
const get = new Request("http://localhost/");

it("a long answer is sent in slices that together are its text", async () => {
  // A character of two halves at every place where a slice could end.
  for (let shift = 0; shift < 2; shift++) {
    const body = JSON.stringify("x".repeat(shift) + "🙂é".repeat(200_000));
    const response = jsonText(body);
    expect(await response.text()).toBe(body);
  }
  expect(await jsonText(text(262_143)).text()).toBe(text(262_143));
});

it("a slice is made only when the one before was taken", async () => {
  const reader = jsonText(text(1_000_000)).body!.getReader();
  const sizes: number[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) sizes.push(next.value.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(131_072);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000_000);
});

it("takes room until the client has taken it", async () => {
  const unsent = new UnsentBytes(4 * long);
  const room = () => new AnswerRoom(unsent, () => ["user:ada", "address 1"]);
  const first = room();
  expect(first.take(long)).toBe(null);
  const response = first.sent(get, jsonText(text(long)));
  expect(unsent.all).toBe(long);
  expect(room().take(1)).toBe(null);
  const refusal = room().take(long)!;
  expect(refusal).toMatchObject({ code: "busy", status: 503 });
  expect(refusal.toResponse().headers.get("Retry-After")).toBe("5");
  await response.text();
  expect(unsent.all).toBe(0);
  expect(room().take(long)).toBe(null);
});

it("takes none any more once the client has gone, or the answer is another one", async () => {
  const unsent = new UnsentBytes(4 * long);
  const room = () => new AnswerRoom(unsent, () => ["user:ada"]);
  for (const sent of ["cancelled", "short", "head"]) {
    const taken = room();
    expect(taken.take(long), sent).toBe(null);
    const request = sent === "head" ? new Request("http://localhost/", { method: "HEAD" }) : get;
    const response = taken.sent(request, jsonText(sent === "short" ? "{}" : text(long)));
    if (sent === "cancelled") await response.body!.cancel();
    expect(unsent.all, sent).toBe(0);
  }
});

it("that of a write which was carried out says so where there is no room", () => {
  const unsent = new UnsentBytes(4 * long);
  const room = () => new AnswerRoom(unsent, () => ["user:ada"]);
  const response = room().sent(get, jsonText(text(long)));
  expect(response.status).toBe(200);
  expect(unsent.all).toBe(long);
  expect(room().sent(get, jsonText(text(long))).status).toBe(new Refusal("outcome_unknown", "").status);
  expect(room().sent(get, jsonText("{}")).status).toBe(200);
});

it("a quarter of the room is for one principal or address, and one answer of any length where none waits", () => {
  const unsent = new UnsentBytes(100);
  const ada = unsent.take(60, ["user:ada", "address 1"])!;
  expect(unsent.take(1, ["user:ada", "address 2"])).toBe(null);
  expect(unsent.take(1, ["user:bob", "address 1"])).toBe(null);
  const bob = unsent.take(25, ["user:bob", "address 2"])!;
  expect(unsent.take(16, ["user:cyd", "address 3"])).toBe(null);
  const cyd = unsent.take(15, ["user:cyd", "address 3"])!;
  ada();
  ada();
  expect(unsent.all).toBe(40);
  expect(unsent.take(25, ["user:ada", "address 1"])).not.toBe(null);
  bob();
  cyd();
  expect(unsent.all).toBe(25);
});
