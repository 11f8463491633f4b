import { describe, expect, it } from "vitest";
import { githubProfile } from "../../../src/auth/oauth/github.js";
import { openIdProfile } from "../../../src/auth/oauth/openid-profile.js";
import { judgeSignIn, verifiedEmail } from "../../../src/auth/oauth/sign-in.js";
import type { SignInFacts } from "../../../src/auth/store/identities.js";

describe("the verdict of a sign-in", () => {
  const nobody: SignInFacts = {
    codeStored: false,
    identityDisabled: null,
    addressDisabled: null,
    addressVerified: true,
  };

  it.each<[string, Partial<SignInFacts>, string | null]>([
    ["in", { codeStored: true, identityDisabled: false, addressDisabled: false }, null],
    ["in by identity, the address is another's", { codeStored: true, addressDisabled: true }, null],
    ["known and disabled", { identityDisabled: true, addressVerified: false }, "account_disabled"],
    ["no verified address", { addressVerified: false }, "email_not_verified"],
    ["the address of a disabled account", { addressDisabled: true }, "account_disabled"],
    ["the address of an account that was not linked", { addressDisabled: false }, "email_not_verified"],
    ["nobody, and none is made", {}, "registration_closed"],
  ])("%s", (_, facts, failure) => {
    expect(judgeSignIn({ ...nobody, ...facts })).toBe(failure);
  });
});

describe("a profile", () => {
  const claims = { iss: "i", aud: "a", iat: 0, exp: 0, sub: "1", email: "ada@example.com" };

  it.each([
    [true, true],
    ["true", true],
    [false, false],
    ["false", false],
    [1, false],
    [undefined, false],
  ])("of OpenID: email_verified %j counts as %s", (email_verified, emailVerified) => {
    const profile = openIdProfile("apple", {
      claims: { ...claims, ...(email_verified !== undefined && { email_verified }) },
    });
    const expected = { provider: "apple", subject: "1", email: "ada@example.com", emailVerified };
    expect(profile).toEqual({ ...expected, mayLink: emailVerified });
  });

  it("of GitHub: the primary address and what GitHub says of it", () => {
    const other = { email: "other@example.com", primary: false, verified: true };
    const primary = { email: "ada@example.com", primary: true, verified: false };
    expect(githubProfile({ id: 7 }, [other, primary])).toEqual({
      provider: "github",
      subject: "7",
      email: "ada@example.com",
      emailVerified: false,
      mayLink: false,
    });
    expect(githubProfile({ id: 7 }, [other])).toMatchObject({ email: null, emailVerified: false });
  });

  it("gives an address only where it is verified and one by our measure", () => {
    const profile = {
      provider: "google",
      subject: "1",
      email: "ada@example.com",
      emailVerified: true,
      mayLink: true,
    } as const;
    expect(verifiedEmail(profile)).toBe("ada@example.com");
    expect(verifiedEmail({ ...profile, emailVerified: false })).toBeNull();
    expect(verifiedEmail({ ...profile, email: "ada@localhost" })).toBeNull();
    expect(verifiedEmail({ ...profile, email: null })).toBeNull();
  });
});
