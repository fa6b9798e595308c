export { type Column, FactTable, useNarrow } from './columns.tsx';
export { FilterBox } from './filter-box.tsx';
export { ChoiceFilter, Nothing, PagedTable, usePage } from './paged-table.tsx';
export { RowFact } from './row-fact.tsx';
