import { visiblePieces } from "./visible-text.js";

interface TextProps {
  readonly value: string;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
}

/**
 * Shows a text that somebody else has written. It cannot change what stands around it: its writing direction is
 * isolated (`<bdi>`), and marks show characters that cannot be seen.
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
