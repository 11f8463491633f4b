import { spawnSync } from "node:child_process";
import { expect, test, vi } from "vitest";
import { StderrLog } from "../../src/node/stderr-log.js";

const settings = { format: "text", level: "info", addresses: "prefix" } as const;
const clock = { now: () => 0 };

function logged(work: (log: StderrLog) => void): readonly unknown[] {
  vi.useFakeTimers();
  const written = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    work(new StderrLog(settings, clock));
    return written.mock.calls.map(([text]) => text);
  } finally {
    written.mockRestore();
    vi.useRealTimers();
  }
}

test("lines are written together, after some milliseconds", () => {
  const written = logged((log) => {
    log.line("one");
    log.line("two");
    expect(console.error).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    log.line("three");
    vi.advanceTimersByTime(50);
  });
  expect(written).toEqual(["one\ntwo", "three"]);
});

test("a message comes behind the lines before it", () => {
  const written = logged((log) => {
    log.line("one");
    log.warn("careful");
    log.line("two");
    vi.advanceTimersByTime(50);
  });
  expect(written).toEqual(["one", "warning: careful", "two"]);
});

test("many lines do not wait", () => {
  const line = "x".repeat(10_000);
  const written = logged((log) => {
    log.line(line);
    log.line(line);
    log.line("the rest");
    vi.advanceTimersByTime(50);
  });
  expect(written).toEqual([`${line}\n${line}`, "the rest"]);
});

test("what nobody reads is dropped beyond a megabyte, and counted", () => {
  const unread = vi.spyOn(process.stderr, "writableLength", "get");
  const written = logged((log) => {
    unread.mockReturnValue(1_048_577);
    log.line("one");
    log.line("two");
    log.warn("careful");
    unread.mockReturnValue(1_048_576);
    log.line("three");
    vi.advanceTimersByTime(50);
    log.line("four");
    vi.advanceTimersByTime(50);
  });
  unread.mockRestore();
  expect(written).toEqual(["error: the log lacks 3 lines here: nobody read standard error", "three", "four"]);
});

test.each([
  ["exits", "process.exit(3)", 3],
  ["throws", "setImmediate(() => { throw new Error('a bug'); })", 1],
])("what waits is written where the process %s", (_, end, status) => {
  const program = `
    import { StderrLog } from "./dist/node/stderr-log.js";
    new StderrLog(${JSON.stringify(settings)}, { now: () => 0 }).line("the last line");
    ${end};
  `;
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(ended.status).toBe(status);
  expect(ended.stderr).toContain("the last line\n");
});
