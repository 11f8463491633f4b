/**
 * What `npm run quick` runs for each subject: files of test/ whose path begins like that. A property test that takes
 * long by default is left to `npm test`.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const subjects = {
  lists: [
    "conformance/lists",
    "conformance/openapi",
    "property/lists",
    "property/search",
    "unit/statements",
    "unit/prepare-list",
    "unit/plan-check",
  ],
  aggregates: ["conformance/aggregates", "property/aggregates", "property/grouping", "unit/statements"],
  expand: ["conformance/lists/expand", "property/expand", "unit/statements"],
  rows: ["conformance/rows", "conformance/input", "property/hostile-names", "unit/statements"],
  writes: ["conformance/writes", "conformance/rows", "property/writes", "unit/statements", "unit/write-queue"],
  operations: ["conformance/operations", "property/operations", "unit/sqlite"],
  rules: ["conformance/rules", "property/rules.test", "property/rules-fold", "property/conditions", "unit/rules"],
  changes: ["conformance/changes", "property/shared-streams", "unit/streams", "unit/live-events"],
  auth: [
    "conformance/account",
    "conformance/credentials",
    "conformance/refresh",
    "conformance/cookies",
    "conformance/links",
    "conformance/throttle",
    "unit/auth",
    "docs/http",
  ],
  oauth: ["conformance/oauth", "unit/oauth"],
  keys: ["conformance/api-keys", "conformance/secrets"],
  admin: ["conformance/admin", "conformance/console"],
  explain: ["conformance/explain", "property/explain.test", "unit/explain"],
  schema: [
    "conformance/schema",
    "conformance/pulled",
    "property/migration",
    "unit/migration",
    "unit/large-schema",
    "docs/schema",
  ],
  metering: ["conformance/metering", "property/metering.test", "unit/metering", "unit/recorder"],
  log: ["conformance/log", "unit/log"],
  openapi: ["conformance/openapi", "docs/http"],
  http: ["conformance/input", "conformance/errors", "conformance/cookies", "property/strict-json", "unit/http"],
  client: ["conformance/client", "property/outbox", "unit/client"],
  console: ["unit/console"],
  node: ["platform/database.test", "platform/journal", "unit/hash-queue", "unit/fair-queue", "unit/write-queue"],
  docs: ["docs/links", "docs/blocks", "docs/limits", "docs/errors", "docs/dependencies", "docs/security"],
};
