import { Select } from '@cloudscape-design/components';
import { page, type Schemas } from 'computation-management-client';
import { userText } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { type Loaded, problemText, useLoaded } from '../loading/index.ts';
import { sizeText } from '../show/index.ts';
import { contains, type ReadAssets, readOn } from './read-on.ts';

type Row = Schemas['AssetRow'];

interface Props {
  chosen: { id: string; file_name: string } | undefined;
  isOffered: (asset: Row) => boolean;
  onChoose: (asset: Row) => void;
}

const pageSize = 100;

/** Shows a field that chooses one asset of the domain. Reads more of the list as the user scrolls or types. */
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
        description: `${asset_type}, ${sizeText(size)}, of ${userText(created_by)}`,
      }))}
      onChange={({ detail }) => {
        const asset = wanted.find(({ id }) => id === detail.selectedOption.value);
        if (asset) onChoose(asset);
      }}
    />
  );
}
