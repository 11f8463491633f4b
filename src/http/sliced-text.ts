/** How many characters of a long answer are handed over at once. */
const sliceLength = 131_072;

/** From how many characters on a text is sent in slices. */
export const slicedFrom = 262_144;

/**
 * A long text as a stream, which encodes a slice when the client has taken the one before. Otherwise a client that
 * reads nothing would keep the encoded text in memory too. The text is given in pieces, because joining them would copy
 * it.
 */
export class SlicedText {
  readonly stream: ReadableStream<Uint8Array>;
  readonly length: number;
  #whenTaken = () => {};

  constructor(pieces: readonly string[]) {
    this.length = lengthOf(pieces);
    const encoder = new TextEncoder();
    let left = pieces;
    let at = 0;
    const end = () => {
      left = [];
      this.#whenTaken();
    };
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          const [piece] = left;
          if (piece === undefined) return;
          const next = sliceEnd(piece, at);
          controller.enqueue(encoder.encode(piece.slice(at, next)));
          at = next;
          if (at < piece.length) return;
          at = 0;
          left = left.slice(1);
          if (left.length > 0) return;
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

/** How many characters these pieces have together. */
export function lengthOf(pieces: readonly string[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Where the slice that begins at `begin` ends: not between the two halves of a character. */
function sliceEnd(text: string, begin: number): number {
  const end = begin + sliceLength;
  if (end >= text.length) return text.length;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end - 1 : end;
}
