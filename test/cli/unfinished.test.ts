import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { leavingNothing, makeDirectory, place } from "../../src/cli/unfinished.js";

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, linkSync: vi.fn(real.linkSync), fsyncSync: vi.fn(real.fsyncSync) };
});

afterEach(() => {
  vi.mocked(fs.linkSync).mockReset();
  vi.mocked(fs.fsyncSync).mockReset();
});

function temporaryDirectory(): string {
  const directory = fs.mkdtempSync(join(tmpdir(), "svc-unfinished-"));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function failing(code: string) {
  return () => {
    throw Object.assign(new Error(code), { code, syscall: "test" });
  };
}

/** Places a file beside itself, and then fails where it is told to. Gives what is there afterwards. */
async function placed(fail = false): Promise<Record<string, string>> {
  const directory = temporaryDirectory();
  const work = leavingNothing(directory, async (stage, undo) => {
    fs.writeFileSync(join(stage, "from"), "content", { mode: 0o600 });
    place(join(stage, "from"), join(directory, "to"), undo);
    if (fail) throw new Error("later");
  });
  await work.catch(() => {});
  return Object.fromEntries(
    fs.readdirSync(directory).map((name) => [name, fs.readFileSync(join(directory, name), "utf8")]),
  );
}

describe("a file in its place", () => {
  it.each([["linked"], ["copied"]])("is %s, and goes when the work fails afterwards", async (how) => {
    if (how === "copied") vi.mocked(fs.linkSync).mockImplementation(failing("EXDEV"));
    expect(await placed()).toEqual({ to: "content" });
    expect(await placed(true)).toEqual({});
  });

  it("goes when the disk does not keep it, and stays where a directory cannot be asked to be kept", async () => {
    vi.mocked(fs.fsyncSync).mockImplementation(failing("EIO"));
    expect(await placed()).toEqual({});
    vi.mocked(fs.fsyncSync).mockImplementation(failing("EINVAL"));
    expect(await placed()).toEqual({ to: "content" });
  });

  it.each([["EEXIST"], ["EXDEV"]])("is never one that was there: %s", async (code) => {
    vi.mocked(fs.linkSync).mockImplementation(failing(code));
    const directory = temporaryDirectory();
    fs.writeFileSync(join(directory, "from"), "new");
    fs.writeFileSync(join(directory, "to"), "mine");
    const work = leavingNothing(directory, async (_, undo) =>
      place(join(directory, "from"), join(directory, "to"), undo),
    );
    await expect(work).rejects.toMatchObject({ code: "EEXIST" });
    expect(fs.readFileSync(join(directory, "to"), "utf8")).toBe("mine");
  });
});

describe("what is unfinished", () => {
  it("goes as far as it can, and hides neither what failed nor what is left", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => told.mockRestore());
    const above = temporaryDirectory();
    const work = leavingNothing(above, async (_, undo) => {
      makeDirectory(join(above, "a"), undo);
      makeDirectory(join(above, "b"), undo);
      fs.rmdirSync(join(above, "b"));
      fs.writeFileSync(join(above, "b"), "somebody else's");
      throw new Error("the reason");
    });
    await expect(work).rejects.toThrow("the reason");
    expect(fs.readdirSync(above)).toEqual(["b"]);
    expect(told.mock.calls).toEqual([[expect.stringMatching(/^could not be removed: ENOTDIR.*\/b'$/)]]);
  });

  /** How a process ends that makes something, and gets a signal after each line that it prints. */
  async function ended(waiting: string) {
    const above = temporaryDirectory();
    const script = `
      import { leavingNothing, makeDirectory } from ${JSON.stringify(pathToFileURL("dist/cli/unfinished.js").href)};
      import { writeFileSync } from "node:fs";
      const above = ${JSON.stringify(above)};
      await leavingNothing(above, async (stage, undo, held) => {
        makeDirectory(above + "/a/b", undo);
        writeFileSync(stage + "/secret", "");
        setInterval(() => {}, 2 ** 30);
        setTimeout(() => console.log("made"));
        ${waiting}
        console.log("done");
      });`;
    const working = spawn(process.execPath, ["--input-type=module", "-e", script]);
    const exited = new Promise((resolve) => working.once("exit", (_, signal) => resolve(signal)));
    const lines: string[] = [];
    for await (const line of createInterface(working.stdout)) {
      lines.push(line);
      working.kill("SIGINT");
    }
    return { signal: await exited, lines, left: fs.readdirSync(above) };
  }

  it("goes when a signal ends the command", async () => {
    expect(await ended("await new Promise(() => {});")).toEqual({
      signal: "SIGINT",
      lines: ["made"],
      left: [],
    });
  });

  it("waits for a thread that comes to its end, and goes on with nothing else", async () => {
    const ending = 'await held(new Promise((resolve) => process.once("SIGINT", () => setTimeout(resolve))));';
    expect(await ended(ending)).toEqual({ signal: "SIGINT", lines: ["made"], left: [] });
  });

  it("waits for no thread once a second signal comes", async () => {
    const endless = 'process.once("SIGINT", () => console.log("one")); await held(new Promise(() => {}));';
    expect(await ended(endless)).toEqual({ signal: "SIGINT", lines: ["made", "one"], left: [] });
  });
});
