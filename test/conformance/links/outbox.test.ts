import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MailMessage } from "../../../src/platform/platform.js";
import { client, expectAnswer } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { hour, lastToken, mailTo, open, other, password, tokenIn, verifying } from "./support.js";

const ada = "ada@example.com";
const accepted = { data: { accepted: true } };
const request = (server: TestServer, email = ada) => client(server).post("/auth/password-reset/request", { email });

/** A transport that takes messages and says nothing until it is told. */
function hang(server: TestServer) {
  const waiting: { readonly message: MailMessage; readonly accept: () => void }[] = [];
  const mail = {
    send: (message: MailMessage) => new Promise<void>((resolve) => waiting.push({ message, accept: resolve })),
  };
  Object.assign(server.platform, { mail });
  return waiting;
}

function databaseFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "data.db");
}

describe("a mail that cannot be delivered", () => {
  it("goes out after a restart; none is lost, and none comes twice", async () => {
    const path = databaseFile();
    const first = await serve({ ...verifying, path });
    first.mail.failure = new Error("connect ECONNREFUSED");
    const addresses = Array.from({ length: 12 }, (_, n) => `user${n}@example.com`);
    for (const email of addresses) {
      const answer = await client(first).post("/auth/register", { email, password });
      expect(answer.status).toBe(202);
    }
    await first.settled();
    expect(await countOf(first, "_outbox")).toBe(12);
    const second = await serve({ ...verifying, path });
    await second.upkeep.resumeMail();
    expect(second.mail.messages.map(({ to }) => to).sort()).toEqual([...addresses].sort());
    expect(await countOf(second, "_outbox")).toBe(0);
    await second.upkeep.deliverMail();
    expect(second.mail.messages).toHaveLength(12);
    for (const email of addresses) {
      const token = await lastToken(second, email);
      const answer = await client(second).post("/auth/email-verification/confirm", { token });
      expect(answer.status).toBe(200);
    }
    expect(first.mail.messages).toEqual([]);
  });

  it("is tried again after 10 seconds, 20, 40 and so on, up to an hour", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: ada, password });
    await client(server).post("/auth/email-verification/confirm", { token: await lastToken(server, ada) });
    const attempts: number[] = [];
    const began = server.clock.now();
    Object.assign(server.platform, {
      mail: {
        send: async () => {
          attempts.push(server.clock.now() - began);
          throw new Error("down");
        },
      },
    });
    // The mail to the owner of a taken address holds no link that could die meanwhile.
    await client(server).post("/auth/register", { email: ada, password: other });
    await server.settled();
    while (attempts.length < 5) {
      server.clock.advance(1_000);
      await server.upkeep.deliverMail();
    }
    expect(attempts).toEqual([0, 10_000, 30_000, 70_000, 150_000]);
    for (let waited = 0; waited < 5; waited++) {
      server.clock.advance(hour);
      await server.upkeep.deliverMail();
    }
    const [[attempted, next]] = (await rowsOf(server, "SELECT attempts, next_attempt_at FROM _outbox")) as [
      [number, number],
    ];
    expect(attempted).toBeGreaterThan(8);
    expect(next - server.clock.now()).toBe(hour);
  });

  it("says so in the log, without its token, and not to the caller", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    server.mail.failure = new Error("connect ECONNREFUSED");
    expectAnswer(await request(server), 202, accepted);
    await server.settled();
    expect(server.log.lines.join("\n")).toMatch(/could not be delivered.*ECONNREFUSED/s);
    const lines = server.log.lines.length;
    server.mail.failure = null;
    server.clock.advance(10_000);
    await server.upkeep.deliverMail();
    expect(server.log.lines).toHaveLength(lines);
    expect(server.log.lines.join("\n")).not.toContain(tokenIn(await mailTo(server, ada)));
  });

  it("whose link is dead by then is not sent at all", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    server.mail.failure = new Error("down");
    await request(server);
    await server.settled();
    await request(server);
    await server.settled();
    server.mail.failure = null;
    server.clock.advance(10_000);
    await server.upkeep.deliverMail();
    expect(server.mail.messages).toHaveLength(1);
    expect(await countOf(server, "_outbox")).toBe(0);
    server.mail.failure = new Error("down");
    await request(server);
    await server.settled();
    server.mail.failure = null;
    server.clock.advance(hour);
    await server.upkeep.deliverMail();
    expect(server.mail.messages).toHaveLength(1);
    expect(await countOf(server, "_outbox")).toBe(0);
  });

  it("is given up after three days", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: ada, password });
    await client(server).post("/auth/email-verification/confirm", { token: await lastToken(server, ada) });
    server.mail.failure = new Error("down");
    await client(server).post("/auth/register", { email: ada, password: other });
    await server.settled();
    server.clock.advance(71 * hour);
    await server.upkeep.deliverMail();
    expect(await countOf(server, "_outbox")).toBe(1);
    server.clock.advance(hour);
    await server.upkeep.deliverMail();
    expect(await countOf(server, "_outbox")).toBe(0);
    expect(server.log.lines.join("\n")).toMatch(/given up/);
  });
});

