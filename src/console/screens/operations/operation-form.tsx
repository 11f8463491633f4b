import { useState } from "preact/hooks";
import type { ListedOperation } from "../../../wire/named-operations.js";
import { parseValue } from "../../grid/value.js";
import { Copyable } from "../../parts/copy.js";
import { Select, TextField } from "../../parts/field.js";
import { Form } from "../../parts/form.js";
import { Text } from "../../parts/text.js";
import { type AdminAnswer, requestAnswer } from "../../server/request-data.js";
import { texts } from "../../texts.js";

/** Runs an operation and shows what it returns. It runs as the administrator, even if its `allow` would refuse them. */
export function OperationForm({ operation }: { readonly operation: ListedOperation }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [answer, setAnswer] = useState<AdminAnswer<unknown> | null>(null);
  const { values, problems } = valuesOf(operation, typed);
  const { name, params } = operation;
  const run = async () => {
    setAnswer(null);
    if (Object.keys(problems).length > 0) throw new Error(texts.data.fixFirst);
    setAnswer(await requestAnswer("POST", `/operations/${name}`, values));
  };
  return (
    <>
      <Form action={texts.operations.run} onSubmit={run}>
        {params.map((param) => (
          <Parameter
            key={param.name}
            of={param}
            problem={problems[param.name]}
            text={typed[param.name] ?? ""}
            onChange={(text) => setTyped((before) => ({ ...before, [param.name]: text }))}
          />
        ))}
        <p class="hint">{texts.operations.pastAllow}</p>
      </Form>
      {answer !== null && (
        <section class="pane" aria-label={texts.operations.answer}>
          <h3>{texts.operations.answer}</h3>
          {operation.returns === "none" ? (
            <p role="status">{texts.operations.done}</p>
          ) : (
            <pre class="code" role="status">
              <Text value={JSON.stringify(answer.data, null, 2)} />
            </pre>
          )}
        </section>
      )}
      <details>
        <summary>{texts.operations.callHelp}</summary>
        <Copyable text={curlOf(name, values)} />
      </details>
    </>
  );
}

interface ParameterProps {
  readonly of: ListedOperation["params"][number];
  readonly problem: string | undefined;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

function Parameter({ of: { name, type, required, check }, problem, text, onChange }: ParameterProps) {
  const facts = [type, !required && texts.operations.optional, check].filter(Boolean).join(" · ");
  const hint = problem === undefined ? facts : <span class="bad-text">{problem}</span>;
  return type === "boolean" ? (
    <Select label={name} hint={hint} value={text} options={truths} onChange={onChange} />
  ) : (
    <TextField label={name} hint={hint} value={text} onInput={onChange} />
  );
}

const truths = ["", "true", "false"].map((text) => [text, text === "" ? "–" : text] as const);

/** The parameters to send, and the problems of texts that are no values of their types. Empty texts are left out. */
function valuesOf({ params }: ListedOperation, typed: Readonly<Record<string, string>>) {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { name, type } of params) {
    const text = typed[name];
    if (text === undefined || text === "") continue;
    const parsed = parseValue(type, text);
    if ("problem" in parsed) problems[name] = texts.values.problems[parsed.problem];
    else values[name] = parsed.value;
  }
  return { values, problems };
}

/** A `curl` command that calls the operation with an API key. */
function curlOf(name: string, values: object): string {
  const body = JSON.stringify(values).replaceAll("'", "'\\''");
  return `curl ${location.origin}/ops/${name} -H "X-API-Key: $SVC_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
