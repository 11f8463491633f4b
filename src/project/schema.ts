import * as v from "valibot";
import { managedKinds } from "./model.js";
import { mapOf, mapWith } from "./valibot-problems.js";

const text = (fallback: string) => v.optional(v.string(), fallback);
const flag = v.optional(v.boolean(), false);
const names = v.array(v.string());

const history = v.optional(
  v.pipe(
    v.string("expected 30d, forever or none"),
    v.regex(/^(none|forever|[1-9]\d{0,4}d)$/, "expected days such as 30d, forever or none"),
  ),
);

/** The schema of the keys of svc.schema.yaml that begin with `$`. */
export const settingsSchema = mapWith({
  $auth: v.optional(
    mapWith({
      registration: v.optional(v.picklist(["public", "invite", "closed"]), "public"),
      email_verification: v.optional(mapWith({ required: flag, url: text("") }), {}),
      invitation_url: text(""),
      password_reset_url: text(""),
      providers: v.optional(v.array(v.picklist(["google", "apple", "github"])), []),
      redirect_urls: v.optional(v.array(v.string()), []),
    }),
    {},
  ),
  $origins: v.optional(v.array(v.string()), []),
  $history: history,
});

const literal = v.union([v.string(), v.number(), v.bigint(), v.boolean()]);

const columnSchema = mapWith({
  type: v.picklist(["integer", "real", "text", "boolean", "json", "blob"]),
  primary_key: flag,
  not_null: flag,
  unique: flag,
  default: v.optional(v.union([literal, mapWith({ sql: v.string() })], "expected a literal or {sql: …}")),
  check: v.optional(v.string()),
  references: v.optional(
    mapWith({
      table: v.string(),
      column: v.optional(v.string()),
      on_delete: v.optional(
        v.picklist(["no_action", "restrict", "cascade", "set_null", "set_default"]),
        "no_action",
      ),
    }),
  ),
  managed: v.optional(v.picklist(managedKinds)),
  renamed_from: v.optional(v.string()),
});

/** The schema of one table in svc.schema.yaml. */
export const tableSchema = mapWith({
  columns: mapOf(columnSchema),
  primary_key: v.optional(names),
  unique: v.optional(v.array(names), []),
  indexes: v.optional(v.array(mapWith({ columns: names, unique: flag, where: v.optional(v.string()) })), []),
  search: v.optional(names),
  triggers: v.optional(mapOf(v.string()), {}),
  history,
  renamed_from: v.optional(v.string()),
  strict: v.optional(v.boolean(), true),
  virtual: flag,
});

/** A column as it is written in the file. */
export type ColumnSource = v.InferOutput<typeof columnSchema>;
/** A table as it is written in the file. */
export type TableSource = v.InferOutput<typeof tableSchema>;

/** `$auth` as it is written in the file. */
export type AuthSource = v.InferOutput<typeof settingsSchema>["$auth"];
