import { expect, it } from "vitest";
import { emailKey, isEmail } from "../../../src/auth/email.js";

it.each(["ada@example.com", "a+b.c_d@x-y.example.co", "ünï@exämple.com"])("%s is an address", (text) => {
  expect(isEmail(text)).toBe(true);
});

it.each([
  "ada",
  "ada@example",
  "ada@@example.com",
  "ada @example.com",
  "ada@example..com",
  "ada@example.com.",
  "(comment)ada@example.com",
  "ada,bob@example.com",
  "group:ada@example.com;",
  '"ada"@example.com',
  "<ada@example.com>",
  "ada@[192.0.2.1].com",
  "ada\\@example.com",
  "ada\0@example.com",
  "a\u200Bda@example.com",
  "ada\u00AD@example.com",
  "ada@exa\u2060mple.com",
  "ada@example.c\u200Eom",
  "ada\u{E0061}@example.com",
  `${"a".repeat(250)}@example.com`,
])("%j is none", (text) => {
  expect(isEmail(text)).toBe(false);
});

it("compares ASCII letters without case, and no others", () => {
  expect(emailKey("Ada@EXAMPLE.com")).toBe("ada@example.com");
  expect(emailKey("\u212Aelvin@x.com")).toBe("\u212Aelvin@x.com");
  expect(emailKey("\u0130@x.com")).toBe("\u0130@x.com");
});
