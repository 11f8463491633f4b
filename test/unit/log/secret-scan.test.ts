import { expect, test } from "vitest";
import { SecretScan } from "../../support/secret-scan.js";

const key = `svc_sk_${"A".repeat(43)}`;

test.each([
  ["an API key", `revoked ${key}`, `svc_sk_${"A".repeat(12)}`],
  ["a refresh token", `token=svc_rt_${"b".repeat(43)}`, `svc_rt_${"b".repeat(12)}`],
  ["an access token", "as eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0"],
  ["a hash", "found $argon2id$v=19", "$argon2"],
  ["an imported hash", "found $2b$10$abc", "$2b$10$"],
  ["a header", "Authorization: Bearer 12345678", "Bearer 12345678"],
])("%s is found by its form", (_, line, secret) => {
  expect(new SecretScan().found(["fine", line])).toEqual([`${secret} in ${line}`]);
});

test("what a request presents is found", () => {
  const scan = new SecretScan();
  scan.keepRequest(
    "/auth/login?state=the-state-of-it",
    {
      headers: {
        Authorization: "Basic the-credential",
        "X-API-Key": "the-api-key-of-it",
        Cookie: "a=the-cookie-of-it",
      },
      body: JSON.stringify({
        email: "ada@example.com",
        password: "correct horse",
        users: [{ email: "bob@example.com" }],
      }),
    },
    true,
  );
  scan.keepRequest("/auth/pages/reset-password", { body: "token=the-token-of-it&password=battery+staple" }, true);
  const secrets = [
    "the-state-of-it",
    "the-credential",
    "the-api-key-of-it",
    "the-cookie-of-it",
    "ada@example.com",
    "correct horse",
    "bob@example.com",
    "the-token-of-it",
    "battery staple",
  ];
  expect(scan.found(secrets.map((secret) => `x${secret}x`))).toEqual(
    secrets.map((secret) => `${secret} in x${secret}x`),
  );
});

test("what an answer hands out is found", async () => {
  const scan = new SecretScan();
  const headers = new Headers({ Location: "https://app.example.com/?code=the-code-of-it" });
  headers.append("Set-Cookie", "svc_refresh=the-cookie-of-it; HttpOnly");
  const body = JSON.stringify({
    data: { key: "the-key-of-it", access_token: "the-token-of-it", id: "the-id-of-the-key" },
  });
  await scan.keepResponse("/admin/api/service-keys", new Response(body, { headers }));
  expect(
    scan.found(["the-code-of-it", "the-cookie-of-it", "the-key-of-it", "the-token-of-it", "the-id-of-the-key"]),
  ).toEqual([
    "the-code-of-it in the-code-of-it",
    "the-cookie-of-it in the-cookie-of-it",
    "the-key-of-it in the-key-of-it",
    "the-token-of-it in the-token-of-it",
  ]);
});

test("of what was refused, passwords and addresses alone are found", () => {
  const scan = new SecretScan();
  const body = '{"email": "ada@example.com", "password": "correct horse", "token": "an-id-of-the-database"}';
  scan.keepRequest("/auth/login", { headers: { Cookie: "a=an-id-of-the-database" }, body }, false);
  expect(scan.found(["ada@example.com", "correct horse", "an-id-of-the-database"])).toEqual([
    "ada@example.com in ada@example.com",
    "correct horse in correct horse",
  ]);
});

test("what is none is not found, and what is too short to tell", () => {
  const scan = new SecretScan();
  scan.keepRequest("/auth/login", { body: '{"password": "password"}' }, true);
  scan.keepRequest("/api/notes", { body: '{"password": "a note of somebody"}' }, true);
  expect(scan.found(["POST /auth/password", "a note of somebody", ""])).toEqual([]);
});
