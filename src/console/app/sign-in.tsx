import { useState } from "preact/hooks";
import { TextField } from "../parts/field.js";
import { Form } from "../parts/form.js";
import { signIn } from "../server/session.js";
import { texts } from "../texts.js";
import { Door } from "./door.js";

/**
 * The form with which an administrator signs in. The address still names the screen that they wanted, so it opens
 * afterwards.
 */
export function SignIn() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    if (email === "" || password === "") throw new Error(texts.setup.bothNeeded);
    await signIn(email, password);
  };
  return (
    <Door title={texts.signIn.title}>
      <Form action={texts.signIn.action} onSubmit={submit}>
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
          autoComplete="current-password"
          value={password}
          onInput={setPassword}
        />
      </Form>
      <details class="door-help">
        <summary>{texts.signIn.noPassword}</summary>
        <p>{texts.signIn.noPasswordHelp}</p>
        <pre class="code">{texts.signIn.createCommand}</pre>
      </details>
    </Door>
  );
}