describe("a mailer that hangs", () => {
  it("holds up neither the answer nor other mails, and its mail goes out a minute after a restart", async () => {
    const path = databaseFile();
    const server = await serve({ ...open, path });
    await signUp(server, ada);
    await signUp(server, "bob@example.com");
    const waiting = hang(server);
    expectAnswer(await request(server), 202, accepted);
    expectAnswer(await request(server, "bob@example.com"), 202, accepted);
    // Both are answered, and neither mail has been taken.
    await expect.poll(() => waiting.map(({ message }) => message.to)).toEqual([ada, "bob@example.com"]);
    waiting[1]!.accept();
    await expect.poll(() => countOf(server, "_outbox")).toBe(1);
    const restarted = await serve({ ...open, path });
    await restarted.upkeep.resumeMail();
    expect(restarted.mail.messages).toEqual([]);
    restarted.clock.advance(60_000);
    await restarted.upkeep.deliverMail();
    expect(restarted.mail.messages.map(({ to }) => to)).toEqual([ada]);
    expect(await countOf(restarted, "_outbox")).toBe(0);
    waiting[0]!.accept();
    await server.settled();
  });

  it("is sent a mail once, however long it takes and however often the outbox is looked through", async () => {
    const server = await serve(open);
    await signUp(server, ada);
    const waiting = hang(server);
    await request(server);
    await expect.poll(() => waiting.length).toBe(1);
    for (let looked = 0; looked < 4; looked++) {
      server.clock.advance(30_000);
      await server.upkeep.deliverMail();
    }
    expect(waiting).toHaveLength(1);
    waiting[0]!.accept();
    await server.settled();
    expect(await countOf(server, "_outbox")).toBe(0);
  });

  it("is not handed the same mail by another process that runs beside this one", async () => {
    const path = databaseFile();
    const server = await serve({ ...open, path });
    await signUp(server, ada);
    const waiting = hang(server);
    await request(server);
    await expect.poll(() => waiting.length).toBe(1);
    const beside = await serve({ ...open, path });
    await beside.upkeep.resumeMail();
    beside.clock.advance(59_999);
    await beside.upkeep.deliverMail();
    expect(beside.mail.messages).toEqual([]);
    waiting[0]!.accept();
    await server.settled();
    expect(await countOf(server, "_outbox")).toBe(0);
  });

  it("is sent ten mails at once at most", async () => {
    const server = await serve(verifying);
    const waiting = hang(server);
    await Promise.all(
      Array.from({ length: 15 }, (_, n) =>
        client(server).post("/auth/register", { email: `user${n}@example.com`, password }),
      ),
    );
    await expect.poll(() => waiting.length).toBe(10);
    for (let accepted = 0; accepted < 10; accepted++) waiting[accepted]!.accept();
    await expect.poll(() => waiting.length).toBe(15);
    for (const { accept } of waiting) accept();
    await server.settled();
    expect(await countOf(server, "_outbox")).toBe(0);
  });
});

describe("a mail's delivery", () => {
  it("waits for the tick: until then no statement tells an address that has an account", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, wrap: storage.wrap });
    await signUp(server, ada);
    const waiting = new Set<() => Promise<void>>();
    Object.assign(server.platform, { defer: (work: () => Promise<void>) => waiting.add(work) });
    const sent: unknown[] = [];
    for (const email of ["unknown@example.com", ada, ada]) {
      storage.reset();
      expectAnswer(await request(server, email), 202, accepted);
      expect((await client(server).get("/health")).status).toBe(200);
      sent.push(storage.sent.map(({ sql }) => sql));
    }
    expect(sent).toEqual([sent[0], sent[0], sent[0]]);
    expect([server.mail.messages.length, await countOf(server, "_outbox")]).toEqual([0, 2]);
    // The same work for all of them.
    expect(waiting.size).toBe(1);
    for (const work of waiting) await work();
    expect(server.mail.messages.map(({ to }) => to)).toEqual([ada]);
    expect(await countOf(server, "_outbox")).toBe(0);
  });
});

describe("a mail that was delivered", () => {
  it("is not repeated, though the storage failed right then", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, wrap: storage.wrap });
    await signUp(server, ada);
    storage.failing = (statements) => statements.some(({ sql }) => sql.startsWith("DELETE FROM _outbox"));
    await request(server);
    await server.settled();
    expect([server.mail.messages.length, await rowsOf(server, "SELECT count(*) FROM _outbox")]).toEqual([1, [[1]]]);
    storage.failing = null;
    server.clock.advance(hour / 2);
    await server.upkeep.deliverMail();
    expect([server.mail.messages.length, await countOf(server, "_outbox")]).toEqual([1, 0]);
  });

  it("is written with its link or not at all", async () => {
    const storage = switchboard();
    const server = await serve({ ...open, wrap: storage.wrap });
    await signUp(server, ada);
    storage.failing = (statements) => statements.some(({ sql }) => sql.startsWith("INSERT INTO _links"));
    const answer = await request(server);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ error: { code: "auth_unavailable" } });
    storage.failing = null;
    expect([await countOf(server, "_links"), await countOf(server, "_outbox")]).toEqual([0, 0]);
    await server.settled();
    expect(server.mail.messages).toEqual([]);
  });
});
