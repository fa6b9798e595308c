import { Box, Button, ButtonDropdown, Header, Pagination, Select, SpaceBetween, Table } from '@cloudscape-design/components';
import { csvText } from 'computation-management-words';
import { type ReactNode, useMemo } from 'react';
import { useDomain, useFrame } from '../access/index.ts';
import { ScreenFrame } from '../frame/index.ts';
import { type Loaded, ProblemAlert, useAction, useLoaded } from '../loading/index.ts';
import { changedQuery, navigate, pageCount, pageOf, type PageQuery, pageSizes, useAddress } from '../routing/index.ts';
import { saveFile } from '../show/index.ts';
import { type Column, definitionsOf, useNarrow } from './columns.tsx';
import {
  type Arguments,
  type Item,
  items,
  type ListOperation,
  type OptionalIfEmpty,
  type Page,
  page as loadPage,
} from 'computation-management-client';

interface Props<Row> {
  title: string;
  description?: ReactNode;
  page: LoadedPage<Row>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** The content in place of the table if the list has no rows at all. */
  empty: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  /** The names of the parameters in the address that are filters of the list. */
  filterNames?: readonly string[];
  variant?: 'full-page' | 'container';
  /** Returns the fields of a row that are saved when the user saves the list as a file. Default: the row as the API gives it. */
  saved?: (row: Row) => object;
}

/** Shows one page of a list, with the exact number of all rows: on a screen of its own, or in a container of another screen. */
export function PagedTable<Row>(props: Props<Row>) {
  const { title, page, columns, rowKey, filters, filterNames = [], variant = 'full-page' } = props;
  const isNarrow = useNarrow();
  const { loaded, limit, change, query } = page;
  const { value, problem, isLoading, reload } = loaded;
  const pages = pageCount(value?.total ?? 0, limit);
  const isFiltered = filterNames.some((name) => query.has(name));
  const clear = () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])));

  const table = (
    <SpaceBetween size="m">
      <ProblemAlert problem={problem} retry={reload} isRetrying={isLoading} />
      <Table
        key={isNarrow ? 'narrow' : 'wide'} // a table keeps the kind of header that it began with
        variant={variant}
        stickyHeader={variant === 'full-page' && !isNarrow}
        enableKeyboardNavigation
        wrapLines
        loading={value === undefined && problem === undefined}
        loadingText="Loading"
        items={value?.items ?? []}
        trackBy={rowKey}
        columnDefinitions={definitionsOf(columns, isNarrow)}
        ariaLabels={{ tableLabel: title }}
        totalItemsCount={value?.total ?? 0}
        firstIndex={page.offset + 1}
        renderAriaLive={({ firstIndex, lastIndex, totalItemsCount }) =>
          `Showing ${firstIndex} to ${lastIndex} of ${totalItemsCount ?? 0}`
        }
        header={
          <Header
            variant={variant === 'full-page' ? 'awsui-h1-sticky' : 'h2'}
            description={props.description}
            counter={value && `(${value.total.toLocaleString('en')})`}
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button iconName="refresh" ariaLabel={`Refresh ${title.toLowerCase()}`} loading={isLoading} onClick={reload} />
                <ExportRows {...props} />
                {props.actions}
              </SpaceBetween>
            }
          >
            {title}
          </Header>
        }
        filter={filters && <div className="filters">{filters}</div>}
        pagination={
          <Pagination
            currentPageIndex={Math.min(page.page, pages)}
            pagesCount={pages}
            disabled={value === undefined}
            onChange={({ detail }) => change({ page: detail.currentPageIndex })}
          />
        }
        preferences={
          <Select
            selectedOption={{ value: String(limit), label: `${limit} per page` }}
            options={pageSizes.map((size) => ({ value: String(size), label: `${size} per page` }))}
            onChange={({ detail }) => change({ limit: detail.selectedOption.value })}
            ariaLabel="Rows per page"
          />
        }
        empty={
          problem !== undefined ? (
            <Box textAlign="center">Nothing could be loaded.</Box>
          ) : value !== undefined && value.total > 0 ? (
            <Nothing
              text="This page no longer exists."
              action={<Button onClick={() => change({ page: 1 })}>Go to the first page</Button>}
            />
          ) : isFiltered ? (
            <Nothing text="Nothing matches the filters." action={<Button onClick={clear}>Clear the filters</Button>} />
          ) : (
            <Box textAlign="center">{props.empty}</Box>
          )
        }
      />
    </SpaceBetween>
  );
  if (variant === 'container') return table;
  return <ScreenFrame {...{ title, above: [], hasHeader: false }}>{table}</ScreenFrame>;
}

