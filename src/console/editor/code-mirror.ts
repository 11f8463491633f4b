import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** A message about the text in an editor. `line` counts from 1; null if the message is about the whole text. */
export interface EditorMark {
  readonly line: number | null;
  readonly message: string;
}

/** A CodeMirror editor that runs in a shadow root. */
export interface CodeEditor {
  /** Replaces the whole text, without a call of `onChange`; does nothing if it is the same. */
  setText(text: string): void;
  setMarks(marks: readonly EditorMark[]): void;
  focus(): void;
  end(): void;
}

interface EditorOptions {
  /**
   * In a shadow root CodeMirror sets its styles by adopted style sheets, which the page's Content-Security-Policy
   * allows. Outside of one it would insert `<style>` elements, which the policy forbids.
   */
  readonly root: ShadowRoot;
  readonly label: string;
  readonly language: "yaml" | "json";
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.8125rem" },
  // The element around the editor shows when it has the focus.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.6rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 0.8rem" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    maxWidth: "36rem",
  },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", fontFamily: "var(--sans)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-name)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket, tags.meta], color: "var(--muted)" },
]);

/**
 * When typing replaces a selection, browsers keep the look of the replaced text by an inline style. The page's
 * Content-Security-Policy blocks that, and the browser reports it. So the editor replaces the selection itself.
 */
const typedOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const isPlain = event.inputType === "insertText" && event.data !== null && !view.composing;
    if (!isPlain || view.state.selection.main.empty || view.state.readOnly) return false;
    view.dispatch(view.state.replaceSelection(event.data!), {
      userEvent: "input.type",
      scrollIntoView: true,
    });
    event.preventDefault();
    return true;
  },
});

/** Opens an editor in a shadow root, in place of an earlier one. */
export function createEditor(options: EditorOptions): CodeEditor {
  const { root, label, language, text, isReadOnly, onChange } = options;
  const state = EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of("  "),
      EditorState.tabSize.of(2),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      syntaxHighlighting(colours),
      lintGutter(),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      language === "yaml" ? yaml() : json(),
      theme,
      typedOverSelection,
      EditorState.readOnly.of(isReadOnly),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !isSetting) onChange(update.state.doc.toString());
      }),
    ],
  });
  let isSetting = false;
  root.replaceChildren();
  const view = new EditorView({ state, root, parent: root });
  return {
    setText: (next) => {
      if (view.state.doc.toString() === next) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      isSetting = false;
    },
    setMarks: (marks) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, marks))),
    focus: () => view.focus(),
    end: () => view.destroy(),
  };
}

function diagnosticsOf({ doc }: EditorState, marks: readonly EditorMark[]): Diagnostic[] {
  return marks.map(({ line, message }) => {
    const at = doc.line(Math.max(1, Math.min(line ?? 1, doc.lines)));
    const indent = /^\s*/.exec(at.text)![0].length;
    return { from: at.from + Math.min(indent, at.length), to: at.to, severity: "error", message };
  });
}
