import { badRequest, Refusal } from "./refusal.js";
import { parseStrictJson } from "./strict-json.js";

/** A request's body as a JSON object, never over `bodyBytesMax`, whether its length is declared or not. */
export async function readJsonObject(
  request: Request,
  bodyBytesMax: number,
): Promise<Readonly<Record<string, unknown>> | Refusal> {
  if (!isJson(request.headers.get("Content-Type")))
    return new Refusal("unsupported_media_type", "expected Content-Type: application/json");
  const text = await readText(request, bodyBytesMax);
  if (text instanceof Refusal) return text;
  const parsed = parseStrictJson(text);
  if (parsed instanceof Refusal) return parsed;
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return badRequest("expected a JSON object as the body");
  return value as Record<string, unknown>;
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType ?? "");
}

/** What was read ahead. */
const texts = new WeakMap<Request, string | Refusal>();

/**
 * Reads a body to its end, so that nobody can let time pass between the moment at which they were found to be allowed
 * something and the one at which they say what. Whatever reads it later reads the same.
 */
export function readAhead(request: Request, bodyBytesMax: number): Promise<void> | undefined {
  // Of these nothing is read.
  if (request.method === "GET" || request.method === "HEAD" || request.method === "DELETE") return undefined;
  return readNow(request, bodyBytesMax).then((text) => {
    texts.set(request, text);
  });
}

/** A body as UTF-8 text, read no further than the limit, of which servers hold a declared length to what it says. */
export async function readText(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  const text = texts.get(request);
  if (text === undefined) return readNow(request, bodyBytesMax);
  return typeof text === "string" && bytesOver(text, bodyBytesMax) ? tooLarge(bodyBytesMax) : text;
}

/** A unit of UTF-16 takes three bytes at most. */
function bytesOver(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && new TextEncoder().encode(text).length > bytesMax;
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal("payload_too_large", `the body is over ${bodyBytesMax} bytes`);
}

async function readNow(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  const declared = request.headers.get("Content-Length");
  if (declared === null) return readStream(request, bodyBytesMax);
  if (Number(declared) > bodyBytesMax) return tooLarge(bodyBytesMax);
  // More than it says does not come (RFC 9112, section 6.3). node-server builds a whole Request for a stream, not for this.
  let bytes: ArrayBuffer;
  try {
    bytes = await request.arrayBuffer();
  } catch {
    return cutOff;
  }
  if (bytes.byteLength > bodyBytesMax) return tooLarge(bodyBytesMax);
  try {
    return whole.decode(bytes);
  } catch {
    return notUtf8;
  }
}

const utf8 = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** For what is decoded at once. */
const whole = utf8();
const notUtf8 = badRequest("the body is not valid UTF-8");
/** The client has gone away, or what lies between. Nobody may read the answer, and it is no failure of the server. */
const cutOff = badRequest("the body ended early");

async function readStream(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  if (request.body === null) return "";
  const decoder = utf8();
  let text = "";
  let bytes = 0;
  const reader = request.body.getReader();
  for (;;) {
    const next = await reader.read().catch(() => null);
    if (next === null) return cutOff;
    try {
      if (next.done) return text + decoder.decode();
      text += decoder.decode(next.value, { stream: true });
    } catch {
      return notUtf8;
    }
    bytes += next.value.byteLength;
    if (bytes > bodyBytesMax) {
      await reader.cancel();
      return tooLarge(bodyBytesMax);
    }
  }
}
