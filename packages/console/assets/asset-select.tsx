import Select from '@cloudscape-design/components/select';
import { page, type Page, type Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { problemText } from '../loading/problem-text.ts';
import { type Loaded, useLoaded } from '../loading/use-loaded.ts';
import { sizeText } from '../show/texts.ts';

type Row = Schemas['AssetRow'];

interface Props {
  chosen: { id: string; file_name: string } | undefined;
  isOffered: (asset: Row) => boolean;
  onChoose: (asset: Row) => void;
}

const pageSize = 100;

/** Chooses one asset of the domain. Reads the list on as the user scrolls or types, until it has what is looked for. */
export function AssetSelect({ chosen, isOffered, onChoose }: Props) {
  const { client, domain } = useDomain();
  const [text, setText] = useState('');
  const [before, setBefore] = useState<ReadAssets>();
  const isWanted = (asset: Row) => isOffered(asset) && contains(asset, text);
  const loaded: Loaded<ReadAssets> = useLoaded(domain, async (signal) => {
    const readPage = (offset: number) => page(client, 'listAssets', { offset, limit: pageSize, signal });
    const read = await readOn(readPage, before, isWanted);
    setBefore(read);
    return read;
  });
  const { assets = [], offset = 0, total = 0 } = loaded.value ?? {};
  const wanted = assets.filter(isWanted);
  const isMore = offset < total;
  const status = loaded.problem !== undefined ? 'error' : loaded.isLoading ? 'loading' : isMore ? 'pending' : 'finished';
  const nothing = text === '' ? 'There is no asset that you may link.' : 'No asset that you may link matches.';
  return (
    <Select
      selectedOption={chosen ? { value: chosen.id, label: chosen.file_name } : null}
      placeholder="Choose an asset"
      filteringType="manual"
      filteringAriaLabel="Find an asset by its name, type or creator"
      statusType={status}
      loadingText={offset === 0 ? 'Loading assets' : `Loading assets: ${offset} of ${total} are read`}
      errorText={loaded.problem === undefined ? '' : problemText(loaded.problem).detail}
      recoveryText="Retry"
      empty={isMore ? '' : nothing}
      onLoadItems={({ detail: { samePage, firstPage, filteringText } }) => {
        setText(filteringText);
        // `firstPage` comes when the list is opened, when the user types, and when the end of a list without options is seen.
        const hasEnough = firstPage && filteringText === '' && assets.some(isOffered);
        if (samePage || (isMore && !loaded.isLoading && !hasEnough)) loaded.reload();
      }}
      options={wanted.map(({ id, file_name, asset_type, size, created_by }) => ({
        value: id,
        label: file_name,
        description: `${asset_type}, ${sizeText(size)}, of ${created_by}`,
      }))}
      onChange={({ detail }) => {
        const asset = wanted.find(({ id }) => id === detail.selectedOption.value);
        if (asset) onChoose(asset);
      }}
    />
  );
}

/** The beginning of the list of assets, as far as it has been read. */
interface ReadAssets {
  assets: Row[];
  /** How many rows of the list have been read. */
  offset: number;
  /** The number of rows in the whole list. */
  total: number;
}

const mostPages = 5;

/**
 * Reads the list on, page by page, until a page has an asset that is wanted. Stops after five pages, so that the user sees how far it
 * has come.
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

/** Whether an asset's name, type or creator contains the text. */
export function contains({ file_name, asset_type, created_by }: Row, text: string): boolean {
  return [file_name, asset_type, created_by].some((part) => part.toLowerCase().includes(text.trim().toLowerCase()));
}
