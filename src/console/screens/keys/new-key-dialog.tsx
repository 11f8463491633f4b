import { useState } from "preact/hooks";
import type { MadeApiKey } from "../../../wire/keys.js";
import type { ListedOperation } from "../../../wire/named-operations.js";
import { Button } from "../../parts/button.js";
import { Copyable } from "../../parts/copy.js";
import { Dialog } from "../../parts/dialog.js";
import { Checkbox, TextField } from "../../parts/field.js";
import { Form } from "../../parts/form.js";
import { LoadedView } from "../../parts/loaded-view.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { requestData } from "../../server/request-data.js";
import { knownSchema } from "../../server/schema.js";
import { texts } from "../../texts.js";

interface NewKeyDialogProps {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

/** Creates an API key with the picked scopes, and shows its secret, which the server shows only this once. */
export function NewKeyDialog({ onClose, onMade }: NewKeyDialogProps) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const [expires, setExpires] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const make = async () => {
    const expiresAt = expires === "" ? {} : { expires_at: new Date(expires).toISOString() };
    const made = await requestData<MadeApiKey>("POST", "/service-keys", {
      name,
      scopes: [...scopes],
      ...expiresAt,
    });
    setSecret(made.key);
    onMade();
  };
  if (secret !== null)
    return (
      // With a key of its own it is another dialog than the form, so that the browser moves the focus into it.
      <Dialog key="made" title={texts.keys.made} onClose={onClose}>
        <p class="prose">{texts.keys.once}</p>
        <Copyable text={secret} isSecret />
        <pre class="code">{texts.keys.example(location.origin, secret)}</pre>
        <div class="form-actions">
          <Button kind="main" onPress={onClose}>
            {texts.keys.kept}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={texts.keys.make} kind="wide" onClose={onClose}>
      <Form action={texts.keys.create} isDisabled={name === "" || scopes.size === 0} onCancel={onClose} onSubmit={make}>
        <TextField label={texts.keys.name} hint={texts.keys.nameHint} isFocused value={name} onInput={setName} />
        <Scopes value={scopes} onChange={setScopes} />
        <TextField
          label={texts.keys.expires}
          type="datetime-local"
          hint={texts.keys.expiresHint}
          value={expires}
          onInput={setExpires}
        />
      </Form>
    </Dialog>
  );
}

interface ScopesProps {
  readonly value: ReadonlySet<string>;
  readonly onChange: (scopes: ReadonlySet<string>) => void;
}

const everything = "project:backend";

/** Everything, or some tables, each to read or to write, and some operations. */
function Scopes({ value, onChange }: ScopesProps) {
  const found = useLoaded(async (signal) => {
    const [schema, operations] = await Promise.all([
      knownSchema(signal),
      requestData<readonly ListedOperation[]>("GET", "/operations", undefined, { signal }),
    ]);
    return { tables: schema.tables.map(({ name }) => name), operations: operations.map(({ name }) => name) };
  }, []);
  const set = (scope: string, isChosen: boolean) => {
    const next = new Set(value);
    if (isChosen) next.add(scope);
    else next.delete(scope);
    onChange(next);
  };
  const box = (scope: string, label: string) => (
    <Checkbox
      label={label}
      isChecked={value.has(scope)}
      isDisabled={value.has(everything) && scope !== everything}
      onChange={(isChosen) => set(scope, isChosen)}
    />
  );
  return (
    <fieldset class="scopes">
      <legend>{texts.keys.scopes}</legend>
      {box(everything, texts.keys.everything)}
      <LoadedView of={found}>
        {({ tables, operations }) => (
          <table class="scope-table">
            <thead>
              <tr>
                <th scope="col">{texts.keys.table}</th>
                <th scope="col">{texts.keys.read}</th>
                <th scope="col">{texts.keys.write}</th>
              </tr>
            </thead>
            <tbody>
              {tables.map((table) => (
                <tr key={table}>
                  <th scope="row">{table}</th>
                  <td>{box(`resource:${table}:read`, texts.keys.reads(table))}</td>
                  <td>{box(`resource:${table}:write`, texts.keys.writes(table))}</td>
                </tr>
              ))}
              {operations.map((name) => (
                <tr key={`operation ${name}`}>
                  <th scope="row">{name}</th>
                  <td colSpan={2}>{box(`operation:${name}`, texts.keys.runs(name))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </LoadedView>
    </fieldset>
  );
}
