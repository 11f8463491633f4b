/** The types that svc.schema.yaml knows (docs/reference/schema.md). */
export type ColumnType = "integer" | "real" | "text" | "boolean" | "json" | "blob";

/** How SQLite compares the values of a column that says nothing of it, by their bytes. */
export const binary = "BINARY";

/** Up to here, in both directions, every integer is exact as REAL: 2^53. */
export const exactIntegerMax = 2 ** 53;

/** Whether INTEGER holds it: 64 bits, with the sign. */
export function isStorableInteger(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** Which storage class SQLite prefers for a column that is not STRICT. */
export type Affinity = "integer" | "text" | "blob" | "real" | "numeric";

/** SQLite, "Determination Of Column Affinity". */
export function affinity(declaredType: string): Affinity {
  const type = declaredType.toUpperCase();
  if (type.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(type)) return "text";
  if (type === "" || type.includes("BLOB")) return "blob";
  return /REAL|FLOA|DOUB/.test(type) ? "real" : "numeric";
}

/** Whether a text that reads as a number is stored as one. */
export function makesNumbers(stored: Affinity): boolean {
  return stored === "integer" || stored === "real" || stored === "numeric";
}

/** What the values of a column are, as far as its type depends on them. Counts. */
export interface ColumnValues {
  readonly integers: number;
  /** Of the integers, those that are 0 or 1. */
  readonly zeroOrOne: number;
  /** Of the integers, those beyond ±2^53. */
  readonly beyondReal: number;
  readonly reals: number;
  readonly texts: number;
  /** Of the texts, those that are JSON. */
  readonly jsons: number;
  readonly blobs: number;
}

/** What a pulled column is taken for. */
export interface TypeGuess {
  readonly type: ColumnType;
  /** For a person, where the values are not all of it. */
  readonly note: string | null;
}

/** The type of a column from what was declared and from the values that are there: the one that loses nothing. */
export function guessType(declaredType: string, values: ColumnValues): TypeGuess {
  const { integers, reals, texts, blobs } = values;
  const isJson = /json/i.test(declaredType) && values.jsons === texts;
  if (integers + reals + texts + blobs === 0) return { type: typeOfDeclaration(declaredType), note: null };
  if (blobs > 0) return guess("blob", values);
  if (texts > 0)
    return isJson && integers + reals === 0 ? { type: "json", note: null } : guess("text", values);
  if (reals > 0) return values.beyondReal > 0 ? guess("text", values) : { type: "real", note: null };
  if (/bool/i.test(declaredType) && values.zeroOrOne === integers) return { type: "boolean", note: null };
  const wantsReal = typeOfDeclaration(declaredType) === "real" && values.beyondReal === 0;
  return { type: wantsReal ? "real" : "integer", note: null };
}

/** With a note where the values are of several types. */
function guess(type: ColumnType, { integers, reals, texts, blobs }: ColumnValues): TypeGuess {
  const counts = Object.entries({ integer: integers, real: reals, text: texts, blob: blobs });
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  const note = `values of several types (${parts.join(", ")}), taken as ${type}`;
  return { type, note: parts.length > 1 ? note : null };
}

/** The type of a column without values. Dates are text as often as numbers, and text holds either. */
export function typeOfDeclaration(declaredType: string): ColumnType {
  if (/bool/i.test(declaredType)) return "boolean";
  if (/json/i.test(declaredType)) return "json";
  switch (affinity(declaredType)) {
    case "integer":
      return "integer";
    case "text":
      return "text";
    case "real":
      return "real";
    case "blob":
      return declaredType === "" ? "text" : "blob";
    case "numeric":
      return /date|time|any/i.test(declaredType) ? "text" : "real";
  }
}