/** Shows in place of rows that a list has none, and a button for what the user can do about it. */
export function Nothing({ text, action }: { text: string; action: ReactNode }) {
  return (
    <SpaceBetween size="s" alignItems="center">
      <span>{text}</span>
      {action}
    </SpaceBetween>
  );
}

/** The most rows of a list that are saved as a file. Reading more would keep the page and the service busy for minutes. */
const mostRows = 10_000;

/** Shows a button that saves all rows of a list as CSV or JSON, whatever page is shown. */
function ExportRows<Row>({ title, page, saved = (row) => row as object }: Pick<Props<Row>, 'title' | 'page' | 'saved'>) {
  const { notify } = useFrame();
  const save = useAction(async (form: string) => {
    const rows: object[] = [];
    let isCut = false;
    for await (const row of page.all()) {
      if ((isCut = rows.length === mostRows)) break;
      rows.push(saved(row));
    }
    const name = title.toLowerCase();
    if (form === 'csv') saveFile(`${name}.csv`, `\ufeff${csvText(rows)}`, 'text/csv');
    else saveFile(`${name}.json`, `${JSON.stringify({ items: rows }, null, 2)}\n`);
    notify(isCut ? `Only the first ${mostRows} rows are saved. Filter the list for others.` : `${rows.length} rows are saved.`);
  });
  return (
    <>
      <ProblemAlert problem={save.problem} />
      <ButtonDropdown
        ariaLabel={`Save as a file: ${title.toLowerCase()}`}
        loading={save.isRunning}
        items={[
          { id: 'csv', text: 'CSV, for spreadsheets' },
          { id: 'json', text: 'JSON' },
        ]}
        onItemClick={({ detail: { id } }) => void save.run(id)}
      >
        Save as
      </ButtonDropdown>
    </>
  );
}

export interface LoadedPage<Row> extends PageQuery {
  /** The query of the address, which has the filters of the list. */
  query: URLSearchParams;
  loaded: Loaded<Page<Row>>;
  /** Reads all rows of the list that the filters match, whatever page is shown. */
  all: () => AsyncIterable<Row>;
  change: (changes: Record<string, string | number | undefined>) => void;
}

/** Loads the page of a list that the address names. @param filters the names of the operation's parameters that are filters */
export function usePage<O extends ListOperation>(
  operation: O,
  filters: Partial<Arguments<O>>,
  options: { everySeconds?: number | undefined } = {},
): LoadedPage<Item<O>> {
  const { client, domain } = useDomain();
  const { pathname, query } = useAddress();
  const place = useMemo(() => pageOf(query), [query]);
  const { limit, offset } = place;
  const loaded = useLoaded(
    JSON.stringify([domain, operation, limit, offset, filters]),
    (signal) =>
      loadPage(client, operation, ...([{ ...filters, limit, offset, signal }] as unknown as OptionalIfEmpty<Arguments<O>>)),
    options,
  );
  const change: LoadedPage<Item<O>>['change'] = (changes) => navigate(`${pathname}${changedQuery(query, changes)}`);
  const all = () => items(client, operation, ...([filters] as unknown as OptionalIfEmpty<Arguments<O>>));
  return { ...place, query, loaded, change, all };
}

interface ChoiceProps {
  label: string;
  /** The text of the filter's option that filters nothing. */
  all: string;
  /** The page of the list, whose address has the value of the filter. A value that is not among the options filters nothing. */
  page: Pick<LoadedPage<never>, 'query' | 'change'>;
  /** The name of the filter's parameter in the address. */
  name: string;
  options: readonly { value: string; label: string }[];
}

const mostUnfiltered = 10;

/** Shows a filter of a list that offers the values to choose from. */
export function ChoiceFilter({ label, all, page, name, options }: ChoiceProps) {
  const choices = [{ value: '', label: all }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        filteringType={choices.length > mostUnfiltered ? 'auto' : 'none'}
        filteringAriaLabel={`Find: ${label}`}
        selectedOption={choices.find((choice) => choice.value === page.query.get(name)) ?? { value: '', label: all }}
        options={choices}
        onChange={({ detail }) => page.change({ [name]: detail.selectedOption.value || undefined })}
      />
    </div>
  );
}
