import { useState } from "preact/hooks";
import { TextField } from "../parts/field.js";
import { Form } from "../parts/form.js";
import { texts } from "../texts.js";

interface CredentialsFormProps {
  readonly action: string;
  /** A hint for a new password; null if the password exists already. */
  readonly newPasswordHint: string | null;
  readonly onSubmit: (email: string, password: string) => Promise<void>;
}

/** A form for an email and a password. */
export function CredentialsForm({ action, newPasswordHint, onSubmit }: CredentialsFormProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    if (email === "" || password === "") throw new Error(texts.signIn.bothNeeded);
    await onSubmit(email, password);
  };
  return (
    <Form action={action} onSubmit={submit}>
      <TextField
        label={texts.signIn.email}
        type="email"
        autoComplete="username"
        isFocused
        value={email}
        onInput={setEmail}
      />
      <TextField
        label={texts.signIn.password}
        type="password"
        autoComplete={newPasswordHint === null ? "current-password" : "new-password"}
        hint={newPasswordHint}
        value={password}
        onInput={setPassword}
      />
    </Form>
  );
}
