import { useState } from "preact/hooks";
import type { PlannedStep, SchemaPlan } from "../../../wire/plan.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { Checkbox } from "../../parts/field.js";
import { messageOf } from "../../parts/notify.js";
import { texts } from "../../texts.js";
import { lineDiff, shownLines } from "./line-diff.js";

interface PlanViewProps {
  readonly before: string;
  readonly after: string;
  readonly plan: SchemaPlan;
  /** Whether the text has changed since this plan was made. It cannot be applied then; a new one is being loaded. */
  readonly isStale: boolean;
  readonly onApply: (isLossAllowed: boolean) => Promise<void>;
}

/** A plan: its steps, what they would lose, the changed lines of the text, and the button that carries it out. */
export function PlanView({ before, after, plan, isStale, onApply }: PlanViewProps) {
  const [isLossAllowed, setLossAllowed] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { steps } = plan;
  const isImpossible = steps.some(({ hazards }) => hazards.some(({ effect }) => effect === "impossible"));
  const losing = steps.filter(({ safe }) => !safe);
  if (plan.base === plan.hash) return <p class="muted">{texts.schema.noChange}</p>;
  const apply = async () => {
    setFailure(null);
    await onApply(isLossAllowed).catch((error: unknown) => setFailure(messageOf(error)));
  };
  return (
    <>
      {failure !== null && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      <div class="plan-apply">
        {losing.length > 0 && !isImpossible && (
          <Checkbox
            label={texts.schema.allowLoss(lostBy(losing))}
            isChecked={isLossAllowed}
            onChange={setLossAllowed}
          />
        )}
        {isImpossible && <p class="problem">{texts.schema.impossible}</p>}
        <Button
          kind={losing.length > 0 ? "danger" : "main"}
          isDisabled={isStale || isImpossible || (losing.length > 0 && !isLossAllowed)}
          onPress={apply}
        >
          {texts.schema.apply}
        </Button>
      </div>
      {steps.length === 0 && <p class="muted">{texts.schema.textOnly}</p>}
      <ol class="plan">
        {steps.map((step, i) => (
          <Step key={i} step={step} />
        ))}
      </ol>
      <details open={steps.length === 0}>
        <summary>{texts.schema.diff}</summary>
        <Diff before={before} after={after} />
      </details>
    </>
  );
}

/** How many rows or values the steps would lose, as far as the server has counted them. */
function lostBy(steps: readonly PlannedStep[]): number {
  const counts = steps.flatMap(({ hazards }) => hazards.map(({ count }) => count ?? 0));
  return counts.reduce((sum, count) => sum + count, 0);
}

function Step({ step: { description, hazards, safe, statements } }: { readonly step: PlannedStep }) {
  return (
    <li class={safe ? "step" : "step risky"}>
      <p class="step-head">
        <Badge kind={safe ? "good" : "bad"}>{safe ? texts.schema.safe : texts.schema.risky}</Badge> {description}
      </p>
      {hazards.map(({ effect, reason, count }) => (
        <p class="bad-text" key={reason}>
          {texts.schema.effects[effect]}: {reason}
          {count !== null && ` (${count})`}
        </p>
      ))}
      {statements.length > 0 && (
        <details>
          <summary>{texts.why.sql}</summary>
          <pre class="code">{statements.map((sql) => `${sql};`).join("\n")}</pre>
        </details>
      )}
    </li>
  );
}

function Diff({ before, after }: { readonly before: string; readonly after: string }) {
  const signs = { same: " ", removed: "−", added: "+" };
  return (
    <pre class="diff">
      {shownLines(lineDiff(before, after)).map((line, i) =>
        line === null ? (
          <span key={i} class="diff-gap">
            ⋯{"\n"}
          </span>
        ) : (
          <span key={i} class={`diff-${line.kind}`}>
            {signs[line.kind]} {line.text}
            {"\n"}
          </span>
        ),
      )}
    </pre>
  );
}
