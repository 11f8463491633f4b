import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve } from "../../support/server.js";

const project = { schema: "notes: { columns: { id: { type: integer, primary_key: true } } }" };
const password = "correct horse battery staple";

const tokens = (user: object) => ({
  data: {
    user,
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    refresh_token: expect.stringMatching(/^svc_rt_[\w-]{43}$/),
    token_type: "Bearer",
    expires_in: 900,
  },
});

describe("registration", () => {
  it("gives a user of role `user` and a session, whatever else the body says", async () => {
    const server = await serve(project);
    const answer = await client(server).post("/auth/register", {
      email: "Ada@Example.com",
      password,
      role: "admin",
      id: "chosen",
      email_verified: true,
      disabled: true,
      user: { role: "admin" },
    });
    const user = { id: expect.stringMatching(/^[0-9a-f]{32}$/), email: "Ada@Example.com", role: "user" };
    expectAnswer(answer, 201, tokens(user));
    const { access_token } = dataOf<{ access_token: string }>(answer);
    expectAnswer(await client(server, { Authorization: `Bearer ${access_token}` }).get("/auth/me"), 200, {
      data: {
        user: {
          ...user,
          disabled: false,
          email_verified: false,
          created_at: new Date(server.clock.now()).toISOString(),
        },
      },
    });
    expect(await rowsOf(server, "SELECT role, disabled, email_verified FROM _users")).toEqual([["user", 0, 0]]);
  });

  it("stores an Argon2id hash, and the password nowhere", async () => {
    const server = await serve(project);
    const answer = await client(server).post("/auth/register", { email: "ada@example.com", password });
    const [[hash]] = (await rowsOf(server, "SELECT password_hash FROM _users")) as [[string]];
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]+\$[^$]+$/);
    expect(answer.text).not.toContain(hash);
    expect(JSON.stringify(await rowsOf(server, "SELECT * FROM _users"))).not.toContain(password);
  });

  it.each([
    [5, "abcde", "weak_password"],
    [0, "", "weak_password"],
    ["5 of four bytes each", "😀😀😀😀😀", "weak_password"],
    ["over 1024 bytes", "x".repeat(1025), "bad_request"],
    ["1026 bytes in 513 characters", "é".repeat(513), "bad_request"],
  ])("refuses a password of %s, and runs no hash", async (_, short, code) => {
    const server = await serve(project);
    const { hash } = server.platform.passwordHasher;
    let hashes = 0;
    Object.assign(server.platform, {
      passwordHasher: {
        ...server.platform.passwordHasher,
        hash: (text: string) => {
          hashes++;
          return hash(text);
        },
      },
    });
    const answer = await client(server).post("/auth/register", { email: "ada@example.com", password: short });
    expectRefusal(answer, 400, code);
    expect(hashes).toBe(0);
    expect(await countOf(server, "_users")).toBe(0);
  });

  it.each([
    ["6 characters", "ab,def"],
    ["256 characters", `${"x".repeat(255)}y`],
    ["1024 bytes", `${"é".repeat(511)}xy`],
    ["white space", "      "],
    ["a letter in another normal form", "pa\u0301ssword"],
  ])("takes a password of %s, which is never truncated, folded or trimmed", async (_, exact) => {
    const server = await serve(project);
    const anonymous = client(server);
    const email = "ada@example.com";
    expect((await anonymous.post("/auth/register", { email, password: exact })).status).toBe(201);
    expect((await anonymous.post("/auth/login", { email, password: exact })).status).toBe(200);
    for (const other of [
      exact.slice(0, -1),
      `${exact.slice(0, -1)}z`,
      exact.normalize("NFC").toUpperCase(),
      exact.trim(),
    ])
      if (other !== exact)
        expectRefusal(await anonymous.post("/auth/login", { email, password: other }), 401, "invalid_credentials");
  });

  it.each([
    "",
    "ada",
    "ada@",
    "@example.com",
    "ada@example",
    "ada@@example.com",
    "a b@example.com",
    "ada@exam ple.com",
    " ada@example.com",
    "ada@example.com ",
    "ada@example.com\n",
    "ada@.com",
    "ada@example.",
    "ada@example..com",
    "<ada@example.com>",
    `${"a".repeat(250)}@example.com`,
    "ada@example.com\r\nBcc: x@example.com",
    "a\u200Bda@example.com",
    "ada@exam\u00ADple.com",
  ])("refuses the address %j", async (email) => {
    const server = await serve(project);
    expectRefusal(await client(server).post("/auth/register", { email, password }), 400, "bad_request");
    expect(await countOf(server, "_users")).toBe(0);
  });

  it.each([
    {},
    { email: "ada@example.com" },
    { password },
    { email: 1, password },
    { email: ["ada@example.com"], password },
    { email: "ada@example.com", password: 123456 },
    { email: "ada@example.com", password: null },
    { email: "ada@example.com", password: ["abcdef"] },
  ])("refuses the body %j", async (body) => {
    const server = await serve(project);
    expectRefusal(await client(server).post("/auth/register", body), 400, "bad_request");
    expectRefusal(await client(server).post("/auth/login", body), 400, "bad_request");
    expect(await countOf(server, "_users")).toBe(0);
  });
});

