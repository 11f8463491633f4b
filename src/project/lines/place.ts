/**
 * A part of a file, of which the line is looked up: the offset at which it begins, and its own parts by key or index.
 */
export interface Place {
  readonly offset: number;
  part(step: string): Place | undefined;
}
