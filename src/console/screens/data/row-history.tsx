import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { PrincipalName } from "../../callers/principal-name.js";
import { CellValue } from "../../grid/cell.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { notify } from "../../parts/notify.js";
import { Time } from "../../parts/time.js";
import { useLoaded } from "../../parts/use-loaded.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { loadVersions, restoreVersion, type Version } from "./save-change.js";

interface RowHistoryProps {
  readonly table: SchemaTable;
  readonly rowKey: TableRow;
  readonly isChangeable: boolean;
  readonly onRestored: () => void;
}

const shownMax = 50;

/** The versions of a row, the newest first, each older one with a button that restores it. */
export function RowHistory({ table, rowKey, isChangeable, onRestored }: RowHistoryProps) {
  const versions = useLoaded((signal) => loadVersions(table, rowKey, shownMax, signal), [table.name, rowKey]);
  const back = async ({ seq }: Version) => {
    await restoreVersion(table, rowKey, seq);
    notify(texts.data.restored);
    onRestored();
  };
  return (
    <LoadedView of={versions}>
      {(found) =>
        found.length === 0 ? (
          <Empty icon="undo" title={texts.data.noHistory} />
        ) : (
          <ol class="versions">
            {found.map((version, i) => (
              <li key={version.seq}>
                <div class="version-head">
                  <Badge kind={version.op === "delete" ? "bad" : version.op === "insert" ? "good" : "plain"}>
                    {texts.data.operations[version.op]}
                  </Badge>
                  <Time at={version.at} />
                  <span class="muted small">
                    <PrincipalName value={callerName(version)} none={texts.data.byNobody} />
                  </span>
                  {isChangeable && i > 0 && version.row !== null && (
                    <Button isSmall icon="undo" onPress={() => back(version)}>
                      {texts.data.restore}
                    </Button>
                  )}
                </div>
                {version.row !== null && (
                  <dl class="facts">
                    {table.columns
                      .filter(({ name }) => version.op !== "update" || (version.changed ?? []).includes(name))
                      .map((column) => (
                        <div class="fact" key={column.name}>
                          <dt>{column.name}</dt>
                          <dd>
                            <CellValue column={column} value={version.row![column.name]} />
                          </dd>
                        </div>
                      ))}
                  </dl>
                )}
              </li>
            ))}
          </ol>
        )
      }
    </LoadedView>
  );
}

function callerName({ by }: Version): string | null {
  return by === null ? null : [by.kind, by.id].filter(Boolean).join(":");
}
