import { describe, expect, it } from "vitest";
import {
  codeChallengeOf,
  flowSecrets,
  isCodeChallenge,
  isCodeVerifier,
  newSecret,
  withQuery,
} from "../../../src/auth/oauth/state.js";

const key = new Uint8Array(32).fill(1);

describe("the secrets of a flow", () => {
  it("follow from the state and the key alone", async () => {
    const secrets = await flowSecrets("a state", key);
    expect(await flowSecrets("a state", key)).toEqual(secrets);
    expect(secrets.codeVerifier).not.toBe(secrets.nonce);
    for (const other of [
      await flowSecrets("another", key),
      await flowSecrets(
        "a state",
        key.map(() => 2),
      ),
    ]) {
      expect(other.codeVerifier).not.toBe(secrets.codeVerifier);
      expect(other.nonce).not.toBe(secrets.nonce);
    }
    expect(isCodeVerifier(secrets.codeVerifier)).toBe(true);
  });

  it("are 256 random bits in base64url", () => {
    const secret = newSecret({ bytes: (length) => new Uint8Array(length).fill(255) });
    expect(secret).toBe(`${"_".repeat(42)}8`);
  });
});

describe("PKCE", () => {
  it("computes the challenge of RFC 7636, appendix B", async () => {
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    expect(await codeChallengeOf(verifier)).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  });

  it("knows a challenge and a verifier by their form", () => {
    const length = (n: number) => "a".repeat(n);
    expect([42, 43, 44].map((n) => isCodeChallenge(length(n)))).toEqual([false, true, false]);
    expect([42, 43, 128, 129].map((n) => isCodeVerifier(length(n)))).toEqual([false, true, true, false]);
    for (const odd of [`${length(42)}~`, `${length(42)}=`, `${length(43)}\n`, null, [length(43)]])
      expect(isCodeChallenge(odd)).toBe(false);
    expect(isCodeVerifier(`${length(42)}~`)).toBe(true);
    expect(isCodeVerifier(`${length(43)}\n`)).toBe(false);
  });
});

it("a redirect URL stays as it is written, whatever is appended", () => {
  expect(withQuery("com.example.app:/cb", { code: "a&b=c#d" })).toBe("com.example.app:/cb?code=a%26b%3Dc%23d");
  expect(withQuery("https://app.example.com", { error: "x" })).toBe("https://app.example.com?error=x");
});
