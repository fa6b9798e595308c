import { Box, type TableProps } from '@cloudscape-design/components';
import { type ReactNode, useSyncExternalStore } from 'react';

export interface Column<Row> {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** In a narrow window, it is not a column, but a line below the row header. */
  isSecondary?: boolean;
  isRowHeader?: boolean;
  minWidth?: number;
}

/** Returns the columns of a table as far as the window has room for them. The other facts are lines of the row header. */
export function definitionsOf<Row>(columns: readonly Column<Row>[], isNarrow: boolean): TableProps.ColumnDefinition<Row>[] {
  const below = isNarrow ? columns.filter(({ isSecondary }) => isSecondary === true) : [];
  return columns
    .filter((column) => !below.includes(column))
    .map(({ id, header, cell, isRowHeader = false, minWidth }) => ({
      id,
      header,
      isRowHeader,
      ...(minWidth === undefined ? {} : { minWidth }),
      cell: isRowHeader && below.length > 0 ? (row) => <WithLines row={row} cell={cell} lines={below} /> : cell,
    }));
}

/** A row header with the facts that a narrow window has no columns for. */
function WithLines<Row>({ row, cell, lines }: { row: Row; cell: Column<Row>['cell']; lines: Column<Row>[] }) {
  return (
    <>
      {cell(row)}
      {lines
        .map(({ id, header, cell: factOf }) => ({ id, header, fact: factOf(row) }))
        .filter(({ fact }) => fact !== '-')
        .map(({ id, header, fact }) => (
          <Box key={id} variant="small" display="block">
            {header}: {fact}
          </Box>
        ))}
    </>
  );
}

const narrow = window.matchMedia('(max-width: 688px)');

/** Whether the window is too narrow for tables of many columns. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(onChange: () => void): () => void {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
}
