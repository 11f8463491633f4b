/**
 * A part of a file, such as the value of a key, that a problem can point at: the offset at which it begins, and its own
 * parts by their keys or indexes.
 */
export interface Place {
  readonly offset: number;
  part(step: string): Place | undefined;
}
