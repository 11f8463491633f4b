import { SvcError } from "../../../client/index.js";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { callerParameters } from "../../callers/caller-parameters.js";
import { type GridQuery, sortedColumn } from "../../grid/list-query.js";
import { type LoadedRows, listRequestOf } from "../../grid/use-rows.js";
import { Button } from "../../parts/button.js";
import { Icon } from "../../parts/icon.js";
import { Empty, Failure, Loading } from "../../parts/loaded-view.js";
import { hrefOf } from "../../route.js";
import type { As } from "../../server/as.js";
import { texts } from "../../texts.js";

interface RowsMessagesProps {
  readonly table: SchemaTable;
  readonly query: GridQuery;
  readonly as: As | null;
  readonly callerLabel: string;
  readonly loaded: LoadedRows;
  readonly onQuery: (query: GridQuery) => void;
}

/** Says why rows are missing, and what the user can do about it. */
export function RowsMessages({ table, query, as, callerLabel, loaded, onQuery }: RowsMessagesProps) {
  const { error, isBusy, reload } = loaded;
  const asked = listRequestOf(query, table);
  const refusal = as !== null && isRefusal(error) ? error : null;
  const tooLong = tooLongSort(error, query);
  const hasNone = loaded.rows.length === 0;
  return (
    <>
      {"wrong" in asked && (
        <p class="problem" role="alert">
          {texts.data.wrongValue(asked.wrong.column, asked.wrong.value)}
        </p>
      )}
      {tooLong.length > 0 && <SortTooLong columns={tooLong} query={query} onQuery={onQuery} />}
      {error !== null && refusal === null && tooLong.length === 0 && <Failure error={error} onRetry={reload} />}
      {refusal !== null && (
        <Empty icon="why" title={texts.data.refused(callerLabel)}>
          <p>{refusal.message}</p>
          <a class="button" href={hrefOf("why", [], { table: table.name, action: "read", ...callerParameters(as) })}>
            {texts.data.askWhy}
          </a>
        </Empty>
      )}
      {hasNone && isBusy && <Loading />}
      {hasNone && !isBusy && error === null && !("wrong" in asked) && (
        <NoRows query={query} as={as} onQuery={onQuery} />
      )}
    </>
  );
}

interface SortTooLongProps extends Pick<RowsMessagesProps, "query" | "onQuery"> {
  readonly columns: readonly string[];
}

function SortTooLong({ columns, query, onQuery }: SortTooLongProps) {
  const { sort } = query;
  return (
    <div class="failure-box" role="alert">
      <Icon name="warning" />
      <p>{texts.data.sortTooLong(columns)}</p>
      <Button
        isSmall
        onPress={() => onQuery({ ...query, sort: sort.filter((term) => !columns.includes(sortedColumn(term))) })}
      >
        {columns.length < sort.length ? texts.data.sortByRest : texts.data.sortByKey}
      </Button>
    </div>
  );
}

function NoRows({ query, as, onQuery }: Pick<RowsMessagesProps, "query" | "as" | "onQuery">) {
  const isFiltered = query.conditions.length > 0 || query.search !== "";
  return (
    <Empty icon="data" title={isFiltered ? texts.data.nothingMatches : texts.data.noRows}>
      {isFiltered ? (
        <Button onPress={() => onQuery({ ...query, conditions: [], search: "" })}>{texts.data.clearFilters}</Button>
      ) : (
        <p>{as === null ? texts.data.noRowsHelp : texts.data.noRowsSeen}</p>
      )}
    </Empty>
  );
}

/**
 * The columns of the order whose values are too long for the cursor of the next page, as the server's error tells; none
 * for other errors. The user is then offered another order.
 */
function tooLongSort(error: unknown, { sort }: GridQuery): readonly string[] {
  if (!(error instanceof SvcError) || error.status !== 400) return [];
  return error.columns.filter((column) => sort.map(sortedColumn).includes(column));
}

/** Whether the rules refuse the request (403), or the caller is not signed in (401). */
function isRefusal(error: unknown): error is SvcError {
  return error instanceof SvcError && (error.status === 401 || error.status === 403);
}
