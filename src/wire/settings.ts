import { flag, type JsonSchema, list, object, oneOf, recordOf, type Static, text, type WireSchema } from "./schema.js";

const setVariable = object({ variable: text, is_set: flag });
const secret = object({ is_set: flag });
const value: JsonSchema = {
  anyOf: [text, { type: "number" }, flag, list(text), setVariable, secret, { type: "object" }],
};

/** A section of svc.toml as it is shown, with its settings and the sections in it. */
export interface ShownSettings {
  readonly [name: string]:
    | string
    | number
    | boolean
    | readonly string[]
    | Static<typeof setVariable>
    | Static<typeof secret>
    | ShownSettings;
}

/** The schema of the settings in force. */
export const settingsInForce = object({
  settings: recordOf({ type: "object", additionalProperties: value } as WireSchema<ShownSettings>),
  providers: list(object({ provider: text, callback_url: text, has_credentials: flag })),
  release: text,
  runtime: oneOf("node", "worker"),
});
/** The settings in force, by the sections of svc.toml, and what the server says of itself. */
export type SettingsInForce = Static<typeof settingsInForce>;
