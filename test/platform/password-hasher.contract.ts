import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PasswordHasher } from "../../src/platform/platform.js";

export interface OpenedPasswordHasher {
  readonly hasher: PasswordHasher;
  readonly close: () => Promise<void>;
}

/** Written by libargon2 through argon2-cffi 25.1.0; the first is also in the reference implementation's test.c. */
const vectors: [name: string, password: string, phc: string][] = [
  [
    "the reference test",
    "password",
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
  ],
  [
    "the current parameters",
    "correct horse battery staple",
    "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$gYJZtjEAJqjg26xdLmknq8/bB7MiWPrE9hsYuA+SkIU",
  ],
  [
    "text beyond ASCII",
    "пароль 🔑 ñ",
    "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$FxQm34AXpe9QlfPEIfdUE+ijwMuHCI5VrmLEKaVLN8Q",
  ],
  [
    "1024 bytes",
    "é".repeat(512),
    "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$wnFoCTARN4EvcLHUGw+S1P/m9O1ebaveUh7GBm4/cew",
  ],
  [
    "four lanes",
    "password",
    "$argon2id$v=19$m=4096,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$yvKKzEjHWhSbUQUSeat6dyFfoycu1T5O/zahhmYuGLw",
  ],
];

/** Written by libxcrypt 4.4.33. */
const bcryptVectors: [name: string, password: string, hash: string][] = [
  ["$2b$", "correct horse battery staple", "$2b$10$abcdefghijklmnopqrstuuGGgFFcYeueaAql8Z7U7CnCTRw4DR77W"],
  ["$2a$", "correct horse battery staple", "$2a$04$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq"],
  ["$2y$", "correct horse battery staple", "$2y$05$......................AesgC8c2NCv6R248WVftVw.gqvWdlCq"],
  ["text beyond ASCII", "пароль 🔑 ñ", "$2b$04$abcdefghijklmnopqrstuudd2zF.Mba1lZZCMnFn0TSYyKFzYe302"],
  ["72 bytes", "é".repeat(36), "$2b$04$abcdefghijklmnopqrstuuKiIlCeXB6chNXkLyAo8C7XcLPzh6zUe"],
];

const salt = "AAECAwQFBgcICQoLDA0ODw";
const hash = "gYJZtjEAJqjg26xdLmknq8/bB7MiWPrE9hsYuA+SkIU";

/** What every implementation of PasswordHasher must do. */
export function passwordHasherContract(name: string, open: () => Promise<OpenedPasswordHasher>): void {
  describe(`PasswordHasher contract: ${name}`, () => {
    let opened: OpenedPasswordHasher;
    let hasher: PasswordHasher;

    beforeAll(async () => {
      opened = await open();
      hasher = opened.hasher;
    });

    afterAll(() => opened.close());

    it("writes the current parameters, a salt of 16 bytes and a hash of 32", async () => {
      const phc = await hasher.hash("a password");
      expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    });

    it("salts", async () => {
      expect(await hasher.hash("a password")).not.toBe(await hasher.hash("a password"));
    });

    it.each([
      ["a password", "A password"],
      ["a password", "a password "],
      ["пароль 🔑", "пароль 🗝"],
      ["ñ", "n\u0303"],
      ["nul\0one", "nul\0two"],
      ["x".repeat(256), "x".repeat(255)],
      [`${"é".repeat(511)}ab`, `${"é".repeat(511)}ac`],
    ])("accepts the password and not another (%#)", async (password, other) => {
      const phc = await hasher.hash(password);
      expect(await hasher.verify(password, phc)).toBe(true);
      expect(await hasher.verify(other, phc)).toBe(false);
      expect(await hasher.verify("", phc)).toBe(false);
    });

    it.each(vectors)("verifies what libargon2 wrote: %s", async (_name, password, phc) => {
      expect(await hasher.verify(password, phc)).toBe(true);
      expect(await hasher.verify(`${password}.`, phc)).toBe(false);
    });

    it.each(bcryptVectors)("verifies the bcrypt that libxcrypt wrote: %s", async (_name, password, hash) => {
      expect(await hasher.verify(password, hash)).toBe(true);
      expect(await hasher.verify(`${password.slice(0, -1)}.`, hash)).toBe(false);
      expect(await hasher.verify("", hash)).toBe(false);
    });

    it("verifies no password over 72 bytes against bcrypt, though bcrypt itself would cut it", async () => {
      const [, , hash] = bcryptVectors.at(-1)!;
      expect(await hasher.verify("é".repeat(37), hash)).toBe(false);
      expect(await hasher.verify(`${"é".repeat(36)}x`, hash)).toBe(false);
    });

    it("tells what is current, outdated and unusable", async () => {
      expect(hasher.standing(await hasher.hash("a password"))).toBe("current");
      expect(hasher.standing(vectors[1]![2])).toBe("current");
      for (const [name, , stored] of [...vectors, ...bcryptVectors])
        if (stored !== vectors[1]![2] && !stored.includes("m=19456,t=2,p=1"))
          expect([name, hasher.standing(stored)]).toEqual([name, "outdated"]);
      for (const stored of [
        "",
        "password",
        "none",
        "$2x$04$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq",
        "$2b$03$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq",
        "$2b$15$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq",
        "$2b$31$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq",
        "$2b$4$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq",
        "$2b$04$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIe",
        "$2b$04$ABCDEFGHIJKLMNOPQRSTUuHzrfeaHESIafIgIn5rRlQxo3XhcNIeq\n",
        `$argon2id$v=19$m=65537,t=2,p=1$${salt}$${hash}`,
        `$argon2id$v=19$m=19456,t=11,p=1$${salt}$${hash}`,
      ])
        expect([stored, hasher.standing(stored)]).toEqual([stored, "unusable"]);
    });

    it("keeps simultaneous passwords apart", async () => {
      const passwords = Array.from({ length: 6 }, (_, index) => `password ${index}`);
      const hashes = await Promise.all(passwords.map((password) => hasher.hash(password)));
      const verified = await Promise.all(passwords.map((password, index) => hasher.verify(password, hashes[index]!)));
      expect(verified).toEqual(passwords.map(() => true));
    });

    it.each([
      "",
      "password",
      "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
      `$argon2i$v=19$m=19456,t=2,p=1$${salt}$${hash}`,
      `$argon2d$v=19$m=19456,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=16$m=19456,t=2,p=1$${salt}$${hash}`,
      `$argon2id$m=19456,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=65537,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=4294967296,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=7,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=31,t=2,p=4$${salt}$${hash}`,
      `$argon2id$v=19$m=0,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=-19456,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=019456,t=2,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=19456,t=0,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=19456,t=11,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=0$${salt}$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=5$${salt}$${hash}`,
      `$argon2id$v=19$t=2,m=19456,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBg$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(88)}$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$gYJZtjEAJqg`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${"A".repeat(88)}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}==$${hash}=`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt.slice(0, -1)}x$${hash}`,
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${hash}\n`,
      ` $argon2id$v=19$m=19456,t=2,p=1$${salt}$${hash}`,
    ])("does not verify against %j", async (phc) => {
      expect(await hasher.verify("correct horse battery staple", phc)).toBe(false);
    });
  });
}
