import { useState } from "preact/hooks";
import type { Reloaded } from "../../../wire/reload.js";
import { Button } from "../../parts/button.js";
import { messageOf } from "../../parts/notify.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";

type Step = Reloaded["steps"][number];

/** Shows what the files would change if the server read them again, and lets it read them. */
export function ReloadCard({ onReloaded }: { readonly onReloaded: () => void }) {
  const [found, setFound] = useState<Reloaded | null>(null);
  const [isTaken, setTaken] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const ask = (isDryRun: boolean) => async () => {
    setFailure(null);
    setTaken(false);
    try {
      const answer = await requestData<Reloaded>("POST", "/reload", { dry_run: isDryRun });
      setFound(isDryRun ? answer : null);
      if (isDryRun) return;
      setTaken(true);
      onReloaded();
    } catch (error) {
      setFound(null);
      setFailure(messageOf(error));
    }
  };
  return (
    <section class="card">
      <h2>{texts.settings.files}</h2>
      <p class="muted">{texts.settings.filesLead}</p>
      {failure !== null && (
        <pre class="problem" role="alert">
          {failure}
        </pre>
      )}
      {found !== null && <Findings of={found} />}
      {isTaken && <p role="status">{texts.settings.taken}</p>}
      <p>
        <Button onPress={ask(true)}>{texts.settings.compare}</Button>{" "}
        {found?.applied && (
          <Button kind="main" onPress={ask(false)}>
            {texts.settings.reload}
          </Button>
        )}
      </p>
    </section>
  );
}

function Findings({ of: { applied, steps, waits } }: { readonly of: Reloaded }) {
  if (!applied && waits.length === 0) return <p>{texts.settings.asServed}</p>;
  return (
    <>
      {steps.length + waits.length === 0 && <p>{texts.settings.noSteps}</p>}
      <Steps title={texts.settings.steps} of={steps} />
      <Steps title={texts.settings.waits} of={waits} />
    </>
  );
}

function Steps({ title, of }: { readonly title: string; readonly of: readonly Step[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <p>{title}</p>
      <ul>
        {of.map(({ description }) => (
          <li key={description}>{description}</li>
        ))}
      </ul>
    </>
  );
}
