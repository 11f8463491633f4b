import { visiblePieces } from "./visible-text.js";

/**
 * A text of somebody else's, isolated from what stands around it: its direction reaches nowhere, and characters that cannot
 * be seen are shown as marks.
 */
export function Text({ value }: { readonly value: string }) {
  return (
    <bdi>
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
