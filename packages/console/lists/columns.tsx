import { Box, Header, type HeaderProps, Table, type TableProps } from '@cloudscape-design/components';
import { type ReactNode, useSyncExternalStore } from 'react';

/** A column of a table on a screen. */
export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  isRowHeader?: boolean;
  /** True if a narrow window shows the value in a column too, instead of as a line below the row header. */
  isPrimary?: boolean;
  minWidth?: number;
}

/** Returns the definitions of the columns that a table has room for. In a narrow window, the others become lines below the row header. */
export function definitionsOf<Row>(columns: readonly Column<Row>[], isNarrow: boolean): TableProps.ColumnDefinition<Row>[] {
  const below = isNarrow ? columns.filter(({ isRowHeader, isPrimary }) => isRowHeader !== true && isPrimary !== true) : [];
  return columns
    .filter((column) => !below.includes(column))
    .map(({ header, cell, isRowHeader = false, minWidth }) => ({
      id: header,
      header,
      isRowHeader,
      ...(minWidth === undefined ? {} : { minWidth }),
      cell: isRowHeader && below.length > 0 ? (row) => <WithLines row={row} cell={cell} lines={below} /> : cell,
    }));
}

/** Shows the row header of a table with lines for the columns for which a narrow window has no room. */
function WithLines<Row>({ row, cell, lines }: { row: Row; cell: Column<Row>['cell']; lines: Column<Row>[] }) {
  return (
    <>
      {cell(row)}
      {lines
        .map(({ header, cell: factOf }) => ({ header, fact: factOf(row) }))
        .filter(({ fact }) => fact !== '-')
        .map(({ header, fact }) => (
          <Box key={header} variant="small" display="block">
            {header}: {fact}
          </Box>
        ))}
    </>
  );
}

interface FactTableProps<Row> extends Pick<HeaderProps, 'counter' | 'description' | 'actions'> {
  title: string;
  columns: readonly Column<Row>[];
  items: readonly Row[];
  /** Returns a text that identifies a row of the table. */
  rowKey: (row: Row) => string;
  /** True for a table within a panel, whose title is above that of the table. */
  isEmbedded?: boolean;
  /** The content below the rows of the table. */
  footer?: ReactNode;
  /** The content in place of rows, if the table has none. */
  empty?: ReactNode;
}

/** Shows a table without pages. */
export function FactTable<Row>({ title, columns, items, rowKey, isEmbedded = false, ...props }: FactTableProps<Row>) {
  const isNarrow = useNarrow();
  const { counter, description, actions, footer, empty } = props;
  return (
    <Table
      variant={isEmbedded ? 'embedded' : 'container'}
      header={
        <Header
          variant={isEmbedded ? 'h3' : 'h2'}
          {...(counter !== undefined && { counter })}
          description={description}
          actions={actions}
        >
          {title}
        </Header>
      }
      ariaLabels={{ tableLabel: title }}
      items={items}
      trackBy={rowKey}
      wrapLines
      columnDefinitions={definitionsOf(columns, isNarrow)}
      footer={footer}
      empty={typeof empty === 'string' ? <Box textAlign="center">{empty}</Box> : empty}
    />
  );
}

const narrow = window.matchMedia('(max-width: 688px)');

/** Returns whether the window is too narrow for tables of many columns. The component is rendered again when the answer changes. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(onChange: () => void): () => void {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
}
