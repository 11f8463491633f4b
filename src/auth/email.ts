/**
 * The form of an email address by which addresses are compared: ASCII letters in lower case. Other letters stay as they
 * are, because lower case would turn look-alikes into ASCII: the Kelvin sign (U+212A) would become `k`, and two
 * addresses would be equal.
 */
export function emailKey(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** How many bytes of UTF-8 an email address may have. */
export const emailBytesMax = 254;

/**
 * The form of an email address: `local@domain.tld`. White space and the characters with a meaning in RFC 5322 are not
 * allowed, because a mail program could read such a text as another address. Format characters (such as zero width
 * ones) are not allowed, because they make one address look like another.
 */
export const emailShape =
  /^[^\s\p{Cc}\p{Cf}@<>"(),:;[\]\\]+@[^\s\p{Cc}\p{Cf}@.<>"(),:;[\]\\]+(\.[^\s\p{Cc}\p{Cf}@.<>"(),:;[\]\\]+)+$/u;

/**
 * Whether the text is an email address that the server accepts: of the form `emailShape`, and no longer than
 * `emailBytesMax`.
 */
export function isEmail(text: string): boolean {
  return new TextEncoder().encode(text).length <= emailBytesMax && emailShape.test(text);
}
