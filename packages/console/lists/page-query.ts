/** The sizes of a page that the console offers. The API allows up to 100. */
export const pageSizes = [10, 25, 50, 100] as const;
const usualPageSize = 25;

export interface PageQuery {
  /** From 1. */
  page: number;
  limit: number;
  offset: number;
}

/** Reads the page that an address names. What it does not understand becomes the first page, or the usual size. */
export function pageOf(query: URLSearchParams): PageQuery {
  const limit = pageSizes.find((size) => String(size) === query.get('limit')) ?? usualPageSize;
  const text = query.get('page') ?? '1';
  const page = /^[1-9]\d{0,11}$/.test(text) ? Number(text) : 1;
  return { page, limit, offset: (page - 1) * limit };
}

/** Returns the number of pages: at least one. */
export function pageCount(total: number, limit: number): number {
  return Math.max(1, Math.ceil(total / limit));
}

/** Returns the query with other values. Another filter or size begins at the first page. */
export function changedQuery(query: URLSearchParams, changes: Record<string, string | number | undefined>): string {
  const changed = new URLSearchParams(query);
  if (!('page' in changes)) changed.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '' || (name === 'page' && value === 1)) changed.delete(name);
    else changed.set(name, String(value));
  }
  const text = changed.toString();
  return text === '' ? '' : `?${text}`;
}
