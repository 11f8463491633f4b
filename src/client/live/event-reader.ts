/** An event of the server's stream of changes (docs/sync.md#live). */
export interface StreamEvent {
  /** The event's name; null for a comment. */
  readonly event: string | null;
  readonly data: unknown;
  /** The checkpoint after the event; null if there is none, as in the middle of a change of several events. */
  readonly id: string | null;
}

/**
 * Makes a function that takes the text of a stream in pieces of any size, and calls `seen` for each event in it. It
 * reads only the part of https://html.spec.whatwg.org/multipage/server-sent-events.html that this server writes: lines
 * that end with LF, data of one line, and comments.
 */
export function eventReader(seen: (event: StreamEvent) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/, 2) as [string, string]));
      const event = fields.get("event") ?? null;
      seen({ event, data: JSON.parse(fields.get("data") ?? "null"), id: fields.get("id") ?? null });
    }
  };
}
