import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { computeHash } from "../compute-hash.js";

// A step of the build. workerd does not compile WebAssembly at run time, so the binaries that hash-wasm contains as
// texts become modules. This step writes next to this file: each binary that is used; modules.js, which maps the
// SHA-256 of each binary to its module; and hash-wasm.js, a copy of hash-wasm with the SHA-256 of each binary in its
// place.

const digestOf = (binary: Uint8Array) => createHash("sha256").update(binary).digest();

const used = new Map<string, Uint8Array>();
const { compile } = WebAssembly;
Object.assign(WebAssembly, {
  compile: (binary: ArrayBuffer) => {
    const bytes = new Uint8Array(binary);
    used.set(digestOf(bytes).toString("hex"), bytes);
    return compile(binary);
  },
});
const password = new TextEncoder().encode("password");
const salt = new Uint8Array(16);
await computeHash({ kind: "argon2id", password, salt, memoryKib: 64, passes: 1, lanes: 1, hashBytes: 32 });
await computeHash({ kind: "bcrypt", password, salt, costFactor: 4 });

const write = (name: string, content: string | Uint8Array) => writeFileSync(new URL(name, import.meta.url), content);

for (const [digest, binary] of used) write(`${digest}.wasm`, binary);

const digests = [...used.keys()];
const lines = [
  ...digests.map((digest, i) => `import module${i} from "./${digest}.wasm";`),
  "export const modules = new Map([",
  ...digests.map((digest, i) => `  ["${digest}", module${i}],`),
  "]);",
];
write("modules.js", `${lines.join("\n")}\n`);

const require = createRequire(import.meta.url);
const { module } = require("hash-wasm/package.json") as { module: string };
const library = readFileSync(require.resolve(`hash-wasm/${module}`), "utf8");
const binaryText = /"(AGFzbQ[A-Za-z0-9+/]+=*)"/g;
write(
  "hash-wasm.js",
  library.replace(binaryText, (_, text) => `"${digestOf(Buffer.from(text, "base64")).toString("base64")}"`),
);
