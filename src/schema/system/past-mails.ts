/**
 * Migration of release 0.2.0: the server keeps for a while what became of each mail (`_past_mails`), and why a mail
 * that still waits could not be delivered (`_outbox.last_error`). `src/auth/accounts/purge.ts` deletes old rows.
 */
export const pastMails: readonly string[] = [
  "ALTER TABLE _outbox ADD COLUMN last_error TEXT",
  `CREATE TABLE _past_mails (
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    link_id TEXT,
    action_url TEXT,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    state TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    last_error TEXT
  ) WITHOUT ROWID`,
  "CREATE INDEX _past_mails_created_at ON _past_mails (created_at, id)",
  "CREATE INDEX _past_mails_ended_at ON _past_mails (ended_at)",
];
