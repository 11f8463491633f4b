import { useState } from "preact/hooks";
import type { Explanation } from "../../../wire/explanation.js";
import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { CallerButton } from "../../callers/caller-button.js";
import { callerFrom, callerParameters } from "../../callers/caller-parameters.js";
import { Editor } from "../../editor/editor.js";
import { Select, TextField } from "../../parts/field.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { go, hrefOf, route } from "../../route.js";
import { type As, asMember } from "../../server/as.js";
import { requestData } from "../../server/request-data.js";
import { loadSchema } from "../../server/schema.js";
import { texts } from "../../texts.js";
import { ExplanationView } from "./explanation-view.js";
import { actions, explainBody, type Question, questionOf } from "./question.js";

/** The screen that explains whether a caller may do something, and why. */
export default function Why() {
  const schema = useLoaded(loadSchema, []);
  return (
    <Screen title={texts.nav.why}>
      <p class="lead">{texts.why.lead}</p>
      <LoadedView of={schema}>
        {(found) =>
          found.tables.length === 0 ? <Empty icon="schema" title={texts.data.noTables} /> : <Asking schema={found} />
        }
      </LoadedView>
    </Screen>
  );
}

const nobody: As = { kind: "anonymous", id: "", label: texts.callers.anonymous };

function Asking({ schema }: { readonly schema: ServedSchema }) {
  const { parameters } = route.value;
  const question = questionOf(parameters, schema.tables);
  const as = callerFrom(parameters) ?? nobody;
  const goTo = (next: Question, nextAs: As) => {
    const key = Object.values(next.key).some((text) => text !== "") ? { key: JSON.stringify(next.key) } : {};
    const { table, action, values } = next;
    const all = { table, action, ...key, ...(values !== "" && { values }), ...callerParameters(nextAs) };
    go(hrefOf("why", [], all), true);
  };
  return (
    <div class="why">
      <QuestionForm schema={schema} question={question} as={as} onChange={goTo} />
      <AnswerOf schema={schema} question={question} as={as} />
    </div>
  );
}

interface QuestionFormProps {
  readonly schema: ServedSchema;
  readonly question: Question;
  readonly as: As;
  readonly onChange: (question: Question, as: As) => void;
}

function QuestionForm({ schema, question, as, onChange }: QuestionFormProps) {
  const { table, action, key, values } = question;
  const shape = schema.tables.find(({ name }) => name === table)!;
  const set = (changes: Partial<Question>) => onChange({ ...question, ...changes }, as);
  const isWrite = action === "create" || action === "update";
  const [firstValues] = useState(values);
  return (
    <section class="why-question form" aria-label={texts.why.question}>
      <div class="field">
        <span class="label">{texts.why.who}</span>
        <CallerButton as={as} none="" title={texts.why.who} onChange={(next) => onChange(question, next)} />
      </div>
      <Select
        label={texts.why.action}
        value={action}
        options={actions.map((each) => [each, texts.why.actions[each]] as const)}
        onChange={(next) => set({ action: next })}
      />
      <Select
        label={texts.keys.table}
        value={table}
        options={schema.tables.map(({ name }) => [name, name] as const)}
        onChange={(next) => set({ table: next, key: {} })}
      />
      {action !== "create" &&
        shape.primary_key.map((name) => (
          <TextField
            key={`${table}.${name}`}
            label={texts.why.key(name)}
            hint={action === "read" || action === "history" ? texts.why.keyHint : ""}
            value={key[name] ?? ""}
            onInput={(text) => set({ key: { ...key, [name]: text } })}
          />
        ))}
      {isWrite && (
        <div class="field">
          <span class="label">{texts.why.values}</span>
          <Editor
            label={texts.why.values}
            language="json"
            class="short"
            text={firstValues === "" ? "{\n  \n}" : firstValues}
            onChange={(text) => set({ values: text })}
          />
          <p class="hint">{action === "create" ? texts.why.createHint : texts.why.updateHint}</p>
        </div>
      )}
    </section>
  );
}

interface AnswerOfProps {
  readonly schema: ServedSchema;
  readonly question: Question;
  readonly as: As;
}

const typingMs = 250;

function AnswerOf({ schema, question, as }: AnswerOfProps) {
  const shape = schema.tables.find(({ name }) => name === question.table)!;
  const asked = explainBody(question, shape);
  const isReady = "body" in asked;
  const answer = useLoaded(
    async (signal) => {
      if (!isReady) return { explanation: null };
      // Not every key pressed sends a request.
      await new Promise((resolve) => setTimeout(resolve, typingMs));
      signal.throwIfAborted();
      const body = { as: asMember(as), ...asked.body };
      return { explanation: await requestData<Explanation>("POST", "/explain", body, { signal }) };
    },
    [asked, as, schema.hash],
  );
  return (
    <section class="why-answer" aria-live="polite" aria-label={texts.why.answer}>
      {"wrong" in asked && (
        <p class="problem">{asked.wrong === "key" ? texts.why.wrongKey(asked.column ?? "") : texts.why.wrongValues}</p>
      )}
      {"missing" in asked && <Empty icon="why" title={texts.why.missing[asked.missing]} />}
      {isReady && (
        <LoadedView of={answer}>
          {({ explanation }) => explanation && <ExplanationView schema={schema} explanation={explanation} />}
        </LoadedView>
      )}
    </section>
  );
}
