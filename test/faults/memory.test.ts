import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { figure } from "../support/figures.js";
import { projectDirectory } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** How many shapes of requests are sent: what `npm run test:faults` sends is in package.json. */
const shapes = Number(process.env.SHAPES ?? 300);

vi.setConfig({ testTimeout: 9_000_000 });

const columnCount = 100;
/** The name of a column; those that are not there wrap around. */
const column = (i: number) => (i % columnCount === 0 ? "id" : `c${i % columnCount}`);
const schema = `
wide:
  columns:
    id: { type: integer, primary_key: true }
${Array.from({ length: columnCount - 1 }, (_, i) => `    c${i + 1}: { type: text }`).join("\n")}
`;
const config = `
auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes" }
[rules.wide]
read = "public"
create = "public"
`;

const operators = ["eq", "ne", "gt", "gte", "lt", "lte", "starts_with"];

/** The path of a list, another for each number: what it selects, how it filters and how it sorts. */
function listPath(i: number): string {
  const howMany = 1 + (i % columnCount);
  const select = Array.from({ length: howMany }, (_, j) => column(i * 7 + j * 3)).filter(
    (name, j, names) => names.indexOf(name) === j,
  );
  const filters = Array.from(
    { length: 1 + (i % 5) },
    (_, j) => `filter[c${1 + ((i * 13 + j * 31) % (columnCount - 1))}][${operators[(i + j) % 7]}]=x`,
  );
  const sort = `${i % 2 === 0 ? "-" : ""}${column(Math.floor(i / columnCount))}`;
  return `/api/wide?select=${select.join()}&${filters.join("&")}&sort=${sort}`;
}

/** The most memory that a process has held, in MB. */
function peakMb(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) / 1024;
}

it(`${shapes} shapes of lists over 100 columns need little memory`, async () => {
  const directory = projectDirectory(schema);
  writeFileSync(join(directory, "svc.toml"), config);
  const server = await spawnServer(directory);
  const before = peakMb(server.process.pid!);
  const paths = Array.from({ length: shapes }, (_, i) => listPath(i));
  expect(new Set(paths).size).toBe(shapes);
  const left = paths.values();
  const statuses = new Set<number>();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const path of left) {
        const response = await fetch(server.url + path);
        statuses.add(response.status);
        await response.arrayBuffer();
      }
    }),
  );
  expect(statuses).toEqual(new Set([200]));
  const lists = peakMb(server.process.pid!);
  expect(await server.end("SIGTERM")).toBe(0);
  figure("memory", `${shapes} shapes of lists over 100 columns`, `${before.toFixed(0)} MB`, `${lists.toFixed(0)} MB`);
});
