import { useState } from "preact/hooks";
import { TextField } from "../parts/field.js";
import { Form } from "../parts/form.js";
import { setUp } from "../server/session.js";
import { texts } from "../texts.js";
import { Door } from "./door.js";
import { go, hrefOf } from "./route.js";

/**
 * The form with which the first administrator sets a password. It is shown to somebody who has opened the setup link,
 * with its token, that the server has printed.
 */
export function Setup({ token }: { readonly token: string }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    if (email === "" || password === "") throw new Error(texts.setup.bothNeeded);
    await setUp(token, email, password);
    // The token is used up now. The address with it is replaced, so that it does not stay in the browser's history.
    go(hrefOf("data"), true);
  };
  return (
    <Door title={texts.setup.title}>
      <p class="prose">{texts.setup.why}</p>
      <Form action={texts.setup.action} isDisabled={email === "" || password === ""} onSubmit={submit}>
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
          autoComplete="new-password"
          hint={texts.setup.passwordHint}
          value={password}
          onInput={setPassword}
        />
      </Form>
      <p class="hint">
        <a href={hrefOf("data")}>{texts.setup.signInInstead}</a>
      </p>
    </Door>
  );
}
