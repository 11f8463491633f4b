import type { SqlValue } from "../../platform/database.js";
import type { Column, Managed } from "../../project/model.js";
import type { WriteExecution } from "../execution/execution.js";
import type { RowValues } from "../request/row-request.js";

/**
 * The values of a write: those that a request sends, and those of the columns that the server sets by itself
 * (docs/reference/schema.md#managed-columns). No request sends the latter, but a restored row brings some of them along.
 * An update's version is not among them, because its statement raises the stored one.
 */
export function withManaged(
  kind: "insert" | "update",
  managed: readonly Column[],
  sent: RowValues,
  execution: WriteExecution,
): RowValues {
  const set = managed.filter((column) => isSet(kind, column.managed!) && !sent.has(column.name));
  return set.length === 0
    ? sent
    : new Map([...sent, ...set.map((column) => [column.name, managedValue(column, execution)] as const)]);
}

function isSet(kind: "insert" | "update", managed: Managed): boolean {
  return kind === "insert" || managed === "updated_at" || managed === "updated_by";
}

function managedValue({ managed, type }: Column, { nowMs, values, random }: WriteExecution): SqlValue {
  switch (managed) {
    case "created_by":
    case "updated_by":
      return values.get("auth.id") ?? null;
    case "version":
      return firstVersion(random.bytes(5));
    default:
      return type === "integer" ? BigInt(Math.floor(nowMs / 1000)) : new Date(nowMs).toISOString();
  }
}

/**
 * The version of a new row, from five random bytes: when a row is deleted and created again, no version that a client
 * knows of the old one fits the new one.
 */
function firstVersion(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n);
}
