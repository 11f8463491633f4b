/**
 * A text as a JSON string of visible ASCII characters alone, so that no id and no name can end a line, or steer the
 * terminal that shows it.
 */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A text for the log: as it is where it has only letters, digits and harmless punctuation; else as `quotedText` writes
 * it.
 */
export function plainText(text: string): string {
  return /^[\w.:,@$[\]?-]+$/.test(text) ? text : quotedText(text);
}
