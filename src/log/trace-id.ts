/**
 * The trace id of a `traceparent` header (W3C Trace Context, section 3.2.2): 32 hexadecimal digits. Null if the header
 * is missing or not valid.
 */
export function traceId(header: string | null): string | null {
  if (header === null) return null;
  const [, version, trace, parent] = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-.*)?$/.exec(header) ?? [];
  if (trace === undefined || version === "ff" || /^0+$/.test(trace) || /^0+$/.test(parent!)) return null;
  // Version 00 has exactly four fields; later versions may have more.
  return version === "00" && header.length > 55 ? null : trace;
}
