import type { ListedOperation } from "../../../wire/named-operations.js";
import { Badge } from "../../parts/badge.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { hrefOf, route } from "../../route.js";
import { requestData } from "../../server/request-data.js";
import { texts } from "../../texts.js";
import { OperationForm } from "./operation-form.js";

/** The operations of the project, and one of them with its rule, its steps and a form to run it. */
export default function Operations() {
  const found = useLoaded(
    (signal) => requestData<readonly ListedOperation[]>("GET", "/operations", undefined, { signal }),
    [],
  );
  return (
    <Screen title={texts.nav.operations}>
      <LoadedView of={found}>
        {(operations) =>
          operations.length === 0 ? (
            <Empty icon="operations" title={texts.operations.none}>
              <p>{texts.operations.noneHelp}</p>
              <pre class="code">{texts.operations.example}</pre>
            </Empty>
          ) : (
            <Chosen operations={operations} />
          )
        }
      </LoadedView>
    </Screen>
  );
}

function Chosen({ operations }: { readonly operations: readonly ListedOperation[] }) {
  const operation = operations.find(({ name }) => name === route.value.rest[0]) ?? operations[0]!;
  return (
    <div class="two">
      <nav class="table-list" aria-label={texts.nav.operations}>
        <ul>
          {operations.map(({ name, reads_only: readsOnly }) => (
            <li key={name}>
              <a
                class="table-link"
                href={hrefOf("operations", [name])}
                aria-current={name === operation.name ? "true" : undefined}
              >
                <span class="table-name">{name}</span>
                {readsOnly && <span class="muted small">{texts.operations.reads}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Operation key={operation.name} operation={operation} />
    </div>
  );
}

function Operation({ operation }: { readonly operation: ListedOperation }) {
  const { name, allow, steps, problems, returns } = operation;
  return (
    <section class="pane">
      <h2 class="mono">{name}</h2>
      {problems.map((problem) => (
        <p class="problem" key={problem}>
          {problem}
        </p>
      ))}
      <dl class="facts">
        <dt>{texts.operations.allow}</dt>
        <dd>{allow === null ? <Badge kind="warn">{texts.operations.denied}</Badge> : <code>{allow}</code>}</dd>
        <dt>{texts.operations.returns}</dt>
        <dd>{returns}</dd>
      </dl>
      <OperationForm operation={operation} />
      <h3>{texts.operations.steps}</h3>
      <ol class="steps">
        {steps.map((sql, i) => (
          <li key={i}>
            <pre class="code">{sql}</pre>
          </li>
        ))}
      </ol>
    </section>
  );
}
