/** A content coding of the console's compressed files (RFC 9110, section 8.4.1). */
export type ContentCoding = "br" | "gzip";

/** A file of the console's page, as it is sent. */
export interface ConsoleFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null for none. */
  readonly coding: ContentCoding | null;
}

/** The files of the console's page as they were built. */
export interface ConsoleFiles {
  /**
   * The file at `path`, in the first of `codings` in which the build has made a copy, or else uncompressed. `path` is
   * `index.html`, or `assets/` and a name without a slash.
   */
  read(path: string, codings: readonly ContentCoding[]): Promise<ConsoleFile | null>;
}
