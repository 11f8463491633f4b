import { visiblePieces } from "./visible-text.js";

interface TextProps {
  readonly value: string;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
}

/**
 * A text of somebody else's, isolated from what stands around it: its direction reaches nowhere, and characters that cannot
 * be seen are shown as marks.
 */
export function Text({ value, class: own, title }: TextProps) {
  return (
    <bdi class={own} title={title}>
      {visiblePieces(value).map(({ text, isMark }, i) =>
        isMark ? (
          <span key={i} class="mark">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  );
}
