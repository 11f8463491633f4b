import type { TablesClient } from "./client.js";
import { Outbox } from "./outbox/outbox.js";
import type { OutboxOptions } from "./outbox/types.js";
import type { TableTypes } from "./table-types.js";

export type { Kept, Queued } from "./outbox/kept.js";
export type { Outbox } from "./outbox/outbox.js";
export { memoryOutboxStorage, type OutboxStorage } from "./outbox/storage.js";
export type {
  Conflict,
  OutboxOptions,
  OutboxState,
  PendingMutation,
  Refused,
  Resolution,
  Sending,
} from "./outbox/types.js";

/**
 * Makes an outbox for a client. It keeps what is written while the server cannot be reached, sends it in its order, and
 * shows it at once in the client's live lists (`docs/guides/client.md#the-outbox`).
 */
export function createOutbox<Tables extends { [N in keyof Tables]: TableTypes }>(
  client: TablesClient<Tables>,
  options: OutboxOptions<Tables> = {},
): Outbox<Tables> {
  return new Outbox<Tables>(client, options);
}
