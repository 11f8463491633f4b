import type { ColumnTypeName } from "../../wire/columns.js";
import type { SchemaColumn } from "../../wire/schema-in-force.js";

/** The beginning of a long value and its whole size in bytes, as the server answers the header `Svc-Preview`. */
export interface Preview {
  readonly $preview: string;
  readonly bytes: number;
}

/** Whether the server has sent only the beginning of a longer value. */
export function isPreview(value: unknown): value is Preview {
  if (typeof value !== "object" || value === null) return false;
  const { $preview, bytes } = value as Partial<Preview>;
  return typeof $preview === "string" && typeof bytes === "number" && Object.keys(value).length === 2;
}

/** In characters. */
const cellLengthMax = 300;

/** What a cell shows for a value: the beginning of a long one, the size of a blob. Not for NULL. */
export function cellText(type: ColumnTypeName, value: unknown): string {
  if (isPreview(value)) return type === "blob" ? sizeText(value.bytes) : `${value.$preview}…`;
  if (type === "blob") return typeof value === "string" ? sizeText(bytesOfBase64(value)) : String(value);
  const text = editText(type, value, 0);
  return text.length > cellLengthMax ? `${text.slice(0, cellLengthMax)}…` : text;
}

/** The text by which a value is edited. `indent` is for JSON, in spaces. */
export function editText(type: ColumnTypeName, value: unknown, indent = 2): string {
  if (type === "json") return JSON.stringify(value, null, indent);
  return String(value);
}

/** The value of a typed text, or what is wrong with it. */
export type ParsedInput = { readonly value: unknown } | { readonly problem: ValueProblem };

/** What a text should have been. `integer_range`: the integer does not fit into 64 bits. */
export type ValueProblem = "integer" | "integer_range" | "real" | "boolean" | "json" | "base64";

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Reads a value as the server's JSON has it: an integer beyond ±(2^53−1) is a decimal string. */
export function parseValue(type: ColumnTypeName, typed: string): ParsedInput {
  const text = typed.trim();
  switch (type) {
    case "text":
      return { value: typed };
    case "integer": {
      if (!/^[+-]?\d+$/.test(text)) return { problem: "integer" };
      const integer = BigInt(text.replace(/^\+/, ""));
      if (integer < int64.min || integer > int64.max) return { problem: "integer_range" };
      const number = Number(integer);
      return { value: Number.isSafeInteger(number) ? number : String(integer) };
    }
    case "real": {
      const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(number) ? { value: number } : { problem: "real" };
    }
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : { problem: "boolean" };
    case "json":
      try {
        return { value: JSON.parse(text) as unknown };
      } catch {
        return { problem: "json" };
      }
    case "blob":
      return /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
        ? { value: text }
        : { problem: "base64" };
  }
}

/** How many bytes a base64 text with padding encodes. */
function bytesOfBase64(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

/** A size in bytes as people are shown it: `1.2 KB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, factor] = bytes < 1024 ** 2 ? ["KB", 1024] : ["MB", 1024 ** 2];
  return `${(bytes / (factor as number)).toFixed(1)} ${unit}`;
}

/** The time in a column `managed: created_at` or `updated_at`, which holds unix seconds or text. Null for all else. */
export function managedTime({ managed, type }: SchemaColumn, value: unknown): Date | null {
  if (managed !== "created_at" && managed !== "updated_at") return null;
  const time = type === "integer" ? new Date(Number(value) * 1000) : new Date(String(value));
  return Number.isNaN(time.getTime()) ? null : time;
}
