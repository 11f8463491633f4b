import { expect } from "vitest";
import type { MailMessage, PasswordHasher } from "../../../src/platform/platform.js";
import { client } from "../../support/client.js";
import { apiKey, type TestServer } from "../../support/server.js";

export const notes = "notes: { columns: { id: { type: integer, primary_key: true } } }";
export const password = "correct horse battery staple";
export const other = "another horse battery staple";

/** A project whose users have to confirm their address. */
export const verifying = { schema: `$auth: { email_verification: { required: true } }\n${notes}` };
export const open = { schema: notes };

export const hour = 3_600_000;

/** Every mail to an address, once the work that answers left behind is done. */
export async function mailsTo(server: TestServer, address: string): Promise<readonly MailMessage[]> {
  await server.settled();
  return server.mail.messages.filter(({ to }) => to === address);
}

/** The last one. */
export async function mailTo(server: TestServer, address: string): Promise<MailMessage> {
  const mail = (await mailsTo(server, address)).at(-1);
  expect(mail, `a mail to ${address}`).toBeDefined();
  return mail!;
}

/** The one address that a mail leads to, which its text and its HTML agree on. */
export function linkIn({ text, html }: MailMessage): URL {
  const [address, ...others] = text.match(/https?:\/\/\S+/g) ?? [];
  expect(others).toEqual([]);
  expect(address).toBeDefined();
  expect(html).toContain(`href="${address!.replaceAll("&", "&amp;")}"`);
  return new URL(address!);
}

export function tokenIn(mail: MailMessage): string {
  const tokens = linkIn(mail).searchParams.getAll("token");
  expect(tokens).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  return tokens[0]!;
}

export async function lastToken(server: TestServer, address: string): Promise<string> {
  return tokenIn(await mailTo(server, address));
}

/** The token response of `user`. */
export const tokensOf = (user: object) => ({
  data: {
    user,
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    refresh_token: expect.stringMatching(/^svc_rt_[\w-]{43}$/),
    token_type: "Bearer",
    expires_in: 900,
  },
});

/** A client with a `project:backend` key. */
export async function backend(server: TestServer) {
  return client(server, await apiKey(server, "project:backend"));
}

/** Counts the hashes that a server runs from now on. */
export function countHashes(server: TestServer): { count: number } {
  const real = server.platform.passwordHasher;
  const counter = { count: 0 };
  const passwordHasher: PasswordHasher = {
    hasRoomFor: (turn) => real.hasRoomFor(turn),
    hash: (text) => {
      counter.count++;
      return real.hash(text);
    },
    verify: (text, stored) => {
      counter.count++;
      return real.verify(text, stored);
    },
    standing: (stored) => real.standing(stored),
  };
  Object.assign(server.platform, { passwordHasher });
  return counter;
}

/** Statements of an answer, without those that deliver mail after it has been given. */
export function ofTheAnswer(sent: readonly { readonly sql: string }[]): readonly string[] {
  return sent
    .map(({ sql }) => sql)
    .filter(
      (sql) =>
        !/^(SELECT 1 FROM _outbox|UPDATE _outbox|DELETE FROM _outbox|INSERT INTO _past_mails|SELECT \(SELECT max)/.test(
          sql,
        ),
    );
}
