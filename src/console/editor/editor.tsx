import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure, Loading } from "../parts/loaded-view.js";
import { texts } from "../texts.js";
import type { CodeEditor, EditorMark } from "./code-mirror.js";

interface EditorProps {
  readonly label: string;
  readonly language: "yaml" | "json";
  /** The text with which the editor opens. A later change of it replaces the text in the editor. */
  readonly text: string;
  readonly marks?: readonly EditorMark[];
  readonly isReadOnly?: boolean;
  /** Whether the editor gets the focus when it opens. */
  readonly isFocused?: boolean;
  readonly class?: string;
  readonly onChange: (text: string) => void;
}

/** A text editor. Its code is loaded when the first one opens. Tab leaves it; what is around it handles Escape. */
export function Editor({
  label,
  language,
  text,
  marks = [],
  isReadOnly = false,
  isFocused = false,
  onChange,
  ...others
}: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | null>(null);
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    let isGone = false;
    import("./code-mirror.js").then(
      ({ createEditor }) => {
        if (isGone || host.current === null) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        editor.current = createEditor({
          root,
          label,
          language,
          text,
          isReadOnly,
          onChange: (now) => changed.current(now),
        });
        setState("ready");
        if (isFocused) editor.current.focus();
      },
      () => setState("failed"),
    );
    return () => {
      isGone = true;
      editor.current?.end();
      editor.current = null;
    };
  }, [language, isReadOnly]);
  // A layout effect runs at once. An ordinary one runs a frame later, and would replace what was typed in between.
  useLayoutEffect(() => editor.current?.setText(text), [text, state]);
  useEffect(() => editor.current?.setMarks(marks), [JSON.stringify(marks), state]);
  return (
    <div class={`editor ${others.class ?? ""}`}>
      {state === "loading" && <Loading />}
      {state === "failed" && <Failure error={new Error(texts.app.codeMissing)} onRetry={() => location.reload()} />}
      <div ref={host} class="editor-host" />
    </div>
  );
}
