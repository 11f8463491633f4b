/** The types of columns in svc.schema.yaml (docs/reference/schema.md#types). */
export type ColumnType = "integer" | "real" | "text" | "boolean" | "json" | "blob";

/** The collation of columns that declare none: bytes are compared. */
export const binary = "BINARY";

/** 2^53: every integer from -2^53 to 2^53 is exact as an SQLite REAL (a 64-bit float); larger ones may not be. */
export const exactIntegerMax = 2 ** 53;

/** Whether INTEGER can store the value: a signed integer of 64 bits. */
export function isStorableInteger(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** The storage class to which a column of a table that is not STRICT converts values if it can. */
export type Affinity = "integer" | "text" | "blob" | "real" | "numeric";

/** The affinity that a declared type gives a column (SQLite, "Determination Of Column Affinity"). */
export function affinity(declaredType: string): Affinity {
  const type = declaredType.toUpperCase();
  if (type.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(type)) return "text";
  if (type === "" || type.includes("BLOB")) return "blob";
  return /REAL|FLOA|DOUB/.test(type) ? "real" : "numeric";
}

/** Whether a column of this affinity turns a text that reads as a number into a number. */
export function makesNumbers(stored: Affinity): boolean {
  return stored === "integer" || stored === "real" || stored === "numeric";
}

/** How many values of each kind a column holds. `svc schema pull` guesses the column's type from these counts. */
export interface ColumnValues {
  readonly integers: number;
  /** How many of the integers are 0 or 1. */
  readonly zeroOrOne: number;
  /** How many of the integers are beyond ±2^53. */
  readonly beyondReal: number;
  readonly reals: number;
  readonly texts: number;
  /** How many of the texts are JSON. */
  readonly jsons: number;
  readonly blobs: number;
}

/** The type that `svc schema pull` writes for a column. */
export interface TypeGuess {
  readonly type: ColumnType;
  /** What kinds of values the column mixes, if its type became text or blob because of that; else null. */
  readonly note: string | null;
}

/** Guesses the type of a column: the one that loses none of the values. */
export function guessType(declaredType: string, values: ColumnValues): TypeGuess {
  const { integers, reals, texts, blobs } = values;
  const isJson = /json/i.test(declaredType) && values.jsons === texts;
  if (integers + reals + texts + blobs === 0) return { type: typeOfDeclaration(declaredType), note: null };
  if (blobs > 0) return guess("blob", values);
  if (texts > 0) return isJson && integers + reals === 0 ? { type: "json", note: null } : guess("text", values);
  if (reals > 0) return values.beyondReal > 0 ? guess("text", values) : { type: "real", note: null };
  if (/bool/i.test(declaredType) && values.zeroOrOne === integers) return { type: "boolean", note: null };
  const wantsReal = typeOfDeclaration(declaredType) === "real" && values.beyondReal === 0;
  return { type: wantsReal ? "real" : "integer", note: null };
}

function guess(type: ColumnType, { integers, reals, texts, blobs }: ColumnValues): TypeGuess {
  const counts = Object.entries({ integer: integers, real: reals, text: texts, blob: blobs });
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`);
  const note = `values of several types (${parts.join(", ")}), taken as ${type}`;
  return { type, note: parts.length > 1 ? note : null };
}

/**
 * Guesses the type of a column without values. A date becomes text, because dates are stored as text as often as
 * numbers, and text can hold both.
 */
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
