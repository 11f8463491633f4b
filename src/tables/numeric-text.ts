import { isPlainReal } from "../platform/real-scale.js";
import { type Affinity, isStorableInteger, makesNumbers } from "../sqlite/column-type.js";

/**
 * SQLite, "Type Affinity": a column of INTEGER, REAL or NUMERIC affinity stores such a text as a number, and a comparison
 * with it makes a number of the other side, too.
 */
export function readsAsNumber(text: string): boolean {
  return /^[ \t\n\v\f\r]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\n\v\f\r]*$/.test(text);
}

/** Whether a number is shown as this text where it is stored, and is equal to it and to no other text. */
export function isShownNumber(text: string, stored: Affinity): boolean {
  if (!makesNumbers(stored)) return false;
  if (stored === "real" || !/^(0|-?[1-9]\d{0,18})$/.test(text)) return isShownReal(text, stored);
  return isStorableInteger(BigInt(text));
}

/** SQLite writes reals of a middle size with up to 15 digits and without an exponent. */
function isShownReal(text: string, stored: Affinity): boolean {
  const digits = text.replace(/^-?(0\.0*)?/, "").replace(".", "").length;
  const size = Math.abs(Number(text));
  // Elsewhere a whole number is an integer.
  const isReal = stored === "real" || !text.endsWith(".0");
  return /^-?(0|[1-9]\d*)\.(\d*[1-9]|0)$/.test(text) && isReal && digits <= 15 && size >= 1e-4 && size < 1e15;
}

/** Whether JSON text that is a number comes back as the same number. */
export function staysAsNumber(text: string): boolean {
  const value = Number(text);
  return Number.isSafeInteger(value) || (Number(value.toPrecision(15)) === value && isPlainReal(value));
}
