import { expect, test } from "vitest";
import { placeProblems } from "../../src/node/place-problems.js";

const standard = { url: "file:.svc/data.db", journal: ".svc/usage", mail: ".svc/mail" };
const found = (written: Partial<typeof standard>) => {
  const { url, journal, mail } = { ...standard, ...written };
  const config = { database: { url }, usage: { journal_dir: journal }, mail: { log_dir: mail } };
  return placeProblems(config, "/p/app", ["svc.toml", "svc.schema.yaml"]).map(
    ({ path, message }) => `${path}: ${message.split(":")[0]}`,
  );
};

test.each([
  [".", "the project is in /p/app"],
  ["", "the project is in /p/app"],
  ["..", "the project is in /p"],
  ["/", "the project is in /"],
  [".svc", "everything that the server keeps is in .svc"],
  ["./.svc/usage/..", "everything that the server keeps is in .svc"],
  ["svc.toml", "svc.toml is a file of the project itself"],
  ["/p/app/svc.schema.yaml", "svc.schema.yaml is a file of the project itself"],
  [".svc/data.db", "the database is in /p/app/.svc/data.db"],
])("%s is no place for what the server writes by itself", (place, problem) => {
  expect(found({ journal: place, mail: place })).toEqual([`usage.journal_dir: ${problem}`, `mail.log_dir: ${problem}`]);
});

test("nor is a directory above the database", () => {
  const url = "file:///var/lib/data/app.db";
  const problem = "usage.journal_dir: the database is in";
  expect(found({ url, journal: "/var/lib/data" })).toEqual([`${problem} /var/lib/data`]);
  expect(found({ url, journal: "/var/lib" })).toEqual([`${problem} /var/lib`]);
  expect(found({ url, journal: "/var/lib/usage", mail: "/var/lib/data/mail" })).toEqual([]);
});

test.each([
  [standard],
  [{ journal: "../journal", mail: "/p/mail" }],
  [{ journal: "usage", mail: "usage" }],
  [{ url: "libsql://db.example.com", journal: "x" }],
  [{ journal: ".svc/svc.toml", mail: "svc.tom" }],
])("%j are places", (written) => {
  expect(found(written)).toEqual([]);
});
