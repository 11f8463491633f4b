/** A content coding in which files of the console lie ready (RFC 9110, section 8.4.1). */
export type ContentCoding = "br" | "gzip";

/** A file of the console's page, as it is sent. */
export interface ConsoleFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The coding that the bytes are in; null for none. */
  readonly coding: ContentCoding | null;
}

/** The files of the console's page as they were built. */
export interface ConsoleFiles {
  /**
   * A file, in the first of `codings` that it lies ready in, or else as it is. `path` is relative to where the page was
   * built: `index.html`, or `assets/` and a name without a slash. Null where
   * there is no such file.
   */
  read(path: string, codings: readonly ContentCoding[]): Promise<ConsoleFile | null>;
}
