import { useEffect, useState } from "preact/hooks";
import type { Change, LiveState } from "../../../client/index.js";
import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { CallerButton } from "../../callers/caller-button.js";
import { callerFrom, callerParameters } from "../../callers/caller-parameters.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { Select } from "../../parts/field.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { messageOf } from "../../parts/notify.js";
import { Screen } from "../../parts/screen.js";
import { Text } from "../../parts/text.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { go, hrefOf, route } from "../../route.js";
import type { As } from "../../server/as.js";
import { loadSchema } from "../../server/schema.js";
import { clientOf } from "../../server/tables.js";
import { texts } from "../../texts.js";

/** Changes of a table's rows as they happen, as the administrator or a chosen caller sees them. */
export default function Live() {
  const schema = useLoaded(loadSchema, []);
  return (
    <Screen title={texts.nav.live}>
      <p class="lead">{texts.live.lead}</p>
      <LoadedView of={schema}>{(found) => <Watched schema={found} />}</LoadedView>
    </Screen>
  );
}

function Watched({ schema }: { readonly schema: ServedSchema }) {
  const { rest, parameters } = route.value;
  const kept = schema.tables.filter(({ history }) => history !== "none");
  const table = kept.find(({ name }) => name === rest[0])?.name ?? kept[0]?.name;
  const as = callerFrom(parameters);
  const goTo = (name: string, nextAs: As | null) => go(hrefOf("live", [name], callerParameters(nextAs)));
  if (table === undefined)
    return (
      <Empty icon="live" title={texts.live.noTables}>
        <p>{texts.live.noTablesHelp}</p>
        <pre class="code">{texts.live.historyExample}</pre>
      </Empty>
    );
  return (
    <>
      <div class="toolbar">
        <Select
          label={texts.keys.table}
          isLabelHidden
          value={table}
          options={kept.map(({ name }) => [name, name] as const)}
          onChange={(name) => goTo(name, as)}
        />
        <CallerButton
          as={as}
          none={texts.data.asAdmin}
          title={texts.data.seeAs}
          onChange={(next) => goTo(table, next)}
        />
        {as !== null && (
          <Button isSmall kind="quiet" onPress={() => goTo(table, null)}>
            {texts.data.backToAdmin}
          </Button>
        )}
      </div>
      <Stream key={`${table} ${JSON.stringify(as)}`} table={table} as={as} />
    </>
  );
}

/** A change and the time of its arrival in milliseconds. */
interface ReceivedChange {
  readonly id: number;
  readonly at: number;
  readonly change: Change;
}

const shownMax = 200;

function Stream({ table, as }: { readonly table: string; readonly as: As | null }) {
  const [state, setState] = useState<LiveState>({ status: "reconnecting", error: null });
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const [seen, setSeen] = useState<readonly ReceivedChange[]>([]);
  useEffect(() => {
    let count = 0;
    let known = new Set<string>();
    return clientOf({ as }).follow({ [table]: {} }, (next, step) => {
      setState(next);
      if (step === null) return;
      if (step.isReset) known = new Set();
      const at = Date.now();
      for (const { op, key } of step.changes)
        if (op === "remove") known.delete(JSON.stringify(key));
        else known.add(JSON.stringify(key));
      setKeys(new Set(known));
      if (step.isReset) return;
      const news = step.changes.map((change): ReceivedChange => ({ id: count++, at, change }));
      setSeen((before) => [...news.toReversed(), ...before].slice(0, shownMax));
    });
  }, [table, as]);
  return (
    <>
      <p class="live-state" role="status">
        <Badge kind={state.status === "live" ? "good" : state.status === "reconnecting" ? "warn" : "bad"}>
          {texts.live.states[state.status]}
        </Badge>
        {state.status === "live" && <span class="muted">{texts.live.rows(keys.size)}</span>}
        {state.error !== null && state.status !== "reconnecting" && (
          <span class="bad-text">{messageOf(state.error)}</span>
        )}
      </p>
      {seen.length === 0 && state.status === "live" && <Empty icon="live" title={texts.live.quiet} />}
      <ol class="changes" aria-label={texts.live.changes}>
        {seen.map(({ id, at, change }) => (
          <li key={id}>
            <Badge kind={change.op === "remove" ? "bad" : change.op === "insert" ? "good" : "plain"}>
              {texts.live.ops[change.op]}
            </Badge>
            <time class="muted small">{new Date(at).toLocaleTimeString("en-GB")}</time>
            <code>
              <Text value={JSON.stringify(change.row ?? change.key)} />
            </code>
          </li>
        ))}
      </ol>
    </>
  );
}
