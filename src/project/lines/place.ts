/** A part of a file that a problem can point at: the offset at which it begins, and its own parts by key or index. */
export interface SourcePlace {
  readonly offset: number;
  part(step: string): SourcePlace | undefined;
}
