import { useState } from "preact/hooks";
import { SvcError } from "../../../client/index.js";
import type { SchemaPlan } from "../../../wire/plan.js";
import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { Editor } from "../../editor/editor.js";
import { Button } from "../../parts/button.js";
import { LoadedView } from "../../parts/loaded-view.js";
import { notify } from "../../parts/notify.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { go, hrefOf, route } from "../../route.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { withIndex } from "./add-index.js";
import { FileNote } from "./file-note.js";
import { PlanView } from "./plan-view.js";
import { type TextProblem, textProblems } from "./problems.js";

interface SchemaEditorProps {
  readonly schema: ServedSchema;
  readonly onApplied: () => void;
}

const typingMs = 400;

/** While the user types, the server checks the text, and says what is wrong with it or what applying it would do. */
export function SchemaEditor({ schema, onApplied }: SchemaEditorProps) {
  const [text, setText] = useState(() => proposed(schema, route.value.parameters));
  const planned = useLoaded((signal) => planOf(text, signal), [text, schema.hash]);
  const problems = planned.value?.problems ?? [];
  const apply = async (plan: SchemaPlan, isLossAllowed: boolean) => {
    const parameters = new URLSearchParams({
      base: plan.base,
      ...(isLossAllowed && { allow_destructive: "true" }),
    });
    await requestData("POST", `/schema/apply?${parameters}`, text);
    notify(texts.schema.applied);
    // The index that the address proposed is in the schema now. With the same address the editor would insert it again.
    go(hrefOf("schema", ["edit"]), true);
    onApplied();
  };
  return (
    <div class="schema-edit">
      <div class="schema-text">
        <div class="pane-head">
          <h2 class="mono">svc.schema.yaml</h2>
          {text !== schema.text && (
            <Button isSmall icon="undo" onPress={() => setText(schema.text)}>
              {texts.schema.revert}
            </Button>
          )}
        </div>
        <Editor label="svc.schema.yaml" language="yaml" class="tall" text={text} marks={problems} onChange={setText} />
      </div>
      <section class="schema-plan" aria-label={texts.schema.plan} aria-live="polite">
        {text === schema.text && <FileNote schema={schema} onTake={setText} />}
        <h2>{texts.schema.plan}</h2>
        <LoadedView of={planned}>
          {({ plan }) =>
            problems.length > 0 ? (
              <Problems problems={problems} />
            ) : (
              plan && (
                <PlanView
                  before={schema.text}
                  after={text}
                  plan={plan}
                  isStale={planned.isBusy}
                  onApply={(isLossAllowed) => apply(plan, isLossAllowed)}
                />
              )
            )
          }
        </LoadedView>
      </section>
    </div>
  );
}

function Problems({ problems }: { readonly problems: readonly TextProblem[] }) {
  return (
    <ul class="problems" aria-label={texts.schema.problems(problems.length)}>
      {problems.map(({ line, message }) => (
        <li key={`${line} ${message}`}>
          {line !== null && <span class="muted">{texts.schema.line(line)}</span>} {message}
        </li>
      ))}
    </ul>
  );
}

/** The schema in force, with the index that the address names because another screen recommends it. */
function proposed({ text }: ServedSchema, parameters: URLSearchParams): string {
  const [, table, columns] = /^(\w+)\.(\w+(?:,\w+)*)$/.exec(parameters.get("index") ?? "") ?? [];
  return table === undefined ? text : withIndex(text, table, columns!.split(","));
}

interface Planned {
  readonly plan: SchemaPlan | null;
  readonly problems: readonly TextProblem[];
}

async function planOf(text: string, signal: AbortSignal): Promise<Planned> {
  await new Promise((resolve) => setTimeout(resolve, typingMs));
  signal.throwIfAborted();
  // The server takes an empty body for the schema file. So an empty text is sent as a schema without tables.
  const body = text.trim() === "" ? "{}\n" : text;
  try {
    return { plan: await requestData<SchemaPlan>("POST", "/schema/plan", body, { signal }), problems: [] };
  } catch (error) {
    if (!(error instanceof SvcError && error.status === 400)) throw error;
    return { plan: null, problems: textProblems(error.message) };
  }
}
