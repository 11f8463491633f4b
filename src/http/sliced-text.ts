/** How many characters of a long answer are handed over at once. */
const sliceLength = 131_072;

/** From how many characters on a text is sent in slices. */
export const slicedFrom = 262_144;

/**
 * A long text as a stream, which encodes a slice when the client has taken the one before. Otherwise a client that
 * reads nothing would keep the encoded text in memory too.
 */
export class SlicedText {
  readonly stream: ReadableStream<Uint8Array>;
  readonly length: number;
  #whenTaken = () => {};

  constructor(text: string) {
    this.length = text.length;
    const encoder = new TextEncoder();
    let left: string | null = text;
    let at = 0;
    const end = () => {
      left = null;
      this.#whenTaken();
    };
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (left === null) return;
          const next = sliceEnd(left, at);
          controller.enqueue(encoder.encode(left.slice(at, next)));
          at = next;
          if (at < left.length) return;
          controller.close();
          end();
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
  }

  /** Calls `then` when the client has taken the last slice, or has gone. */
  whenTaken(then: () => void): void {
    this.#whenTaken = then;
  }
}

/** Where the slice that begins at `begin` ends: not between the two halves of a character. */
function sliceEnd(text: string, begin: number): number {
  const end = begin + sliceLength;
  if (end >= text.length) return text.length;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end - 1 : end;
}
