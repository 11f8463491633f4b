import { describe, expect, it } from "vitest";
import { isOwnOrigin } from "../../../src/http/origin.js";
import { transportSecurity } from "../../../src/http/transport-security.js";

const asked = (url: string, forwarded?: string) =>
  new Request(url, { headers: forwarded === undefined ? {} : { "X-Forwarded-Proto": forwarded } });
const plain = "http://api.example.com";
const tls = "https://api.example.com";
const listening = "http://0.0.0.0:8787";

describe("an origin is the server's own", () => {
  it.each([
    // [origin, canonical origin, trust_proxy, URL of the request, X-Forwarded-Proto]
    [tls, tls, false, plain, undefined],
    [tls, listening, false, tls, undefined],
    [plain, listening, false, plain, undefined],
    [tls, listening, true, plain, "https"],
    [tls, listening, true, plain, "http, https"],
    [plain, listening, true, plain, undefined],
    [plain, listening, true, plain, "gopher"],
  ])("%s of %s (trust_proxy %s), asked as %s, %s", (origin, own, trustProxy, url, forwarded) => {
    expect(isOwnOrigin(origin, { own, trustProxy }, asked(url, forwarded))).toBe(true);
  });

  it.each([
    [plain, tls, false, plain, undefined],
    [plain, tls, true, plain, "http"],
    [plain, listening, true, plain, "https"],
    [plain, listening, true, plain, "http, https"],
    [tls, listening, false, plain, "https"],
    [tls, listening, true, plain, "https, http"],
    ["https://api.example.com.evil.example", tls, true, plain, "https"],
    ["null", tls, true, plain, "https"],
  ])("%s not of %s (trust_proxy %s), asked as %s, %s", (origin, own, trustProxy, url, forwarded) => {
    expect(isOwnOrigin(origin, { own, trustProxy }, asked(url, forwarded))).toBe(false);
  });
});

describe("Strict-Transport-Security is for requests that came over TLS, and no loopback host", () => {
  it.each([
    [listening, false, tls, undefined, true],
    [listening, false, "https://localhost:8787/", undefined, false],
    [listening, false, "https://[::1]:8787/", undefined, false],
    [listening, false, plain, "https", false],
    [listening, true, plain, "https", true],
    [listening, true, plain, "http, https", true],
    [listening, true, "http://127.0.0.1/", "https", false],
    [listening, true, tls, "http", false],
    [tls, false, "http://127.0.0.1:8787/", undefined, true],
    [tls, true, plain, undefined, true],
    [tls, true, plain, "http", false],
    ["https://localhost:8787", false, plain, undefined, false],
  ])("at %s (trust_proxy %s), asked as %s, %s: %s", (own, trustProxy, url, forwarded, expected) => {
    expect(transportSecurity({ own, trustProxy })(asked(url, forwarded))).toBe(expected);
  });
});
