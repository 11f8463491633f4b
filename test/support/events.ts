import { createParser } from "eventsource-parser";
import { expect, onTestFinished } from "vitest";

/** An event of a stream, its data read as JSON. */
export interface StreamEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
  /** Null where it has none. */
  readonly id: string | null;
}

/**
 * Takes the texts of a stream, cut anywhere, and tells each event that they complete. The parser is another project's. Throws
 * where the text is not of the format.
 */
export function eventParser(told: (event: StreamEvent) => void): (text: string) => void {
  const parser = createParser({
    onEvent: ({ event, data, id }) => {
      if (event === undefined) throw new Error(`an event without a name: ${data}`);
      told({ event, data: JSON.parse(data), id: id ?? null });
    },
    onError: (error) => {
      throw error;
    },
  });
  return (text) => parser.feed(text);
}

/** Reads the stream of an answer as the test asks for its events, and ends it with the test. */
export class Events {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #told: StreamEvent[] = [];
  readonly #feed = eventParser((event) => this.#told.push(event));
  lastId: string | null = null;

  constructor(response: Response) {
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/event-stream");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    this.#reader = response.body!.getReader();
    onTestFinished(() => this.#reader.cancel().catch(() => undefined));
  }

  /** The next event; null at the end of the stream. */
  async next(): Promise<StreamEvent | null> {
    for (;;) {
      const event = this.#told.shift();
      if (event !== undefined) {
        this.lastId = event.id ?? this.lastId;
        return event;
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#feed(this.#decoder.decode(value, { stream: true }));
    }
  }

  /** The changes of the next event, which has to be one of changes. */
  async changes(): Promise<unknown> {
    const event = await this.next();
    expect(event).toMatchObject({ event: "change" });
    return event!.data.changes;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
