import { fromHex } from "./hex.js";

/** Base64 with the standard alphabet and padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes what `toBase64` wrote. Null for any other text, even if a lenient decoder would accept it. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return toBase64(bytes) === text ? bytes : null;
}

/** Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes what `toBase64Url` wrote; null for any other text. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const padding = "=".repeat((4 - (text.length % 4)) % 4);
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
const ascii = new TextDecoder("latin1");

/**
 * Base64 of the bytes that a text gives in hexadecimal. The text must be an even number of hexadecimal digits, which is
 * not checked.
 */
export function hexToBase64(hex: string): string {
  const whole = hex.length - (hex.length % 6);
  const out = new Uint8Array((whole / 6) * 4);
  // Three digits have as many bits as two characters of base64.
  for (let i = 0, o = 0; i < whole; i += 3) {
    const bits = (digit(hex, i) << 8) | (digit(hex, i + 1) << 4) | digit(hex, i + 2);
    out[o++] = codes[bits >> 6]!;
    out[o++] = codes[bits & 63]!;
  }
  return ascii.decode(out) + (whole === hex.length ? "" : toBase64(fromHex(hex.slice(whole))));
}

/** The value of the digit at an index. The letters of both cases are 32 apart, with the low bits from 1 to 6. */
function digit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code <= 0x39 ? code - 0x30 : (code & 0xf) + 9;
}
