import { describe, expect, it } from "vitest";
import { type Answer, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { serveWithDouble } from "../../support/oauth/double-server.js";
import {
  atProvider,
  authorize,
  deliver,
  exchange,
  newChallenge,
  schema,
  sentBack,
  type Tokens,
} from "../../support/oauth/flow.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, type TestServer } from "../../support/server.js";
import { lastToken, mailsTo, other } from "../links/support.js";

const old = "the secret that is replaced, 32 bytes and more";
const young = "the secret that replaces it, 32 bytes and more";

/** The states that a server goes through by the steps of docs/deploy.md#changing-the-secret. */
const before = { secret: old };
const during = { secret: young, previousSecret: old };
const after = { secret: young };

/** A project in which everything that hangs on the secret can be made. */
async function serveUnder(secret: string, config = ""): Promise<TestServer> {
  const confirming = schema().replace("$auth:", "$auth:\n  email_verification: { required: true }");
  const rules = '[rules.notes]\nread = "public"\n';
  const { server } = await serveWithDouble({ schema: confirming, config: rules + config, secret });
  await run(server, "INSERT INTO notes VALUES (1), (2), (3)");
  return server;
}

type Use = (server: TestServer) => Promise<Answer>;

/** Something that a server gives out, and what comes of it when it is brought back. */
interface Given {
  readonly name: string;
  /** Has the server make one for `id`, a person who is new to it. */
  readonly make: (server: TestServer, id: string) => Promise<Use>;
  /** Brings back something made up of the same shape. */
  readonly madeUp: Use;
  readonly good: (answer: Answer) => void;
  readonly refusal: readonly [status: number, code: string];
}

const made = "A".repeat(43);
const ok = (answer: Answer) => expect(answer.status, answer.text).toBe(200);
const refresh = (server: TestServer, token: string) => client(server).post("/auth/refresh", { refresh_token: token });

/** A person with tokens that the server itself has made. */
async function session(server: TestServer, id: string): Promise<Tokens & { readonly used: string }> {
  const used = (await member(server, id)).refreshToken;
  return { ...dataOf<Tokens>(await refresh(server, used)), used };
}

const me = (server: TestServer, token: string) => client(server, { Authorization: `Bearer ${token}` }).get("/auth/me");
const next = (server: TestServer, cursor: string) => client(server).get(`/api/notes?cursor=${cursor}`);
const confirm = (server: TestServer, token: string) =>
  client(server).post("/auth/email-verification/confirm", { token });
const reset = (server: TestServer, token: string) =>
  client(server).post("/auth/password-reset/confirm", { token, password: other });
const accept = (server: TestServer, token: string) =>
  client(server).post("/auth/invitations/accept", { token, password: other });

async function signInUnderWay(server: TestServer) {
  const challenge = newChallenge();
  return { challenge, back: await atProvider(await authorize(server, "google", challenge.challenge)) };
}

/** What hangs on the secret. */
const given: readonly Given[] = [
  {
    name: "an access token",
    make: async (server, id) => {
      const { access_token } = await session(server, id);
      return (at) => me(at, access_token);
    },
    madeUp: (server) => me(server, `${made}.${made}.${made}`),
    good: ok,
    refusal: [401, "unauthorized"],
  },
  {
    name: "the successor of a used refresh token, within its grace window",
    make: async (server, id) => {
      const { used, refresh_token } = await session(server, id);
      return async (at) => {
        const answer = await refresh(at, used);
        if (answer.status === 200) expect(dataOf<Tokens>(answer).refresh_token).toBe(refresh_token);
        return answer;
      };
    },
    madeUp: (server) => refresh(server, `svc_rt_${made}`),
    good: ok,
    refusal: [401, "invalid_refresh_token"],
  },
  {
    name: "a cursor",
    make: async (server) => {
      const cursor = metaOf(await client(server).get("/api/notes?limit=2")).next_cursor!;
      return (at) => next(at, cursor);
    },
    madeUp: (server) => next(server, made),
    good: (answer) => expect(dataOf(answer)).toEqual([{ id: 3 }]),
    refusal: [400, "invalid_cursor"],
  },
  {
    name: "a sign-in at a provider that is under way",
    make: async (server) => {
      const { challenge, back } = await signInUnderWay(server);
      return async (at) => {
        const answer = await deliver(at, back);
        if (answer.status !== 303) return answer;
        return exchange(at, { ...challenge, told: sentBack(answer) });
      };
    },
    madeUp: (server) =>
      deliver(server, {
        method: "GET",
        provider: "google",
        parameters: new URLSearchParams({ state: made, code: made }),
      }),
    good: ok,
    refusal: [400, "bad_request"],
  },
  {
    name: "a mailed link to confirm an address",
    make: async (server, id) => {
      const email = `${id}@example.com`;
      await client(server).post("/auth/register", { email, password: other });
      const token = await lastToken(server, email);
      return (at) => confirm(at, token);
    },
    madeUp: (server) => confirm(server, made),
    good: ok,
    refusal: [400, "invalid_token"],
  },
  {
    name: "a mailed link to reset a password",
    make: async (server, id) => {
      await member(server, id);
      await client(server).post("/auth/password-reset/request", { email: `${id}@example.com` });
      const token = await lastToken(server, `${id}@example.com`);
      return (at) => reset(at, token);
    },
    madeUp: (server) => reset(server, made),
    good: ok,
    refusal: [400, "invalid_token"],
  },
  {
    name: "a mailed invitation",
    make: async (server, id) => {
      const backend = client(server, await apiKey(server, "project:backend"));
      await backend.post("/auth/users/invite", { email: `${id}@example.com` });
      const token = await lastToken(server, `${id}@example.com`);
      return (at) => accept(at, token);
    },
    madeUp: (server) => accept(server, made),
    good: ok,
    refusal: [400, "invalid_token"],
  },
];

/** What is random, or sealed with another key. */
const untouched: readonly Pick<Given, "name" | "make">[] = [
  {
    name: "a refresh token",
    make: async (server, id) => {
      const { refresh_token } = await session(server, id);
      return (at) => refresh(at, refresh_token);
    },
  },
  {
    name: "an API key",
    make: async (server) => {
      const key = await apiKey(server, "resource:notes:read");
      return (at) => client(at, key).get("/api/notes");
    },
  },
  {
    name: "the code of a social sign-in",
    make: async (server) => {
      const { challenge, back } = await signInUnderWay(server);
      const told = sentBack(await deliver(server, back));
      return (at) => exchange(at, { ...challenge, told });
    },
  },
];

describe("a change of the secret, by its steps", () => {
  it("loses nothing that is alive", async () => {
    const server = await serveUnder(old);
    const everything = [...given, ...untouched.map((kind) => ({ ...kind, good: ok }))];
    /** Makes one of each; to be called once they are to be used. */
    const makeAll = async (when: string) => {
      const uses: (() => Promise<void>)[] = [];
      for (const [n, { make, good }] of everything.entries()) {
        const use = await make(server, `${when}-${n}`);
        uses.push(async () => good(await use(server)));
      }
      return async () => {
        for (const use of uses) await use();
      };
    };
    const useThoseOfBefore = await makeAll("before");
    await server.restart(during);
    await useThoseOfBefore();
    const useThoseOfThen = await makeAll("then");
    await server.restart(after);
    await useThoseOfThen();
  });
});

describe.each(given)("$name", ({ make, madeUp, refusal }) => {
  const expectRefused = async (server: TestServer, answer: Answer) => {
    expectRefusal(answer, ...refusal);
    expect(answer.text).toBe((await madeUp(server)).text);
  };

  it("of the previous secret is refused once that is removed, in the words for something made up", async () => {
    const server = await serveUnder(old);
    const use = await make(server, "ada");
    await server.restart(during);
    await server.restart(after);
    await expectRefused(server, await use(server));
  });

  it("is not made under the previous secret", async () => {
    const server = await serveUnder(young);
    await server.restart(during);
    const use = await make(server, "ada");
    await server.restart(before);
    await expectRefused(server, await use(server));
  });

  it("that is made up is refused while there are two secrets", async () => {
    const server = await serveUnder(old);
    await server.restart(during);
    expectRefusal(await madeUp(server), ...refusal);
  });
});

describe.each(untouched)("$name", ({ make }) => {
  it("is good under whatever secret", async () => {
    const server = await serveUnder(old);
    const use = await make(server, "ada");
    await server.restart(after);
    ok(await use(server));
  });
});

describe("servers that change one after the other", () => {
  it.each(given)("take each other's: $name", async ({ make, good }) => {
    const server = await serveUnder(old);
    await server.restart({ secret: old, previousSecret: young });
    const use = await make(server, "ada");
    await server.restart(during);
    good(await use(server));
    const another = await make(server, "bob");
    await server.restart({ secret: old, previousSecret: young });
    good(await another(server));
  });
});

describe("a mail that waits to be sent", () => {
  const ada = "ada@example.com";

  async function waiting(): Promise<TestServer> {
    const server = await serveUnder(old);
    await member(server, "ada");
    server.mail.failure = new Error("the mail server is down");
    await client(server).post("/auth/password-reset/request", { email: ada });
    await server.settled();
    server.mail.failure = null;
    return server;
  }

  it("has a link that works after the change", async () => {
    const server = await waiting();
    await server.restart(during);
    await server.upkeep.resumeMail();
    ok(await reset(server, await lastToken(server, ada)));
  });

  it("is not sent where its link would not work, and the log says so", async () => {
    const server = await waiting();
    await server.restart(after);
    await server.upkeep.resumeMail();
    expect(await mailsTo(server, ada)).toEqual([]);
    expect(server.log.lines.at(-1)).toContain("its link was made under a secret that is not set any more");
    await server.restart(during);
    await server.upkeep.resumeMail();
    ok(await reset(server, await lastToken(server, ada)));
  });
});

describe("counts", () => {
  const right = { email: "ada@example.com", password: "correct horse" };
  const wrong = { ...right, password: "wrong horse" };
  const login = (server: TestServer, address: string, body: object) =>
    client(server, { "Test-Client-Address": address }).post("/auth/login", body);

  async function withAda(limit: string): Promise<TestServer> {
    const server = await serveUnder(old, `[auth.throttle]\n${limit}\n`);
    const backend = client(server, await apiKey(server, "project:backend"));
    const hash = await server.platform.passwordHasher.hash(right.password);
    const users = [{ id: "ada", email: right.email, password_hash: hash, email_verified: true }];
    expect((await backend.post("/auth/users/import", { users })).status).toBe(200);
    return server;
  }

  async function fail(server: TestServer, address: string, times: number): Promise<void> {
    for (let n = 0; n < times; n++) expectRefusal(await login(server, address, wrong), 401, "invalid_credentials");
  }

  it("of failed passwords go on, and are not doubled", async () => {
    const server = await withAda("max_failures = 3");
    await fail(server, "203.0.113.1", 2);
    const counted = await countOf(server, "_throttle");
    await server.restart(during);
    await fail(server, "203.0.113.1", 1);
    expect(await countOf(server, "_throttle")).toBe(counted);
    const refused = await login(server, "203.0.113.1", right);
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.headers.get("Retry-After")).toBe("300");
    await server.restart(after);
    expectRefusal(await login(server, "203.0.113.1", right), 429, "rate_limited");
    server.clock.advance(300_000);
    ok(await login(server, "203.0.113.1", right));
  });

  it("of a stranger do not lock the owner out, whose address stays known", async () => {
    const server = await withAda("max_failures_per_account = 3");
    ok(await login(server, "198.51.100.1", right));
    await server.restart(during);
    for (const n of [1, 2, 3]) await fail(server, `203.0.113.${n}`, 1);
    expectRefusal(await login(server, "203.0.113.9", right), 429, "rate_limited");
    ok(await login(server, "198.51.100.1", right));
    expect(await countOf(server, "_known_addresses")).toBe(1);
    await server.restart(after);
    ok(await login(server, "198.51.100.1", right));
    expectRefusal(await login(server, "203.0.113.9", right), 429, "rate_limited");
  });

  it("of mails go on", async () => {
    const server = await withAda("max_mails_per_address = 2");
    const ask = async () => {
      await client(server).post("/auth/password-reset/request", { email: right.email });
      return (await mailsTo(server, right.email)).length;
    };
    expect([await ask(), await ask()]).toEqual([1, 2]);
    await server.restart(during);
    expect(await ask()).toBe(2);
    server.clock.advance(3_600_000);
    expect(await ask()).toBe(3);
  });

  it("begin anew without the previous secret", async () => {
    const server = await withAda("max_failures = 1");
    await fail(server, "203.0.113.1", 1);
    await server.restart(after);
    ok(await login(server, "203.0.113.1", right));
  });
});
