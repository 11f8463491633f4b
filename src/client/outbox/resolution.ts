import type { MutationResult } from "../operations.js";
import type { Queued } from "./kept.js";
import type { OutboxOptions, Refused, Resolution } from "./types.js";

/** Calls the handler for a refused mutation (`conflict` or `rejected`), and returns what becomes of it. */
export async function resolutionOf<Tables>(
  { onConflict, onRejected }: OutboxOptions<Tables>,
  { name, operations }: Queued,
  { status, operation, error, fields, current }: MutationResult,
): Promise<Resolution<Tables>> {
  const refused = {
    mutation: { name, operations },
    operation: operations[operation ?? -1] ?? null,
    error: error!,
  } as Refused<Tables>;
  try {
    if (status === "conflict")
      return (await onConflict?.({ ...refused, fields: fields ?? [], current: current ?? null })) ?? "discard";
    await onRejected?.(refused);
    return "discard";
  } catch (cause) {
    // So that a handler's error is not taken for one of the server.
    throw new Error("a handler of the outbox has failed", { cause });
  }
}
