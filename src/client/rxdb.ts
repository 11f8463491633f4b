import type { ReplicationOptions, RxCollection } from "rxdb";
import { type RxReplicationState, replicateRxCollection } from "rxdb/plugins/replication";
import { Subject } from "rxjs";
import type { Client } from "./client.js";
import type { Change, FollowedTables, Step } from "./live/changes.js";
import type { LiveQuery } from "./query.js";
import { Documents } from "./rxdb/documents.js";
import { pushHandler } from "./rxdb/push.js";

/** Options of `replicateSvc`. Options that RxDB's own replication also has mean the same as there. */
export interface SvcReplicationOptions<Row extends object>
  extends Pick<LiveQuery<Row>, "where" | "filter" | "select">,
    Pick<
      ReplicationOptions<Row, SvcCheckpoint>,
      "replicationIdentifier" | "live" | "retryTime" | "waitForLeadership" | "toggleOnDocumentVisible" | "autoStart"
    > {
  readonly client: Pick<Client<never>, "pull" | "follow" | "push"> & { readonly table: unknown };
  readonly collection: RxCollection<Row>;
  /** The table to replicate, which has to keep history (`docs/sync.md#which-tables`). */
  readonly table: string;
  /** How many changes one request asks for: 1 to 1000; the default is 500. */
  readonly batchSize?: number;
  /** Whether what is written in the collection is sent to the server; true by default. */
  readonly push?: boolean;
}

/** As many as one push takes mutations. */
const pushBatchSize = 100;

/** The replication's checkpoint as RxDB stores it: an object around the server's text. */
export interface SvcCheckpoint {
  readonly checkpoint: string;
}

/**
 * Replicates the rows of a table that the signed-in user may read into a collection of RxDB, as `replicateRxCollection`
 * does (`docs/guides/client.md#rxdb`). RxDB wants texts as primary keys, so a key of one column is stored as a text. A
 * row that the user no longer sees becomes a deleted document. What is written in the collection is sent to the server,
 * unless `push` is false.
 */
export function replicateSvc<Row extends object>(
  options: SvcReplicationOptions<Row>,
): RxReplicationState<Row, SvcCheckpoint> {
  const {
    client,
    collection,
    table,
    where,
    filter,
    select,
    batchSize = 500,
    live = true,
    push = true,
    ...others
  } = options;
  const tables = {
    [table]: { ...(where && { where }), ...(filter && { filter }), ...(select && { select }) },
  };
  const documents = new Documents<Row>(collection, select as readonly string[] | undefined);
  const wake = new Subject<"RESYNC">();
  let stream: Stream | null = null;
  let isOver = false;

  /** Opens a stream of changes from the server's `checkpoint`. RxDB stores `at` for that state; it may be older. */
  const followFrom = (checkpoint: string, at: string | null): Stream => {
    const opened: Stream = { at, steps: [], stop: () => {} };
    opened.stop = client.follow(
      tables,
      (state, step) => {
        if (state.status === "refused") replication.subjects.error.next(state.error as never);
        if (step === null || step.checkpoint === null) return;
        opened.steps.push({ ...step, from: opened.at, checkpoint: step.checkpoint });
        opened.at = step.checkpoint;
        wake.next("RESYNC");
      },
      checkpoint,
    );
    return opened;
  };

  const replication = replicateRxCollection<Row, SvcCheckpoint>({
    ...others,
    collection,
    live,
    ...(push && {
      push: {
        batchSize: pushBatchSize,
        handler: inTurn(
          pushHandler<Row>({
            client,
            collection,
            documents,
            table,
            replicationIdentifier: others.replicationIdentifier,
            onRejected: (error) => replication.subjects.error.next(error as never),
          }),
        ),
      },
    }),
    pull: {
      batchSize,
      // RxDB gets documents only as results of this handler, so that it stores them in the order in which the server
      // told them. The stream only makes RxDB call the handler once more.
      stream$: wake.asObservable(),
      handler: inTurn(async (last: SvcCheckpoint | undefined, limit: number) => {
        const at = last?.checkpoint ?? null;
        const steps = stream?.steps ?? [];
        // RxDB has stored the steps before its checkpoint `at`.
        while (steps.length > 0 && steps[0]!.from !== at) steps.shift();
        if (stream === null || (steps.length === 0 && stream.at !== at)) {
          stream?.stop();
          stream = null;
          const found = await pulled(client, tables, at, limit);
          const made = await documents.of(found);
          // RxDB does not store a checkpoint without documents, so its next call comes with the checkpoint before. The
          // stream then counts as one that begins there.
          if (!found.more && live && !isOver)
            stream = followFrom(found.checkpoint, made.length > 0 ? found.checkpoint : at);
          return { documents: made, checkpoint: { checkpoint: found.checkpoint } };
        }
        for (let step = steps[0]; step !== undefined; step = steps[0]) {
          const made = await documents.of(step);
          if (made.length > 0) {
            if (steps.length > 1) wake.next("RESYNC");
            return { documents: made, checkpoint: { checkpoint: step.checkpoint } };
          }
          steps.shift();
          if (steps[0] === undefined) stream.at = at;
          else steps[0].from = at;
        }
        return { documents: [], checkpoint: last };
      }),
    },
  });
  replication.onCancel.push(() => {
    isOver = true;
    stream?.stop();
  });
  return replication;
}

/** Begins each call of `act` only when the call before has ended: RxDB may call a handler for two reasons at once. */
function inTurn<Arguments extends unknown[], Result>(
  act: (...given: Arguments) => Promise<Result>,
): (...given: Arguments) => Promise<Result> {
  let before: Promise<unknown> = Promise.resolve();
  return (...given) => {
    const result = before.then(() => act(...given));
    before = result.catch(() => undefined);
    return result;
  };
}

/** A stream of the server's changes that goes on from a checkpoint. */
interface Stream {
  /** The checkpoint that RxDB has once it has stored everything told so far; null for none. */
  at: string | null;
  /** The steps that RxDB may not have stored yet. RxDB has the checkpoint `from` before the step. */
  readonly steps: (Found & { from: string | null })[];
  stop: () => void;
}

interface Found extends Pick<Step, "changes" | "isReset"> {
  readonly checkpoint: string;
}

/**
 * Pulls at least `limit` changes, unless there are no more: RxDB takes a shorter result as the last one. If the server
 * begins again with all rows, pulls all of them.
 */
async function pulled(
  client: Pick<Client<never>, "pull">,
  tables: FollowedTables,
  from: string | null,
  limit: number,
): Promise<Found & { readonly more: boolean }> {
  let checkpoint = from;
  let changes: Change[] = [];
  let isReset = false;
  for (;;) {
    const page = await client.pull({ tables, checkpoint, limit });
    if (page.reset !== null) {
      isReset = true;
      changes = [];
    }
    for (const change of page.changes) changes.push(change);
    ({ checkpoint } = page);
    if (!page.more || (!isReset && changes.length >= limit)) return { changes, isReset, checkpoint, more: page.more };
  }
}
