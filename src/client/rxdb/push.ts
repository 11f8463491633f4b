import type { RxCollection, RxReplicationWriteToMasterRow, WithDeleted } from "rxdb";
import type { Client } from "../client.js";
import { SvcError } from "../error.js";
import type { MutationResult, PushedOperation } from "../operations.js";
import type { Documents, Fields } from "./documents.js";

/** Where documents are pushed to, and what the client name is made of. */
export interface PushOptions<Row> {
  readonly client: Pick<Client<never>, "push"> & { readonly table: unknown };
  readonly collection: RxCollection<Row>;
  readonly documents: Documents<Row>;
  readonly table: string;
  readonly replicationIdentifier: string;
  /**
   * Called if the server refuses a write for good, for another reason than a conflict or a row that is not there. The
   * change is then taken back in the collection.
   */
  readonly onRejected: (error: SvcError) => void;
}

const mutationsMax = 100;
/** An id that no client has reached. The server refuses it, and says in the refusal which id is next. */
const unknownNext = Number.MAX_SAFE_INTEGER - mutationsMax;
/** How many requests a push makes at most to find out which id is next. */
const attemptsMax = 5;

/**
 * RxDB's push handler for a table. Each document becomes a mutation of its own (`docs/sync.md#push`). As RxDB wants it,
 * the handler returns the documents that were not taken, each as the server has it.
 */
export function pushHandler<Row>(
  options: PushOptions<Row>,
): (rows: RxReplicationWriteToMasterRow<Row>[]) => Promise<WithDeleted<Row>[]> {
  const { documents, table, client, onRejected } = options;
  const send = numberedSend(options);
  // Columns that the server sets to another value than it was sent, such as times. The client cannot know these values.
  const setByServer = new Set<string>();
  const rowOf = async (document: Fields): Promise<Fields | null> => {
    try {
      const rows = (client as unknown as Client<Record<never, never>>).table<Fields>(table);
      return await rows.get(documents.keyOf(document));
    } catch (error) {
      if (error instanceof SvcError && (error.status === 404 || error.status === 403)) return null;
      throw error;
    }
  };
  return async (rows) => {
    const written = rows.flatMap((row) => {
      const operation = operationOf(row, table, documents, setByServer);
      return operation === null ? [] : [{ document: row.newDocumentState as Fields, operation }];
    });
    const results = await send(written.map(({ operation }) => operation));
    const masters: Fields[] = [];
    for (const [i, { status, rows: answered, error, current }] of results.entries()) {
      const { document, operation } = written[i]!;
      if (status === "applied" && operation.op !== "delete")
        for (const [column, value] of Object.entries(answered?.[0] ?? {}))
          if (column in document && !isSame(value, documents.columnsOf(document)[column])) setByServer.add(column);
      if (status === "applied" || status === "duplicate") continue;
      const isGone = error!.code === "not_found";
      if (isGone && operation.op === "delete") continue;
      const row = current ?? (isGone ? null : await rowOf(document));
      masters.push(row === null ? { ...document, _deleted: true } : { ...documents.documentOf(row), _deleted: false });
      if (status === "rejected" && !isGone && error!.code !== "conflict")
        onRejected(new SvcError(0, error!.code, error!.message, null, { columns: error!.columns ?? [] }));
    }
    return masters as WithDeleted<Row>[];
  };
}

/** Gives the server's row the values of a document; null if nothing has changed. */
function operationOf<Row>(
  { assumedMasterState, newDocumentState }: RxReplicationWriteToMasterRow<Row>,
  table: string,
  documents: Documents<Row>,
  setByServer: ReadonlySet<string>,
): PushedOperation | null {
  const document = newDocumentState as Fields;
  const before = assumedMasterState as Fields | undefined;
  const key = documents.keyOf(document);
  const values = documents.columnsOf(document);
  const isThere = before !== undefined && before._deleted !== true;
  const assumed = isThere ? documents.columnsOf(before) : {};
  // The `base` of the write, without columns that the server sets and objects, which the server does not compare.
  const baseOf = (columns: readonly string[]) => {
    const known = columns.filter(
      (column) => !(column in key) && !setByServer.has(column) && Object(assumed[column]) !== assumed[column],
    );
    const base = Object.fromEntries(known.map((column) => [column, assumed[column]]));
    return known.length > 0 ? { base } : {};
  };
  // The document may be deleted before this device has learnt that the server has its row.
  if (document._deleted === true) return { op: "delete", table, key, ...baseOf(Object.keys(assumed)) };
  if (!isThere) return { op: "create", table, values };
  const columns = [...new Set([...Object.keys(values), ...Object.keys(assumed)])];
  const changed = columns.filter((column) => !(column in key) && !isSame(values[column], assumed[column]));
  if (changed.length === 0) return null;
  const set = Object.fromEntries(changed.map((column) => [column, values[column] ?? null]));
  return { op: "update", table, key, set, ...baseOf(changed.filter((column) => column in assumed)) };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Pushes operations, each as a mutation of its own. The ids go on from call to call. */
function numberedSend<Row>({
  client,
  collection,
  replicationIdentifier,
}: PushOptions<Row>): (operations: readonly PushedOperation[]) => Promise<MutationResult[]> {
  let name: Promise<string> | null = null;
  let next: number | null = null;
  return async (operations) => {
    name ??= nameOf(collection, replicationIdentifier);
    const results: MutationResult[] = [];
    for (let attempts = 0; results.length < operations.length; ) {
      const rest = operations.slice(results.length, results.length + mutationsMax);
      const first: number = next ?? unknownNext;
      const mutations = rest.map((operation, i) => ({ id: first + i, operations: [operation] }));
      try {
        const pushed = await client.push({ client: await name, mutations: mutations as never });
        if (pushed.results.length === 0) throw new SvcError(200, "unexpected_answer", "a push without results");
        results.push(...pushed.results);
        next = first + pushed.results.length;
      } catch (error) {
        const { expected, status } = error as Partial<SvcError>;
        next = expected ?? null;
        // The id may be used already, for example by another tab.
        if ((next === null && status !== 422) || ++attempts === attemptsMax) throw error;
      }
    }
    return results;
  };
}

/**
 * The name under which a collection pushes its mutations. It stays the same on one device, because the server keeps
 * only a bounded number of such names.
 */
async function nameOf<Row>({ database, name }: RxCollection<Row>, identifier: string): Promise<string> {
  const hash = await database.hashFunction(JSON.stringify([await database.storageToken, name, identifier]));
  return `rxdb.${hash.slice(0, 32)}`;
}
