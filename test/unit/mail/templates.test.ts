import { describe, expect, it } from "vitest";
import { renderMail } from "../../../src/mail/templates.js";

const content = {
  kind: "password_reset",
  from: "Chat <no-reply@chat.example>",
  to: "ada@example.com",
  actionUrl: "https://app.example.com/reset?lang=en&token=abc",
  expiresAtMs: Date.UTC(2026, 0, 2, 3, 4),
} as const;
const kinds = [
  "email_verification",
  "invitation",
  "password_reset",
  "registration_attempt",
  "email_change",
  "email_change_attempt",
  "email_change_notice",
  "email_changed",
] as const;

describe.each(kinds)("the mail %s", (kind) => {
  it("says in text and in HTML the same, and where it leads", () => {
    const { text, html, subject, from, to } = renderMail({ ...content, kind });
    expect([from, to]).toEqual([content.from, content.to]);
    expect(subject).toContain("Chat");
    expect(text).toContain(`\n${content.actionUrl}\n`);
    expect(html).toContain('href="https://app.example.com/reset?lang=en&amp;token=abc"');
    for (const message of [text, html]) expect(message).toContain("until 2026-01-02 03:04 UTC");
    for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("https:")))
      expect(html).toContain(line.replace(/:$/, "").replaceAll("'", "&#39;"));
  });

  it("names no time and no address where it leads nowhere", () => {
    const { text, html } = renderMail({ ...content, kind, actionUrl: null, expiresAtMs: null });
    expect(text + html).not.toMatch(/https?:|href|UTC|null|undefined/);
  });

  it("loads nothing and runs nothing", () => {
    const { html } = renderMail({ ...content, kind });
    expect(html).not.toMatch(/<script|<img|<link|<style|src=|url\(|@import| on\w+=|class=/i);
    expect(html).toMatch(/^<!DOCTYPE html>\n<html lang="en">/);
  });

  it("escapes every value, and its subject has one line", () => {
    const hostile = {
      ...content,
      kind,
      from: `"<b>Evil</b>\r\nBcc: x@example.com" <a@b.example>`,
      actionUrl: `https://app.example.com/?a="><script>alert('x')</script>`,
    };
    const { html, subject } = renderMail(hostile);
    expect(html).not.toMatch(/<script|<b>/);
    expect(html).toContain("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    expect(subject).not.toMatch(/[\r\n]/);
  });
});

it.each([
  ["Chat <no-reply@chat.example>", "Chat"],
  ['"Chat, Inc." <no-reply@chat.example>', "Chat, Inc."],
  ["no-reply@chat.example", "chat.example"],
  ["<no-reply@chat.example>", "chat.example"],
])("is from %j by the name of %j", (from, name) => {
  expect(renderMail({ ...content, from }).subject).toBe(`Set a new password for ${name}`);
});
