import Select from '@cloudscape-design/components/select';
import { useState } from 'react';
import { type Client, page, type Schemas } from '../../client/index.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { problemText } from '../loading/problem-text.ts';
import { useDomain } from '../shell/console-context.ts';
import { sizeText } from '../show/size-text.ts';

type Row = Schemas['AssetRow'];

interface Props {
  chosen: { id: string; file_name: string } | undefined;
  isOffered: (asset: Row) => boolean;
  onChoose: (asset: Row) => void;
}

const pageSize = 100;

/** Chooses one asset of the domain. Loads further assets as the user scrolls. */
export function AssetSelect({ chosen, isOffered, onChoose }: Props) {
  const { client, domain } = useDomain();
  const [wanted, setWanted] = useState(pageSize);
  const loaded = useLoaded(domain, (signal) => loadAssets(client, wanted, signal));
  const { assets = [], total = 0 } = loaded.value ?? {};
  const offered = assets.filter(isOffered);
  const isMore = assets.length < total;
  const loadMore = () => {
    if (loaded.isLoading || !isMore || wanted > assets.length) return;
    setWanted(wanted + pageSize);
    loaded.reload();
  };
  const status = loaded.problem !== undefined ? 'error' : loaded.isLoading ? 'loading' : isMore ? 'pending' : 'finished';
  return (
    <Select
      selectedOption={chosen ? { value: chosen.id, label: chosen.file_name } : null}
      placeholder="Choose an asset"
      filteringType="auto"
      statusType={status}
      loadingText="Loading assets"
      errorText={loaded.problem === undefined ? '' : problemText(loaded.problem).detail}
      recoveryText="Retry"
      empty="There is no asset that you may link."
      onLoadItems={({ detail: { samePage, firstPage } }) => {
        if (samePage) loaded.reload();
        else if (!firstPage) loadMore();
      }}
      options={offered.map(({ id, file_name, asset_type, size, created_by }) => ({
        value: id,
        label: file_name,
        description: `${asset_type}, ${sizeText(size)}, of ${created_by}`,
      }))}
      onChange={({ detail }) => {
        const asset = offered.find(({ id }) => id === detail.selectedOption.value);
        if (asset) onChoose(asset);
      }}
    />
  );
}

async function loadAssets(client: Client, count: number, signal: AbortSignal) {
  const offsets = Array.from({ length: count / pageSize }, (_, index) => index * pageSize);
  const pages = await Promise.all(offsets.map((offset) => page(client, 'listAssets', { offset, limit: pageSize, signal })));
  return { assets: pages.flatMap(({ items }) => items), total: pages[0]?.total ?? 0 };
}
