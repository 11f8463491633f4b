import { isRefusal, type Refusal } from "../../http/refusal.js";
import { Memo } from "../../platform/memo.js";
import type { Platform } from "../../platform/platform.js";
import type { LiveProject } from "../../schema/live-project.js";
import type { Access } from "../access/access.js";
import type { PreparedAggregate } from "../aggregate/prepare-aggregate.js";
import { BriefTries } from "../execution/brief-tries.js";
import type { PreparedList } from "../list/prepare-list.js";
import { stepsIn } from "../plan/expansion.js";
import { type Counted, PlanChecks } from "../plan/plan-check.js";
import type { BulkStatement } from "../sql/bulk.js";
import type { WriteStatement } from "../sql/write-statement.js";
import type { Sql } from "../sql-text/fragment.js";

const listsBytesMax = 8_388_608;

/** What requests under one version of the schema share, such as SQL statements; dropped when it changes. */
export class Remembered {
  readonly accesses = new Memo<Access | Refusal | null>(1_048_576, {
    weigh: (key) => key.length + ruleBytes,
  });
  readonly lists = new Memo<PreparedList | Refusal | null>(listsBytesMax, { weigh: listBytes });
  readonly aggregates = new Memo<PreparedAggregate | null>(2_097_152, { weigh: aggregateBytes });
  readonly reads = new Memo<Counted<Sql>>(2_097_152, { weigh: statementBytes });
  readonly writes = new Memo<WriteStatement>(4_194_304, { weigh: statementBytes });
  readonly bulk = new Memo<BulkStatement>(1_048_576, { weigh: statementBytes });
  readonly plans: PlanChecks;
  readonly briefTries: BriefTries;

  constructor({ log, clock }: Pick<Platform, "log" | "clock">) {
    this.plans = new PlanChecks(log);
    this.briefTries = new BriefTries(clock);
  }
}

/** About how many bytes of memory a parsed rule takes. */
const ruleBytes = 2_048;
/** About how many bytes a prepared list takes for each shown column: in its plan, and in two statements. */
const columnBytes = 512;

/** About how many bytes a prepared list takes for each way, whose SQL is in two statements several times. */
const wayBytes = 16_384;

/** About how many bytes of memory a prepared list takes for each step of its expansions: in two SQL statements. */
const stepBytes = 16_384;

function listBytes(shape: string, list: PreparedList | Refusal | null): number {
  if (list === null || isRefusal(list)) return shape.length + ruleBytes;
  const { output, path, expansions } = list.plan;
  const expanded = stepsIn(expansions).reduce((sum, step) => sum + stepBytes + step.output.length * columnBytes, 0);
  return shape.length + ruleBytes + output.length * columnBytes + (path.ways?.length ?? 0) * wayBytes + expanded;
}

function aggregateBytes(shape: string, aggregate: PreparedAggregate | null): number {
  return aggregate === null ? shape.length : shape.length + ruleBytes + 4 * aggregate.whole.statement.text.length;
}

function statementBytes(shape: string, { statement }: Counted<Sql>): number {
  return shape.length + 2 * statement.text.length;
}

const remembered = new WeakMap<LiveProject, Remembered>();

/** The `Remembered` of a project under one version of its schema, made at the first call. */
export function rememberedOf(project: LiveProject, platform: Pick<Platform, "log" | "clock">): Remembered {
  const known = remembered.get(project);
  if (known !== undefined) return known;
  const made = new Remembered(platform);
  remembered.set(project, made);
  return made;
}
