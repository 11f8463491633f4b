import { toHex } from "../encoding/hex.js";

/** RFC 9562, section 5.7. `now` in milliseconds, `random` 10 bytes. */
export function uuidV7(now: number, random: Uint8Array): string {
  const time = now.toString(16).padStart(12, "0");
  const rest = Uint8Array.from(random);
  rest[0] = (rest[0]! & 0x0f) | 0x70;
  rest[2] = (rest[2]! & 0x3f) | 0x80;
  const tail = toHex(rest);
  return `${time.slice(0, 8)}-${time.slice(8)}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`;
}
