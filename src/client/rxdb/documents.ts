import type { RxCollection, WithDeleted } from "rxdb";
import type { Step } from "../live/changes.js";

/** The members of a row, of a row's key or of a document, by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** Matches the members that RxDB adds to documents. */
const ofRxDB = /^_(meta|rev|attachments|deleted)$/;

/** Turns rows into documents of an RxDB collection, and its documents into rows. */
export class Documents<Row> {
  /** The keys of rows that RxDB was given and may not have stored yet, as documents, by the documents' ids. */
  readonly #given = new Map<string, Fields>();
  /** Whether the key, where it is one column, is a number; null before a row has shown that. */
  #hasNumber: boolean | null = null;

  /** `select` has the columns of rows that documents have; undefined for all. */
  constructor(
    private readonly collection: RxCollection<Row>,
    private readonly select: readonly string[] | undefined,
  ) {}

  /**
   * The documents that RxDB is to store for changes: the rows, and as deleted what is known here of rows that are
   * removed. `isReset`: the changes are all rows that there are, and whatever else is here is deleted.
   */
  async of({ changes, isReset }: Pick<Step, "changes" | "isReset">): Promise<WithDeleted<Row>[]> {
    const rows = changes.filter(({ op }) => op !== "remove").map(({ row }) => this.documentOf(row!));
    const isThere = new Set(rows.map((row) => this.#idOf(row)));
    const keys = changes.filter(({ op }) => op === "remove").map(({ key }) => this.documentOf(key));
    if (isReset) keys.push(...this.#given.values(), ...(await this.#stored()));
    const gone = new Map(keys.map((key) => [this.#idOf(key), key]));
    for (const { op, key } of changes) {
      const document = this.documentOf(key);
      if (op !== "remove") this.#given.set(this.#idOf(document), document);
    }
    for (const id of isThere) gone.delete(id);
    for (const id of gone.keys()) this.#given.delete(id);
    const stored = await this.collection.storageInstance.findDocumentsById([...gone.keys()], true);
    for (const document of stored) gone.set(this.#idOf(document), document as unknown as Fields);
    return [
      ...rows.map((row) => ({ ...row, _deleted: false })),
      ...[...gone.values()].map(asDeleted),
    ] as WithDeleted<Row>[];
  }

  async #stored(): Promise<Fields[]> {
    const documents = await this.collection.find().exec();
    return documents.map((document) => document.toJSON() as Fields);
  }

  /** Makes a document of a row, or of a row's key. */
  documentOf(row: Fields): Fields {
    const { schema } = this.collection;
    const isShown = (column: string) =>
      this.select === undefined || this.select.includes(column) || column === schema.primaryPath;
    const fields = Object.fromEntries(Object.entries(row).filter(([column]) => isShown(column)));
    const value = fields[schema.primaryPath];
    if (value !== undefined) this.#hasNumber = typeof value === "number";
    const document = value === undefined ? fields : { ...fields, [schema.primaryPath]: String(value) };
    // For a key of several columns RxDB makes the text that is the document's primary key.
    return { ...document, [schema.primaryPath]: schema.getPrimaryOfDocumentData(document as never) };
  }

  #idOf(document: object): string {
    return (document as Fields)[this.collection.schema.primaryPath] as string;
  }

  /** The key of the row that a document stands for. */
  keyOf(document: Fields): Fields {
    return Object.fromEntries(this.#keyColumns.map((column) => [column, this.columnsOf(document)[column]]));
  }

  /**
   * The columns of the row that a document stands for: its members without those that RxDB adds, and a key that is a
   * number as one.
   */
  columnsOf(document: Fields): Fields {
    const { primaryPath } = this.collection.schema;
    const isComposed = !this.#keyColumns.includes(primaryPath);
    return Object.fromEntries(
      Object.entries(document)
        .filter(([name]) => !ofRxDB.test(name) && !(isComposed && name === primaryPath))
        .map(([name, value]) => [name, name === primaryPath && this.#hasNumber ? Number(value) : value]),
    );
  }

  get #keyColumns(): readonly string[] {
    const { primaryKey } = this.collection.schema.jsonSchema;
    return typeof primaryKey === "string" ? [primaryKey] : (primaryKey.fields as readonly string[]);
  }
}

/** A document that RxDB has stored, as a deleted one and without what RxDB adds. */
function asDeleted(document: Fields): Fields {
  return {
    ...Object.fromEntries(Object.entries(document).filter(([name]) => !ofRxDB.test(name))),
    _deleted: true,
  };
}
