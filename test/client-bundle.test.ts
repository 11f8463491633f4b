import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

it.each([
  ["index.ts", 15 * 1024, []],
  ["outbox.ts", 6 * 1024, []],
  ["rxdb.ts", 3 * 1024, ["rxdb/plugins/replication", "rxjs"]],
  ["tanstack-db.ts", 1024, []],
])("%s is one module of at most %d bytes gzipped, which imports nothing but %j", async (file, bytesMax, external) => {
  const bundle = await rolldown({
    input: `src/client/${file}`,
    external,
    resolve: { extensionAlias: { ".js": [".ts"] } },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  const { code, imports, dynamicImports } = output[0];
  expect([...imports, ...dynamicImports].sort()).toEqual(external);
  expect(gzipSync(code).length).toBeLessThanOrEqual(bytesMax);
});
