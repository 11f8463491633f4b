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
export async function readAhead(request: Request, bodyBytesMax: number): Promise<void> {
  // Looking for a body is what makes node-server build a whole Request, and these have none (Fetch, "new Request").
  if (request.method === "GET" || request.method === "HEAD") return;
  if (request.body !== null) texts.set(request, await readNow(request, bodyBytesMax));
}

/** A body as UTF-8 text, read no further than the limit. */
export async function readText(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  const text = texts.get(request);
  if (text === undefined) return readNow(request, bodyBytesMax);
  return typeof text === "string" && new TextEncoder().encode(text).length > bodyBytesMax
    ? tooLarge(bodyBytesMax)
    : text;
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal("payload_too_large", `the body is over ${bodyBytesMax} bytes`);
}

async function readNow(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  if (Number(request.headers.get("Content-Length") ?? 0) > bodyBytesMax) return tooLarge(bodyBytesMax);
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let bytes = 0;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > bodyBytesMax) {
        await reader.cancel();
        return tooLarge(bodyBytesMax);
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (error instanceof TypeError) return badRequest("the body is not valid UTF-8");
    throw error;
  }
}
