import { Button, Link, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { permissions } from '../access/permissions.ts';
import type { Column } from '../lists/columns.tsx';
import { ChoiceFilter, PagedTable, usePage } from '../lists/paged-table.tsx';
import { refreshSeconds } from '../loading/use-loaded.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { sizeText } from '../show/texts.ts';
import { Ago } from '../show/time.tsx';
import { User } from '../show/visible-texts.tsx';
import { AssetState } from '../show/status.tsx';
import { assetTypeOptions, assetTypeText } from './asset-texts.ts';

type Row = Schemas['AssetRow'];

/** Shows the assets of the domain: algorithms and datasets. */
export function AssetsScreen() {
  const { domain, me } = useDomain();
  const { query } = useAddress();
  const asset_type = assetTypeOptions.find(({ value }) => value === query.get('type'))?.value;
  const page = usePage('listAssets', { asset_type }, { everySeconds: refreshSeconds.assets });
  const columns: Column<Row>[] = [
    {
      id: 'file',
      header: 'File',
      isRowHeader: true,
      cell: ({ id, file_name }) => <Link href={addressOf({ screen: 'asset', domain, id })}>{file_name}</Link>,
    },
    { id: 'type', header: 'Type', isSecondary: true, cell: (asset) => assetTypeText(asset.asset_type) },
    { id: 'state', header: 'Content', minWidth: 150, cell: ({ state }) => <AssetState state={state} /> },
    { id: 'size', header: 'Size', isSecondary: true, cell: ({ size }) => sizeText(size) },
    { id: 'creator', header: 'Creator', isSecondary: true, cell: ({ created_by }) => <User of={created_by} /> },
    { id: 'updated', header: 'Updated', isSecondary: true, cell: ({ updated_at }) => <Ago at={updated_at} /> },
  ];
  const upload = permissions.createAnyAsset(me) && (
    <Button variant="primary" href={addressOf({ screen: 'new-asset', domain })}>
      Upload asset
    </Button>
  );
  return (
    <ScreenFrame title="Assets" above={[]} hasHeader={false}>
      <PagedTable
        title="Assets"
        page={page}
        columns={columns}
        rowKey={({ id }) => id}
        filterNames={['type']}
        actions={upload}
        filters={<ChoiceFilter label="Type" all="Any type" page={page} name="type" options={assetTypeOptions} />}
        empty={
          <SpaceBetween size="s" alignItems="center">
            <span>The domain has no assets yet.</span>
            {upload}
          </SpaceBetween>
        }
      />
    </ScreenFrame>
  );
}