describe("an address", () => {
  it("is compared in ASCII lower case, and kept as it was written", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    await anonymous.post("/auth/register", { email: "a@x.com", password });
    for (const email of ["A@X.com", "a@X.COM", "a@x.com"])
      expectRefusal(await anonymous.post("/auth/register", { email, password: "another horse" }), 409, "conflict");
    expect(await countOf(server, "_users")).toBe(1);
    const login = await anonymous.post("/auth/login", { email: "A@X.COM", password });
    expectAnswer(login, 200, tokens({ id: expect.any(String), email: "a@x.com", role: "user" }));
  });

  it.each([
    ["the dotless i", "ida@example.com", "ıda@example.com"],
    ["I with a dot", "ida@example.com", "İda@example.com"],
    ["the Kelvin sign", "kim@example.com", "\u212aim@example.com"],
    ["the long s", "sam@example.com", "ſam@example.com"],
    ["a full-width letter", "ada@example.com", "ａda@example.com"],
    ["another normal form", "é@example.com", "e\u0301@example.com"],
    ["a letter outside of ASCII in other case", "é@example.com", "É@example.com"],
  ])("never matches by %s", async (_, email, alike) => {
    const server = await serve(project);
    const anonymous = client(server);
    await anonymous.post("/auth/register", { email, password });
    expectRefusal(await anonymous.post("/auth/login", { email: alike, password }), 401, "invalid_credentials");
    expect((await anonymous.post("/auth/register", { email: alike, password: "another horse" })).status).toBe(201);
    expect(await countOf(server, "_users")).toBe(2);
    expectRefusal(await anonymous.post("/auth/login", { email: alike, password }), 401, "invalid_credentials");
  });

  it("registered twenty times at once is one user", async () => {
    const server = await serve(project);
    const anonymous = client(server);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        anonymous.post("/auth/register", {
          email: n % 2 ? "ada@example.com" : "ADA@example.com",
          password: `${password}${n}`,
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 201) expectRefusal(answer, 409, "conflict");
    expect([
      await countOf(server, "_users"),
      await countOf(server, "_sessions"),
      await countOf(server, "_refresh_tokens"),
    ]).toEqual([1, 1, 1]);
  });
});

it.each(["invite", "closed"])("where registration is %s it is 403, and nobody is created", async (registration) => {
  const server = await serve({ schema: `$auth: { registration: ${registration} }\n${project.schema}` });
  const answer = await client(server).post("/auth/register", { email: "ada@example.com", password });
  expectRefusal(answer, 403, "registration_closed");
  expect(await countOf(server, "_users")).toBe(0);
});
