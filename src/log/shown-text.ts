/**
 * Writes a text as a JSON string of visible ASCII characters. So no id or name from elsewhere can begin a new line of
 * the log, or send control characters to the terminal that shows it.
 */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Leaves a text of letters, digits and harmless punctuation as it is, and writes others as `quotedText` does. */
export function plainText(text: string): string {
  return /^[\w.:,@$[\]?-]+$/.test(text) ? text : quotedText(text);
}
