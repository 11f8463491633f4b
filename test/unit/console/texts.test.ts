import { expect, it } from "vitest";
import type { MailKind } from "../../../src/auth/store/outbox.js";
import { texts } from "../../../src/console/texts.js";

/** A kind that is missing here does not compile. */
const mailKinds: Readonly<Record<MailKind, true>> = {
  email_verification: true,
  email_change: true,
  email_change_attempt: true,
  email_change_notice: true,
  email_changed: true,
  invitation: true,
  password_reset: true,
  registration_attempt: true,
};

it("every kind of mail has a name that people read", () => {
  expect(Object.keys(texts.mail.purposes).toSorted()).toEqual(Object.keys(mailKinds).toSorted());
});
