import { toHex } from "../encoding/hex.js";

/** RFC 9562, section 5.7. `now` in milliseconds, `random` 10 bytes. */
export function uuidV7(now: number, random: Uint8Array): string {
  const time = now.toString(16).padStart(12, "0");
  const version = (random[0]! & 0x0f) | 0x70;
  const variant = (random[2]! & 0x3f) | 0x80;
  const tail = toHex([version, random[1]!, variant, ...random.subarray(3)]);
  return `${time.slice(0, 8)}-${time.slice(8)}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`;
}
