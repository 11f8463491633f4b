import type { Journal, JournalEntry } from "../../src/platform/journal.js";

/** A journal that can be switched off, and keeps what it was given otherwise. */
export class SwitchableJournal implements Journal {
  readonly entries: JournalEntry[] = [];

  constructor(public works: boolean) {}

  async append(entry: JournalEntry): Promise<void> {
    if (!this.works) throw new Error("no space left on device");
    this.entries.push(entry);
  }

  async collect(): Promise<void> {}
  async close(): Promise<void> {}
}
