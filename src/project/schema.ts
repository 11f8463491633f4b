import * as v from "valibot";
import { managedKinds, searchTokenizers, stepRefusals } from "./model.js";
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

/** The keys of svc.schema.yaml that begin with `$`, for valibot. */
export const settingsSchema = mapWith({
  $auth: v.optional(
    mapWith({
      registration: v.optional(v.picklist(["public", "invite", "closed"]), "public"),
      email_verification: v.optional(mapWith({ required: flag, url: text("") }), {}),
      invitation_url: text(""),
      password_reset_url: text(""),
      email_change_url: text(""),
      providers: v.optional(v.array(v.picklist(["google", "apple", "github"])), []),
      redirect_urls: v.optional(v.array(v.string()), []),
    }),
    {},
  ),
  $origins: v.optional(v.array(v.string()), []),
  $history: history,
  $operations: v.optional(v.custom<unknown>(() => true)),
});

const literal = v.union([v.string(), v.number(), v.bigint(), v.boolean()]);

const type = v.picklist(["integer", "real", "text", "boolean", "json", "blob"]);

const columnSchema = mapWith({
  type,
  primary_key: flag,
  not_null: flag,
  unique: flag,
  default: v.optional(v.union([literal, mapWith({ sql: v.string() })], "expected a literal or {sql: …}")),
  check: v.optional(v.string()),
  references: v.optional(
    mapWith({
      table: v.string(),
      column: v.optional(v.string()),
      on_delete: v.optional(v.picklist(["no_action", "restrict", "cascade", "set_null", "set_default"]), "no_action"),
    }),
  ),
  managed: v.optional(v.picklist(managedKinds)),
  renamed_from: v.optional(v.string()),
});

const isMap = (written: unknown) => typeof written === "object" && !Array.isArray(written);
const searchOptions = mapWith({ columns: names, tokenize: v.optional(v.picklist(searchTokenizers), "unicode61") });
const searchColumns = v.pipe(
  names,
  v.transform((columns): v.InferOutput<typeof searchOptions> => ({ columns, tokenize: "unicode61" })),
);

/** One table in svc.schema.yaml, for valibot. */
export const tableSchema = mapWith({
  columns: mapOf(columnSchema),
  primary_key: v.optional(names),
  unique: v.optional(v.array(names), []),
  indexes: v.optional(v.array(mapWith({ columns: names, unique: flag, where: v.optional(v.string()) })), []),
  search: v.optional(v.lazy((written) => (isMap(written) ? searchOptions : searchColumns))),
  triggers: v.optional(mapOf(v.string()), {}),
  history,
  renamed_from: v.optional(v.string()),
  strict: v.optional(v.boolean(), true),
  virtual: flag,
});

/** A column of svc.schema.yaml, with the defaults for what is left out. */
export type ColumnSource = v.InferOutput<typeof columnSchema>;
/** A table of svc.schema.yaml, with the defaults for what is left out. */
export type TableSource = v.InferOutput<typeof tableSchema>;

/** `$auth` of svc.schema.yaml, with the defaults for what is left out. */
export type AuthSource = v.InferOutput<typeof settingsSchema>["$auth"];

/**
 * One operation, for valibot, with every parameter in its long form (`{ type: text }`, not `text`) and unchecked steps.
 */
export const operationSchema = mapWith({
  params: v.optional(
    mapOf(
      mapWith({
        type,
        check: v.optional(v.string()),
        default: v.optional(v.nullable(literal)),
        nullable: flag,
      }),
    ),
    {},
  ),
  allow: v.optional(v.string()),
  steps: v.array(v.custom<unknown>(() => true)),
});

const rows = "expected a number of rows, 0 to 1000000";

const message = "expected a message of 1 to 200 characters";

/** One step of an operation, for valibot. */
export const stepSchema = mapWith({
  sql: v.string(),
  expect: v.optional(v.pipe(v.bigint(rows), v.minValue(0n, rows), v.maxValue(1_000_000n, rows))),
  else: v.optional(v.picklist(stepRefusals)),
  message: v.optional(v.pipe(v.string(), v.minLength(1, message), v.maxLength(200, message))),
  returns: v.optional(v.picklist(["one", "many", "none"]), "none"),
  as: v.optional(mapOf(type), {}),
});

/** A parameter of an operation in its long form, with the defaults for what is left out. */
export type ParamSource =
  v.InferOutput<typeof operationSchema>["params"] extends ReadonlyMap<string, infer P> ? P : never;

/** A step of an operation, with the defaults for what is left out. */
export type StepSource = v.InferOutput<typeof stepSchema>;
