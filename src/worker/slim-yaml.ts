// A step of `npm run build:worker`: the YAML library as a Worker needs it, which reads YAML 1.2 and writes none. What it
// leaves out is a fifth of the library, and parsed at every start of an isolate.
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const library = join(dirname(createRequire(import.meta.url).resolve("yaml/package.json")), "browser");
const target = fileURLToPath(new URL("./yaml", import.meta.url));

cpSync(library, target, { recursive: true });
// Merge keys are asked for everywhere.
for (const folder of ["stringify", "schema/yaml-1.1"])
  for (const name of readdirSync(join(target, "dist", folder)))
    if (basename(name) !== "merge.js") leaveOut(join(target, "dist", folder, name));
// What makes nodes of values, revives, or visits tokens, and the schema of JSON.
for (const file of ["doc/createNode", "doc/applyReviver", "parse/cst-visit", "schema/json/schema"])
  leaveOut(join(target, "dist", `${file}.js`));

/** Each of its exports throws. */
function leaveOut(file: string): void {
  const [, list] = /^export \{ (.+) \};$/m.exec(readFileSync(file, "utf8")) ?? [];
  if (list === undefined) throw new Error(`${file} exports in another way than it used to`);
  const names = list.split(", ").map((name) => `absent as ${name.split(" as ").at(-1)}`);
  const thrown = 'const absent = () => { throw new Error("the Worker writes no YAML"); };';
  writeFileSync(file, `${thrown}\nexport { ${names.join(", ")} };\n`);
}
