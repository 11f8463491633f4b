import type { RxCollection, WithDeleted } from "rxdb";
import type { Step } from "../live/changes.js";

/** The members of a row, of a row's key or of a document, by their names. */
export type Fields = Readonly<Record<string, unknown>>;

/** The members that RxDB adds to documents. */
const ofRxDB = /^_(meta|rev|attachments|deleted)$/;

/** Turns rows of the server into documents of an RxDB collection, and back. */
export class Documents<Row> {
  /** The keys of rows that RxDB was given and may not have stored yet, as documents, by the document's id. */
  readonly #given = new Map<string, Fields>();
  /** Whether a key of one column holds numbers; null until a row has shown that. */
  #hasNumber: boolean | null = null;

  /** `select` names the columns that documents have; undefined stands for all. */
  constructor(
    private readonly collection: RxCollection<Row>,
    private readonly select: readonly string[] | undefined,
  ) {}

  /**
   * The documents that RxDB is to store for changes from the server. For a removed row, what this device has of it
   * becomes a deleted document. `isReset`: the changes are all rows that there are, and whatever else this device has
   * is deleted.
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

  /** Takes a row, or the key of a row. */
  documentOf(row: Fields): Fields {
    const { schema } = this.collection;
    const isShown = (column: string) =>
      this.select === undefined || this.select.includes(column) || column === schema.primaryPath;
    const fields = Object.fromEntries(Object.entries(row).filter(([column]) => isShown(column)));
    const value = fields[schema.primaryPath];
    if (value !== undefined) this.#hasNumber = typeof value === "number";
    const document = value === undefined ? fields : { ...fields, [schema.primaryPath]: String(value) };
    // RxDB makes one text of a key of several columns.
    return { ...document, [schema.primaryPath]: schema.getPrimaryOfDocumentData(document as never) };
  }

  #idOf(document: object): string {
    return (document as Fields)[this.collection.schema.primaryPath] as string;
  }

  /** The key of the row for which a document stands. */
  keyOf(document: Fields): Fields {
    return Object.fromEntries(this.#keyColumns.map((column) => [column, this.columnsOf(document)[column]]));
  }

  /** The columns of a document's row: without RxDB's members, and with a key that is a number as a number. */
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

/** Removes the members that RxDB adds. */
function asDeleted(document: Fields): Fields {
  return {
    ...Object.fromEntries(Object.entries(document).filter(([name]) => !ofRxDB.test(name))),
    _deleted: true,
  };
}
