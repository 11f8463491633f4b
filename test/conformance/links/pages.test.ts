import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Answer, client, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { backend, lastToken, linkIn, mailTo, notes, open, other, password, verifying } from "./support.js";

const ada = "ada@example.com";
const own = { "Sec-Fetch-Site": "same-origin", Origin: "null" };

const get = (server: TestServer, path: string) => client(server).get(path);

function submit(
  server: TestServer,
  page: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = own,
): Promise<Answer> {
  return client(server).send("POST", `/auth/pages/${page}`, {
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

/** The field that names the account. */
const fieldWith = (address: string) =>
  `<input id="username" type="email" autocomplete="username" value="${address}" readonly>`;

/** What every page sets, whatever it shows. */
function expectPage(answer: Answer, status: number): void {
  expect(answer.status, answer.text).toBe(status);
  const { headers, text } = answer;
  expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(headers.get("Cache-Control")).toBe("no-store");
  expect(headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(headers.get("Set-Cookie")).toBeNull();
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(text)!;
  const hash = createHash("sha256").update(style!).digest("base64");
  expect(headers.get("Content-Security-Policy")).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  expect(text).toMatch(/^<!DOCTYPE html>\n<html lang="en">/);
  expect(text).not.toMatch(/<script|javascript:| style="| on\w+=|<img|<link|@import|url\(/i);
  expect(text.match(/<h1>/g)).toHaveLength(1);
  for (const [, id] of text.matchAll(/<label for="(\w+)"/g)) expect(text).toContain(`id="${id}"`);
  for (const [, ids] of text.matchAll(/aria-describedby="([\w ]+)"/g))
    for (const id of ids!.split(" ")) expect(text).toContain(`id="${id}"`);
}

describe("a hosted page", () => {
  it("confirms an address with its form, and not by being opened", async () => {
    const server = await serve(verifying);
    await client(server).post("/auth/register", { email: ada, password });
    const { pathname, search } = linkIn(await mailTo(server, ada));
    for (let opened = 0; opened < 3; opened++) {
      const answer = await get(server, pathname + search);
      expectPage(answer, 200);
      expect(answer.text).toContain(`name="token" value="${await lastToken(server, ada)}"`);
      expect(answer.text).toContain(`<form method="post" action="${pathname}">`);
    }
    const head = await client(server).send("HEAD", pathname + search, {});
    expect([head.status, head.text]).toEqual([200, ""]);
    const unverified = "SELECT email_verified FROM _users";
    expect(await rowsOf(server, unverified)).toEqual([[0]]);
    const token = await lastToken(server, ada);
    expectPage(await submit(server, "verify-email", { token }), 200);
    expect(await rowsOf(server, unverified)).toEqual([[1]]);
    expect(await countOf(server, "_sessions")).toBe(0);
    const again = await submit(server, "verify-email", { token });
    expectPage(again, 400);
    expect(again.text).toContain('role="alert"');
    expect(again.text).not.toContain("<form");
    expect((await client(server).post("/auth/login", { email: ada, password })).status).toBe(200);
  });

  it("sets a new password, and shows the form again for one that is too weak", async () => {
    const server = await serve({ ...open, config: "auth.password_min_length = 8" });
    const { bearer } = await signUp(server, ada);
    await client(server).post("/auth/password-reset/request", { email: ada });
    const { pathname, search } = linkIn(await mailTo(server, ada));
    const form = await get(server, pathname + search);
    expectPage(form, 200);
    expect(form.text).toMatch(
      /<input id="password" name="password" type="password" autocomplete="new-password" required minlength="8"/,
    );
    const token = await lastToken(server, ada);
    const weak = await submit(server, "reset-password", { token, password: "abcdefg" });
    expectPage(weak, 400);
    expect(weak.text).toContain(`value="${token}"`);
    expect(weak.text).toContain('aria-invalid="true"');
    expect(weak.text).not.toContain("abcdefg");
    expectPage(await submit(server, "reset-password", { token, password: other }), 200);
    expectRefusal(await client(server, bearer).get("/auth/me"), 401, "unauthorized");
    expect((await client(server).post("/auth/login", { email: ada, password: other })).status).toBe(200);
  });

  it("names the account for password managers, while its link can be used", async () => {
    const server = await serve(open);
    await signUp(server, "o'ada@example.com");
    await client(server).post("/auth/password-reset/request", { email: "o'ada@example.com" });
    const { pathname, search } = linkIn(await mailTo(server, "o'ada@example.com"));
    const token = await lastToken(server, "o'ada@example.com");
    const field = fieldWith("o&#39;ada@example.com");
    const form = await get(server, pathname + search);
    expectPage(form, 200);
    expect(form.text).toContain(field);
    const weak = await submit(server, "reset-password", { token, password: "abc" });
    expectPage(weak, 400);
    expect(weak.text).toContain(field);
    const foreign = await get(server, `/auth/pages/accept-invitation${search}`);
    const unknown = await get(server, `${pathname}?token=${"A".repeat(43)}`);
    await submit(server, "reset-password", { token, password: other });
    const used = await get(server, pathname + search);
    const tooLate = await submit(server, "reset-password", { token, password: "abc" });
    for (const answer of [foreign, unknown, used, tooLate]) expect(answer.text).not.toMatch(/username|ada@/);
  });

  it("names the account of an invitation, of an address to confirm, and of a new address", async () => {
    const server = await serve(verifying);
    await (await backend(server)).post("/auth/users/invite", { email: "eve@example.com" });
    await client(server).post("/auth/register", { email: ada, password });
    const pageOf = async (address: string) => {
      const { pathname, search } = linkIn(await mailTo(server, address));
      return (await get(server, pathname + search)).text;
    };
    expect(await pageOf("eve@example.com")).toContain(fieldWith("eve@example.com"));
    expect(await pageOf(ada)).toContain(fieldWith(ada));
    const token = await lastToken(server, ada);
    await client(server).post("/auth/email-verification/confirm", { token });
    const login = await client(server).post("/auth/login", { email: ada, password });
    const { access_token } = (login.body as { data: { access_token: string } }).data;
    const me = client(server, { Authorization: `Bearer ${access_token}` });
    expect((await me.post("/auth/email", { email: "home@example.org", password })).status).toBe(202);
    expect(await pageOf("home@example.org")).toContain(fieldWith("home@example.org"));
  });

  it("accepts an invitation, and leads on to its destination, not to one of the address", async () => {
    const server = await serve({ schema: `$origins: ["https://app.example.com"]\n${notes}` });
    const redirect_to = "https://app.example.com/start?a=1&b=2";
    await (await backend(server)).post("/auth/users/invite", { email: ada, redirect_to });
    const url = linkIn(await mailTo(server, ada));
    expect(url.pathname).toBe("/auth/pages/accept-invitation");
    const token = url.searchParams.get("token")!;
    const query = `?token=${token}&redirect_to=https://evil.example/`;
    expect((await get(server, url.pathname + query)).text).not.toContain("evil");
    const done = await submit(server, "accept-invitation", {
      token,
      password,
      redirect_to: "https://evil.example/",
    });
    expectPage(done, 200);
    expect(done.text).toContain('<a href="https://app.example.com/start?a=1&amp;b=2" rel="noreferrer">');
    expect(done.text).not.toContain("evil");
    expect((await client(server).post("/auth/login", { email: ada, password })).status).toBe(200);
  });

  it("leads on to the application, as far as the project's files name it, and never where a request says", async () => {
    const app = "https://app.example.com";
    const anotherPage = `password_reset_url: "${app}/reset?lang=en"`;
    const redirects = `redirect_urls: ["chat://signed-in", "${app}/signed-in"]`;
    const origins = '$origins: ["https://docs.example.com"]';
    const allowed = 'cors.allowed_origins = ["https://www.example.com"]';
    for (const [$auth, more, config, expected] of [
      [anotherPage, origins, allowed, app],
      [redirects, origins, allowed, app],
      ["", origins, allowed, "https://docs.example.com"],
      ["", "", allowed, "https://www.example.com"],
      ["", "", "", null],
    ] as const) {
      const schema = `$auth: { email_verification: { required: true }, ${$auth} }\n${more}\n${notes}`;
      const server = await serve({ schema, config });
      await client(server).post("/auth/register", { email: ada, password });
      const token = await lastToken(server, ada);
      const fields = { token, redirect_to: "https://evil.example/" };
      const headers = { ...own, "X-Forwarded-Host": "evil.example", Referer: "https://evil.example/" };
      const done = await submit(server, "verify-email?redirect_to=https://evil.example/", fields, headers);
      expectPage(done, 200);
      const links = [...done.text.matchAll(/<a href="([^"]*)" rel="noreferrer">/g)].map(([, url]) => url);
      expect(links).toEqual(expected === null ? [] : [`${expected}/`]);
      expect(done.text).not.toContain("evil");
    }
  });

  it("takes forms of its own origin alone", async () => {
    const config =
      'auth.public_base_url = "https://api.example.com"\ncors.allowed_origins = ["https://app.example.com"]';
    const server = await serve({ ...verifying, config });
    await client(server).post("/auth/register", { email: ada, password });
    const token = await lastToken(server, ada);
    for (const headers of [
      {},
      { Origin: "null" },
      { Origin: "https://evil.example" },
      { Origin: "https://app.example.com" },
      { Origin: "https://api.example.com.evil.example" },
      { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
      { Origin: "null", "Sec-Fetch-Site": "cross-site" },
    ] as Record<string, string>[])
      expectRefusal(await submit(server, "verify-email", { token }, headers), 403, "forbidden");
    expect(await rowsOf(server, "SELECT email_verified FROM _users")).toEqual([[0]]);
    expectPage(await submit(server, "verify-email", { token }, { Origin: "https://api.example.com" }), 200);
  });

  it("works in cookie mode, and sets no cookie", async () => {
    const config = 'auth.cookie_mode = true\ncors.allowed_origins = ["https://app.example.com"]';
    const server = await serve({ ...verifying, config });
    await client(server).post("/auth/register", { email: ada, password });
    const token = await lastToken(server, ada);
    const cookies = { Cookie: "svc_access=x; svc_refresh=y" };
    expectRefusal(
      await submit(server, "verify-email", { token }, { ...cookies, Origin: "https://app.example.com" }),
      403,
      "forbidden",
    );
    expectPage(await submit(server, "verify-email", { token }, { ...cookies, ...own }), 200);
  });

  it("escapes what it is given", async () => {
    const server = await serve(open);
    const answer = await get(
      server,
      `/auth/pages/reset-password?token=${encodeURIComponent(`"><script>alert('x')</script>`)}`,
    );
    expectPage(answer, 200);
    expect(answer.text).toContain("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
  });

  it("refuses other bodies, methods, names and links that are cut off", async () => {
    const server = await serve(open);
    const json = { ...own, "Content-Type": "application/json" };
    expectRefusal(await submit(server, "verify-email", { token: "x" }, json), 415, "unsupported_media_type");
    expectRefusal(await submit(server, "verify-email", "token=x&token=y"), 400, "bad_request");
    expectRefusal(await submit(server, "verify-email", { token: "x".repeat(20_000) }), 413, "payload_too_large");
    expectRefusal(await submit(server, "nothing", { token: "x" }), 404, "not_found");
    expectRefusal(await get(server, "/auth/pages/nothing?token=x"), 404, "not_found");
    expectRefusal(await client(server).delete("/auth/pages/verify-email"), 405, "method_not_allowed");
    expectPage(await get(server, "/auth/pages/verify-email"), 400);
    expectPage(await get(server, "/auth/pages/verify-email?token="), 400);
    expectPage(await submit(server, "verify-email", {}), 400);
    expectPage(await submit(server, "reset-password", { token: "x", password: other }), 400);
  });
});
