import type { MutationResult } from "../operations.js";
import type { Queued } from "./kept.js";
import type { OutboxOptions, Refused, Resolution } from "./types.js";

/**
 * Calls the handler for a mutation that the server has refused (`conflict` or `rejected`), and returns what is to become
 * of the mutation.
 */
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
      return (
        (await onConflict?.({ ...refused, fields: fields ?? [], current: current ?? null })) ?? "discard"
      );
    await onRejected?.(refused);
    return "discard";
  } catch (cause) {
    // An error of the handler is wrapped in another, so that it is not taken for one of the server.
    throw new Error("a handler of the outbox has failed", { cause });
  }
}
