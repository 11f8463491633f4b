/**
 * The key that an address is compared by: ASCII lower case. Letters outside of ASCII stay as
 * they are, so that no look-alike such as the Kelvin sign ever equals one inside.
 */
export function emailKey(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export const emailBytesMax = 254;

/**
 * An address: `local@domain.tld`, no whitespace; none of the characters that RFC 5322 gives a meaning, by which
 * one text could be mail to another address; and no format characters (zero width and the like), by which an address could
 * look like another one.
 */
export const emailShape =
  /^[^\s\p{Cc}\p{Cf}@<>"(),:;[\]\\]+@[^\s\p{Cc}\p{Cf}@.<>"(),:;[\]\\]+(\.[^\s\p{Cc}\p{Cf}@.<>"(),:;[\]\\]+)+$/u;

export function isEmail(text: string): boolean {
  return new TextEncoder().encode(text).length <= emailBytesMax && emailShape.test(text);
}
