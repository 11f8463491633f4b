import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { mailTransport } from "../../src/node/mail/mail-transport.js";
import { smtpMail } from "../../src/node/mail/smtp.js";
import { systemClock } from "../../src/node/system.js";
import { ProblemsError } from "../../src/problems/problem.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { httpMail } from "../../src/remote/http-mail.js";

const message = {
  from: "Chat <no-reply@chat.example>",
  to: "Ada.Lovelace@example.com",
  subject: "Grüße — confirm your address",
  text: "Open this:\nhttps://app.example.com/verify?token=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG\n",
  html: '<p>Open <a href="https://app.example.com/verify?token=abc">this</a></p>',
  link: "https://app.example.com/verify?token=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
};

interface Delivered {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

async function smtp(options: SMTPServerOptions = {}) {
  const delivered: Delivered[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    ...options,
    onData: (stream, { envelope }, done) => {
      let source = "";
      stream.on("data", (chunk: Buffer) => {
        source += chunk.toString();
      });
      stream.on("end", () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : "";
        delivered.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, delivered };
}

describe("SMTP", () => {
  it("delivers text and HTML to the address as it is spelled, and signs in where the URL says so", async () => {
    const { port, delivered } = await smtp({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === "user" && password === "p@ss" ? done(null, { user: "user" }) : done(new Error("no")),
    });
    await smtpMail({ url: `smtp://user:p%40ss@127.0.0.1:${port}` }).send(message);
    expect(delivered).toHaveLength(1);
    const [{ from, to, source }] = delivered as [Delivered];
    expect([from, to]).toEqual(["no-reply@chat.example", ["Ada.Lovelace@example.com"]]);
    expect(source).toMatch(/^From: Chat <no-reply@chat\.example>\r$/m);
    expect(source).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(source).toMatch(/Content-Type: text\/plain; charset=utf-8/);
    expect(source).toMatch(/Content-Type: text\/html; charset=utf-8/);
    expect(source.split("\r\n")).toContain(message.link);
    await expect(smtpMail({ url: `smtp://user:wrong@127.0.0.1:${port}` }).send(message)).rejects.toThrow();
    expect(delivered).toHaveLength(1);
  });

  it("sends letters outside of ASCII and endless lines encoded, which any server takes", async () => {
    const { port, delivered } = await smtp();
    const long = `https://app.example.com/${"x".repeat(1_000)}`;
    await smtpMail({ url: `smtp://127.0.0.1:${port}` }).send({ ...message, text: "Grüße\n", html: long });
    const { source } = delivered[0]!;
    expect(source).toContain("Gr=C3=BC=C3=9Fe");
    expect(source.replace(/=\r\n/g, "")).toContain(long);
    expect(source).not.toMatch(/[^\0-\x7f]/);
    for (const line of source.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
  });

  it("confirms nothing that the server refuses, and says its status without its words, which may hold anything", async () => {
    const { port, delivered } = await smtp({ onRcptTo: (_, __, done) => done(new Error("no such mailbox")) });
    const refused = smtpMail({ url: `smtp://127.0.0.1:${port}` }).send(message);
    await expect(refused).rejects.toEqual(new Error("the mail server replied 550 to RCPT TO (EENVELOPE)"));
    expect(delivered).toEqual([]);
  });

  it("gives up at its deadline where the server hangs, and where there is none", async () => {
    const port = await silent();
    const mail = smtpMail({ url: `smtp://127.0.0.1:${port}`, deadlineMs: 200 });
    await expect(mail.send(message)).rejects.toThrow();
    await expect(smtpMail({ url: "smtp://127.0.0.1:1" }).send(message)).rejects.toThrow(/ECONNREFUSED/);
  });
});

/** Takes connections and says nothing. */
async function silent(): Promise<number> {
  const server: Server = createSocketServer((socket) => {
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function http(answer: (response: ServerResponse) => void) {
  const requests: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push({ request, body });
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`, requests };
}

describe("HTTP", () => {
  const token = "a token";

  it("posts the message as JSON with its token, and takes any 2xx", async () => {
    const { url, requests } = await http((response) => response.writeHead(202).end("queued"));
    await httpMail({ url, token, fetch }).send(message);
    expect(requests).toHaveLength(1);
    const [{ request, body }] = requests as [(typeof requests)[number]];
    expect([request.method, request.url]).toEqual(["POST", "/send"]);
    expect(request.headers).toMatchObject({
      authorization: "Bearer a token",
      "content-type": "application/json",
    });
    const { link: _, ...posted } = message;
    expect(JSON.parse(body)).toEqual(posted);
  });

  it.each([301, 307, 400, 401, 500])(
    "confirms nothing that is answered %i, and follows no redirect",
    async (status) => {
      const elsewhere = await http((response) => response.end());
      const { url, requests } = await http((response) =>
        response.writeHead(status, { Location: elsewhere.url }).end("an answer with a secret"),
      );
      const sent = httpMail({ url, token, fetch }).send(message);
      await expect(sent).rejects.toThrow(new Error(`the mail service answered ${status}`));
      expect([requests.length, elsewhere.requests.length]).toEqual([1, 0]);
    },
  );

  it("gives up at its deadline where the service hangs", async () => {
    const { url } = await http(() => {});
    await expect(httpMail({ url, token, fetch, deadlineMs: 100 }).send(message)).rejects.toThrow(/timeout/);
  });
});

describe("mail.transport", () => {
  function transport(toml: string, environment: NodeJS.ProcessEnv) {
    const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const printed: string[] = [];
    const mail = mailTransport(parseConfig(toml).config!, {
      directory,
      environment,
      clock: systemClock,
      fetch,
      print: (text) => printed.push(text),
    });
    return { mail, directory, printed };
  }

  it("log writes one .eml file for each message", async () => {
    const { mail, directory } = transport('mail.log_dir = "mails"', {});
    await mail.send(message);
    await mail.send(message);
    const files = readdirSync(join(directory, "mails"));
    expect(files.map((file) => file.endsWith(".eml"))).toEqual([true, true]);
    expect(readFileSync(join(directory, "mails", files[0]!), "utf8")).toMatch(/^To: Ada\.Lovelace@example\.com\r$/m);
  });

  it("log leaves the link whole on one line, and prints it", async () => {
    const { mail, directory, printed } = transport('mail.log_dir = "mails"', {});
    await mail.send({ ...message, html: `<a href="${message.link}">Grüße</a>\n` });
    await mail.send({ ...message, text: "Nothing to open.\n", link: null });
    const files = readdirSync(join(directory, "mails")).sort();
    const source = readFileSync(join(directory, "mails", files[0]!), "utf8");
    expect(source.split("\r\n")).toEqual(expect.arrayContaining([message.link, `<a href="${message.link}">Grüße</a>`]));
    expect(source.match(/^Content-Transfer-Encoding: .*$/gm)).toEqual([
      "Content-Transfer-Encoding: 7bit",
      "Content-Transfer-Encoding: 8bit",
    ]);
    expect(source).not.toMatch(/[^\r]\n/);
    expect(printed).toEqual([
      `mail to ${message.to}: ${message.subject}\n  ${message.link}`,
      `mail to ${message.to}: ${message.subject}`,
    ]);
  });

  it("log breaks lines that no mail may have", async () => {
    const { mail, directory } = transport('mail.log_dir = "mails"', {});
    const link = `https://app.example.com/${"x".repeat(1_000)}`;
    await mail.send({ ...message, text: `${link}\n`, link });
    const [file] = readdirSync(join(directory, "mails"));
    const source = readFileSync(join(directory, "mails", file!), "utf8");
    for (const line of source.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
    expect(source.replace(/=\r\n/g, "")).toContain(link);
  });

  it.each([
    ['mail.transport = "smtp"', {}, "SVC_SMTP_URL"],
    ['mail = { transport = "smtp", smtp_url_env = "MY_SMTP" }', { SVC_SMTP_URL: "smtp://x" }, "MY_SMTP"],
    ['mail.transport = "smtp"', { SVC_SMTP_URL: "http://user:secret@x" }, "SVC_SMTP_URL"],
    ['mail = { transport = "http", http_url = "https://x" }', {}, "SVC_MAIL_TOKEN"],
  ])("%s with %j stops the start, and names the variable alone", (toml, environment, name) => {
    let problem: unknown;
    try {
      transport(toml, environment);
    } catch (error) {
      problem = error;
    }
    expect(problem).toBeInstanceOf(ProblemsError);
    expect(String(problem)).toContain(name);
    expect(String(problem)).not.toContain("secret");
  });

  it("smtp and http take theirs from the environment", async () => {
    const { port, delivered } = await smtp();
    await transport('mail.transport = "smtp"', { SVC_SMTP_URL: `smtp://127.0.0.1:${port}` }).mail.send(message);
    expect(delivered).toHaveLength(1);
    const { url, requests } = await http((response) => response.end());
    const toml = `mail = { transport = "http", http_url = "${url}" }`;
    await transport(toml, { SVC_MAIL_TOKEN: "t" }).mail.send(message);
    expect(requests[0]!.request.headers.authorization).toBe("Bearer t");
  });
});
