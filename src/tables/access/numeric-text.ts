import { isPlainReal } from "../../platform/real-scale.js";
import { type Affinity, isStorableInteger, makesNumbers } from "../../sqlite/column-type.js";

/**
 * Whether SQLite converts a text to a number where a column of INTEGER, REAL or NUMERIC affinity stores it, or is
 * compared with it (SQLite's documentation, "Datatypes In SQLite", section 3).
 */
export function readsAsNumber(text: string): boolean {
  return /^[ \t\n\v\f\r]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\n\v\f\r]*$/.test(text);
}

/** The name of the placeholder for the number that a filter's text is written as. `name` is that of the text's own. */
export const numberName = (name: string) => `${name}.number`;

/** The number that a text is written as in JSON; null for a text that JSON has no number for, such as `007` or ` 7`. */
export function numberOf(text: string): bigint | number | null {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  if (/^-?\d+$/.test(text) && isStorableInteger(BigInt(text))) return BigInt(text);
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Whether a column of the affinity `stored` turns this text into a number that is shown as exactly this text. */
export function isShownNumber(text: string, stored: Affinity): boolean {
  if (!makesNumbers(stored)) return false;
  if (stored === "real" || !/^(0|-?[1-9]\d{0,18})$/.test(text)) return isShownReal(text, stored);
  return isStorableInteger(BigInt(text));
}

/** Whether a stored real is shown as this text: 1e-4 to below 1e15, with up to 15 digits and no exponent. */
function isShownReal(text: string, stored: Affinity): boolean {
  const digits = text.replace(/^-?(0\.0*)?/, "").replace(".", "").length;
  const size = Math.abs(Number(text));
  // A column with another numeric affinity than REAL stores a real without a fraction as an integer, which is shown
  // without the `.0`.
  const isReal = stored === "real" || !text.endsWith(".0");
  return /^-?(0|[1-9]\d*)\.(\d*[1-9]|0)$/.test(text) && isReal && digits <= 15 && size >= 1e-4 && size < 1e15;
}

/** Whether JSON text that is a number comes back as the same number after SQLite has stored it as a number. */
export function staysAsNumber(text: string): boolean {
  const value = Number(text);
  return Number.isSafeInteger(value) || (Number(value.toPrecision(15)) === value && isPlainReal(value));
}
