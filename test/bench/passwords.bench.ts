import { test } from "vitest";
import { createArgon2 } from "../../src/node/passwords/argon2.js";
import { currentArgon2id, hashBytes, saltBytes } from "../../src/platform/phc.js";
import { computeHash } from "../../src/worker/compute-hash.js";
import { figure, median, timed } from "../support/figures.js";

const repetitions = 31;

test("one password's hash under Node, beside hash-wasm", async () => {
  const password = "correct horse battery staple";
  const input = { password: new TextEncoder().encode(password), salt: new Uint8Array(saltBytes), hashBytes };
  const hasher = createArgon2();
  const native: number[] = [];
  const wasm: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    native.push(await timed(() => hasher.hash(password)));
    wasm.push(await timed(() => computeHash({ ...currentArgon2id, ...input })));
  }
  await hasher.close();
  const [ours, theirs] = [median(native), median(wasm)];
  const beside = `${theirs.toFixed(0)} ms with hash-wasm`;
  figure("speed", "one password hash", `${ours.toFixed(0)} ms`, beside, theirs / ours, "");
});
