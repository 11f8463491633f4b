import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { Tabs } from "../../parts/tabs.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { go, hrefOf, route } from "../../route.js";
import { loadSchema } from "../../server/schema.js";
import { texts } from "../../texts.js";
import { Picture } from "./picture.js";
import { SchemaEditor } from "./schema-editor.js";
import { TableShapes } from "./table-shapes.js";

type Tab = "tables" | "drawing" | "edit";

/** The schema in force: as a list of tables, as a drawing, or as a text that can be edited and applied. */
export default function Schema() {
  const { rest } = route.value;
  const tab: Tab = rest[0] === "drawing" || rest[0] === "edit" ? rest[0] : "tables";
  const schema = useLoaded(loadSchema, []);
  return (
    <Screen
      title={texts.nav.schema}
      isFull={tab !== "tables"}
      more={
        <Tabs
          label={texts.nav.schema}
          value={tab}
          tabs={[
            ["tables", texts.schema.tables],
            ["drawing", texts.schema.drawing],
            ["edit", texts.schema.edit],
          ]}
          onChange={(next) => go(hrefOf("schema", next === "tables" ? [] : [next]))}
        />
      }
    >
      <LoadedView of={schema}>
        {(found) => {
          if (tab === "edit") return <SchemaEditor key={found.hash} schema={found} onApplied={schema.reload} />;
          if (found.tables.length === 0)
            return (
              <Empty icon="schema" title={texts.data.noTables}>
                <a class="button main" href={hrefOf("schema", ["edit"])}>
                  {texts.data.makeTable}
                </a>
              </Empty>
            );
          return tab === "drawing" ? <Picture tables={found.tables} /> : <TableShapes schema={found} />;
        }}
      </LoadedView>
    </Screen>
  );
}
