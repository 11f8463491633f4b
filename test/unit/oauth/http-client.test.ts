import { describe, expect, it, onTestFinished, vi } from "vitest";
import { asProviderError } from "../../../src/auth/oauth/code-grant.js";
import { httpClient, isLoopbackHttp } from "../../../src/auth/oauth/http-client.js";

const bounds = { deadlineMs: 10_000, bytesMax: 10 };
const answering = (response: () => Response) => httpClient({ fetch: async () => response() }, bounds);

describe("the client of providers", () => {
  it("hands on status, headers and the body", async () => {
    const response = await answering(() => Response.json({ a: 1 }, { status: 201 }))("https://x.example");
    expect(response.status).toBe(201);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(await response.json()).toEqual({ a: 1 });
  });

  it("takes an answer without a body", async () => {
    expect((await answering(() => new Response(null, { status: 204 }))("https://x.example")).status).toBe(204);
  });

  it("reads no more than its bound", async () => {
    expect(await (await answering(() => new Response("0123456789"))("https://x.example")).text()).toHaveLength(10);
    await expect(answering(() => new Response("0123456789a"))("https://x.example")).rejects.toThrow("over 10 bytes");
  });

  it("follows no redirect and waits no longer than its deadline", async () => {
    let seen: RequestInit | undefined;
    const hanging = httpClient(
      {
        fetch: (_, init) => {
          seen = init;
          return new Promise((_, reject) =>
            init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason)),
          );
        },
      },
      bounds,
    );
    const deadline = new AbortController();
    const begun = vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
    onTestFinished(() => begun.mockRestore());
    const asked = expect(hanging("https://x.example", { redirect: "follow" })).rejects.toThrow("timeout");
    deadline.abort(new DOMException("timeout", "TimeoutError"));
    await asked;
    expect(begun.mock.calls).toEqual([[bounds.deadlineMs]]);
    expect(seen!.redirect).toBe("manual");
  });

  it("allows plain HTTP on loopback addresses alone", () => {
    expect(["http://127.0.0.1:1/t", "http://localhost/t", "http://[::1]/t"].map(isLoopbackHttp)).toEqual([
      true,
      true,
      true,
    ]);
    for (const url of ["https://127.0.0.1/t", "http://localhost.example/t", "http://127.0.0.1.example/t"])
      expect(isLoopbackHttp(url)).toBe(false);
  });
});

it("an error that is told of never brings its cause along", () => {
  const error = new TypeError("fetch failed", { cause: { access_token: "a secret" } });
  const told = asProviderError(error);
  expect(told).toMatchObject({ failure: "provider_error", message: "TypeError: fetch failed" });
  expect(told.cause).toBeUndefined();
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(asProviderError(new TypeError("fetch failed", { cause: refused })).message).toBe(
    "TypeError: fetch failed (ECONNREFUSED)",
  );
});
