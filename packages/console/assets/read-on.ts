import type { Page, Schemas } from 'computation-management-client';

type Row = Schemas['AssetRow'];

/** The assets of a list that have been read so far, from the beginning of the list. */
export interface ReadAssets {
  assets: Row[];
  /** The number of rows of the list of assets that have been read. */
  offset: number;
  /** The number of rows in the whole list of assets. */
  total: number;
}

const mostPages = 5;

/**
 * Reads the list of assets on, page by page, until a page has an asset that is wanted. Stops after five pages, so that the user sees how
 * far the reading has come.
 */
export async function readOn(
  readPage: (offset: number) => Promise<Pick<Page<Row>, 'items' | 'total'>>,
  before: ReadAssets | undefined,
  isWanted: (asset: Row) => boolean,
): Promise<ReadAssets> {
  let read: ReadAssets = before ?? { assets: [], offset: 0, total: Infinity };
  for (let count = 0; count < mostPages && read.offset < read.total; count++) {
    const { items, total } = await readPage(read.offset);
    const known = new Set(read.assets.map(({ id }) => id)); // an asset that was created meanwhile moves the others on
    const fresh = items.filter(({ id }) => !known.has(id));
    const offset = read.offset + items.length;
    read = { assets: [...read.assets, ...fresh], offset, total: items.length === 0 ? offset : total };
    if (fresh.some(isWanted)) break;
  }
  return read;
}

/** Returns whether the name, type or creator of an asset contains a text, in any case. */
export function contains({ file_name, asset_type, created_by }: Row, text: string): boolean {
  return [file_name, asset_type, created_by].some((part) => part.toLowerCase().includes(text.trim().toLowerCase()));
}
