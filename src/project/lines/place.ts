/** A part of a file: where it begins, and the parts that it has by key or index. */
export interface Place {
  readonly offset: number;
  part(step: string): Place | undefined;
}
