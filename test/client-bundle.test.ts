import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

it("the client is one module of at most 6 KiB gzipped, which imports nothing", async () => {
  const bundle = await rolldown({
    input: "src/client/index.ts",
    resolve: { extensionAlias: { ".js": [".ts"] } },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  const { code, imports, dynamicImports } = output[0];
  expect([...imports, ...dynamicImports]).toEqual([]);
  expect(gzipSync(code).length).toBeLessThanOrEqual(6 * 1024);
});
