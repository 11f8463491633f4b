import { useState } from "preact/hooks";
import type { SummedUsage, UsageGap, UsageMeta } from "../../../wire/usage.js";
import { Select } from "../../parts/field.js";
import { List } from "../../parts/list.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { requestAnswer } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { seriesOf } from "./series.js";
import { UsageChart } from "./usage-chart.js";

type Range = "7" | "30" | "90";
type UsageBy = "table" | "principal";

const dayMs = 86_400_000;

/** What requests have cost in rows, by day, and by table or caller. */
export default function Usage() {
  const [range, setRange] = useState<Range>("30");
  const [group, setGroup] = useState<UsageBy>("table");
  // The range ends with today, as far as it is known.
  const toMs = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
  const fromMs = toMs - Number(range) * dayMs;
  const load = async (by: string, signal: AbortSignal) => {
    const query = new URLSearchParams({ group_by: by, from: new Date(fromMs).toISOString() });
    return requestAnswer<readonly SummedUsage[], UsageMeta>("GET", `/usage?${query}`, undefined, { signal });
  };
  const days = useLoaded((signal) => load("day", signal), [range]);
  const sums = useLoaded((signal) => load(group, signal), [range, group]);
  return (
    <Screen
      title={texts.nav.usage}
      actions={
        <Select
          label={texts.usage.range}
          isLabelHidden
          value={range}
          options={Object.entries(texts.usage.ranges) as [Range, string][]}
          onChange={setRange}
        />
      }
    >
      <LoadedView of={days}>
        {({ data, meta }) => (
          <>
            <Totals sums={data} />
            <section class="card chart-card" aria-label={texts.usage.byDay}>
              <h2>{texts.usage.byDay}</h2>
              <UsageChart series={seriesOf(data, meta?.gaps ?? [], fromMs / 1000, toMs / 1000)} />
              {(meta?.gaps ?? []).length > 0 && <Gaps gaps={meta!.gaps} />}
            </section>
          </>
        )}
      </LoadedView>
      <div class="toolbar">
        <Select
          label={texts.usage.group}
          isLabelHidden
          value={group}
          options={Object.entries(texts.usage.groups) as [UsageBy, string][]}
          onChange={setGroup}
        />
      </div>
      <LoadedView of={sums}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="usage" title={texts.usage.none} />
          ) : (
            <Sums label={texts.usage.groups[group]} sums={data} />
          )
        }
      </LoadedView>
    </Screen>
  );
}

function Sums({ label, sums }: { readonly label: string; readonly sums: readonly SummedUsage[] }) {
  return (
    <List
      label={label}
      items={sums.toSorted((a, b) => b.rows_read - a.rows_read)}
      idOf={({ key }) => key}
      columns={[
        {
          title: label,
          of: ({ key }) => (
            <span class="mono">
              <bdi>{key}</bdi>
            </span>
          ),
        },
        { title: texts.usage.requests, isNumber: true, of: ({ requests }) => count(requests) },
        { title: texts.usage.read, isNumber: true, of: ({ rows_read: rows }) => count(rows) },
        { title: texts.usage.written, isNumber: true, of: ({ rows_written: rows }) => count(rows) },
        { title: texts.usage.returned, isNumber: true, of: ({ rows_returned: rows }) => count(rows) },
        {
          title: texts.usage.unknown,
          isNumber: true,
          of: ({ unknown_reads: reads }) => count(reads),
        },
      ]}
    />
  );
}

const count = (value: number) => value.toLocaleString("en");

function Totals({ sums }: { readonly sums: readonly SummedUsage[] }) {
  const total = (member: "requests" | "rows_read" | "rows_written" | "rows_returned") =>
    count(sums.reduce((sum, each) => sum + each[member], 0));
  const figures = [
    [texts.usage.requests, total("requests")],
    [texts.usage.read, total("rows_read")],
    [texts.usage.written, total("rows_written")],
    [texts.usage.returned, total("rows_returned")],
  ] as const;
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div class="figure" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Gaps({ gaps }: { readonly gaps: readonly UsageGap[] }) {
  return (
    <details class="gaps">
      <summary>{texts.usage.gaps(gaps.length)}</summary>
      <ul class="plain-list">
        {gaps.map(({ at, reason, attempts_max: most }) => (
          <li key={at + reason}>
            <time dateTime={at}>{at}</time> <span class="muted">{texts.usage.gap(reason, most)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
