import { useState } from "preact/hooks";
import { parseValue } from "../../grid/value.js";
import { Copyable } from "../../parts/copy.js";
import { TextField } from "../../parts/field.js";
import type { OperationShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";

/**
 * The parameters of an operation, and the call that they make. Operations are for those whom their rules admit, and for keys:
 * the console's session is not taken there, so that the call is shown to be run with a key.
 */
export function OperationForm({ operation }: { readonly operation: OperationShape }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { name, type, required } of operation.params) {
    const text = typed[name];
    if (text === undefined || text === "") {
      if (required) values[name] = `<${type}>`;
      continue;
    }
    const parsed = parseValue(type, text);
    if ("problem" in parsed) problems[name] = texts.values.problems[parsed.problem];
    else values[name] = parsed.value;
  }
  return (
    <div class="form">
      {operation.params.map(({ name, type, required, check }) => (
        <TextField
          key={name}
          label={name}
          hint={
            problems[name] === undefined ? (
              [type, !required && texts.operations.optional, check].filter(Boolean).join(" · ")
            ) : (
              <span class="bad-text">{problems[name]}</span>
            )
          }
          value={typed[name] ?? ""}
          onInput={(text) => setTyped((before) => ({ ...before, [name]: text }))}
        />
      ))}
      <p class="hint">{texts.operations.callHelp}</p>
      <Copyable text={curlOf(operation.name, values)} />
    </div>
  );
}

/** A command line that calls an operation. */
function curlOf(name: string, values: object): string {
  const body = JSON.stringify(values).replaceAll("'", "'\\''");
  return `curl ${location.origin}/ops/${name} -H "X-API-Key: $SVC_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
