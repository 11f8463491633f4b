import { badRequest, Refusal } from "./refusal.js";
import { parseStrictJsonInTurns } from "./strict-json.js";

/** The body of a request, which is read once. */
export class RequestBody {
  #read: string | Refusal | undefined;

  constructor(
    private readonly request: Request,
    private readonly bytesMax: number,
  ) {}

  /**
   * Reads the body before the caller is authenticated. Otherwise a client could pass the check, send its body slowly
   * and have it accepted after its session has ended. Undefined if there is nothing to read: for GET, HEAD and DELETE,
   * and if the body was read already.
   */
  ahead(): Promise<void> | undefined {
    const { method } = this.request;
    if (method === "GET" || method === "HEAD" || method === "DELETE") return undefined;
    if (this.#read !== undefined) return undefined;
    return readNow(this.request, this.bytesMax).then((text) => {
      this.#read = text;
    });
  }

  /**
   * The body as UTF-8 text. A body that is over `bytesMax` bytes (413), is cut off or is not UTF-8 (400) is refused.
   */
  async text(bytesMax = this.bytesMax): Promise<string | Refusal> {
    this.#read ??= await readNow(this.request, bytesMax);
    const text = this.#read;
    return typeof text === "string" && bytesOver(text, bytesMax) ? tooLarge(bytesMax) : text;
  }

  /**
   * Refuses a `Content-Type` other than JSON in UTF-8 (415), a body of more than `bytesMax` bytes, whether or not its
   * length is declared (413), and malformed JSON (400).
   */
  async json(bytesMax = this.bytesMax): Promise<unknown> {
    if (!isJson(this.request.headers.get("Content-Type")))
      return new Refusal("unsupported_media_type", "expected Content-Type: application/json");
    const text = await this.text(bytesMax);
    if (text instanceof Refusal) return text;
    const parsed = await parseStrictJsonInTurns(text);
    return parsed instanceof Refusal ? parsed : parsed.value;
  }

  /** Refuses what `json` refuses, and values other than objects (400). */
  async jsonObject(bytesMax = this.bytesMax): Promise<Readonly<Record<string, unknown>> | Refusal> {
    const value = await this.json(bytesMax);
    if (value instanceof Refusal || isObject(value)) return value;
    return badRequest("expected a JSON object as the body");
  }
}

/** Whether a JSON value is an object, neither an array nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The name of a member of an object that is none of `known`; undefined if it has no other members. An object may have
 * very many, so nothing is copied.
 */
export function unknownMember(object: object, known: readonly string[]): string | undefined {
  for (const name in object) if (!known.includes(name)) return name;
  return undefined;
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType ?? "");
}

/**
 * Whether a text has more than `bytesMax` bytes in UTF-8. A UTF-16 code unit takes at most three bytes there, so a
 * short text is not encoded.
 */
export function bytesOver(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && new TextEncoder().encode(text).length > bytesMax;
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal("payload_too_large", `the body is over ${bodyBytesMax} bytes`);
}

async function readNow(request: Request, bodyBytesMax: number): Promise<string | Refusal> {
  const declared = request.headers.get("Content-Length");
  if (declared === null) return readStream(request, bodyBytesMax);
  if (Number(declared) > bodyBytesMax) return tooLarge(bodyBytesMax);
  // If Content-Length declares the length, no more bytes than that come (RFC 9112, section 6.3), so the whole body can
  // be read at once. That is cheaper than its stream, for which @hono/node-server builds a complete Request.
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
/** Decodes whole bodies. It keeps no state between calls, so all requests share it. */
const whole = utf8();
const notUtf8 = badRequest("the body is not valid UTF-8");
/** The connection ended before the body did. That is no failure of the server, so it is not a 500. */
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
