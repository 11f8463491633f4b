import { hrefOf } from "../route.js";

const idLengthMax = 8;

/** Shows a caller such as `user:52be74df…` with a shortened id; the tooltip has the whole. A user is a link. */
export function PrincipalName({ value, none }: { readonly value: string | null | undefined; readonly none: string }) {
  if (value === null || value === undefined) return <span class="muted">{none}</span>;
  const [kind = "", id = ""] = value.split(/:(.*)/s);
  const short = id.length > idLengthMax + 2 ? `${id.slice(0, idLengthMax)}…` : id;
  const shown = (
    <>
      {kind} {id !== "" && <bdi class="mono">{short}</bdi>}
    </>
  );
  return kind === "user" && id !== "" ? (
    <a class="principal" href={hrefOf("users", [id])} title={value}>
      {shown}
    </a>
  ) : (
    <span class="principal" title={value}>
      {shown}
    </span>
  );
}
