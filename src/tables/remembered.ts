import type { Refusal } from "../http/refusal.js";
import { Memo } from "../platform/memo.js";
import type { Log } from "../platform/platform.js";
import type { LiveProject } from "../schema/live-project.js";
import type { Access } from "./access.js";
import type { PreparedList } from "./list/prepare-list.js";
import { type Counted, PlanChecks } from "./plan-check.js";
import type { Sql } from "./sql/fragment.js";
import type { WriteStatement } from "./sql/row.js";

/** What requests under one version of the schema share, such as statements. It is dropped when the schema changes. */
export class Remembered {
  readonly accesses = new Memo<Access | Refusal | null>(1_000);
  readonly lists = new Memo<PreparedList | Refusal | null>(300);
  readonly reads = new Memo<Counted<Sql>>(300);
  readonly writes = new Memo<WriteStatement>(300);
  readonly plans: PlanChecks;

  constructor(log: Log) {
    this.plans = new PlanChecks(log);
  }
}

const remembered = new WeakMap<LiveProject, Remembered>();

/** The `Remembered` of a project under one version of its schema, made at the first call. */
export function rememberedOf(project: LiveProject, log: Log): Remembered {
  const known = remembered.get(project);
  if (known !== undefined) return known;
  const made = new Remembered(log);
  remembered.set(project, made);
  return made;
}
