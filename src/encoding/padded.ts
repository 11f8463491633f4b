const unit = 64;

/**
 * The text with spaces at its end, so that it has a multiple of 64 bytes in UTF-8. The length of an encrypted text then
 * tells little of its content, such as how many digits a number in it has.
 */
export function padded(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  return text + " ".repeat((unit - (bytes % unit)) % unit);
}
