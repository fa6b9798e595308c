import { Button } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { permissions, useDomain } from '../access/index.ts';
import { ChoiceFilter, type Column, Nothing, PagedTable, usePage } from '../lists/index.ts';
import { refreshSeconds } from '../loading/index.ts';
import { addressOf, useAddress } from '../routing/index.ts';
import { GoTo } from '../frame/index.ts';
import { Ago, AssetState, sizeText, User } from '../show/index.ts';
import { assetTypeOptions, assetTypeText } from './asset-texts.ts';

type Row = Schemas['AssetRow'];

/** Shows the assets of the domain: algorithms and datasets. */
export function AssetsScreen() {
  const { domain, me } = useDomain();
  const { query } = useAddress();
  const asset_type = assetTypeOptions.find(({ value }) => value === query.get('type'))?.value;
  const page = usePage('listAssets', { asset_type }, { everySeconds: refreshSeconds.assets });
  const columns: Column<Row>[] = [
    { header: 'File', isRowHeader: true, cell: ({ id, file_name }) => <GoTo place={{ screen: 'asset', id }}>{file_name}</GoTo> },
    { header: 'Type', cell: (asset) => assetTypeText(asset.asset_type) },
    { header: 'Content', isPrimary: true, minWidth: 150, cell: ({ state }) => <AssetState state={state} /> },
    { header: 'Size', cell: ({ size }) => sizeText(size) },
    { header: 'Creator', cell: ({ created_by }) => <User of={created_by} /> },
    { header: 'Updated', cell: ({ updated_at }) => <Ago at={updated_at} /> },
  ];
  const upload = permissions.createAnyAsset(me) && (
    <Button variant="primary" href={addressOf({ screen: 'new-asset', domain })}>
      Upload asset
    </Button>
  );
  return (
    <PagedTable
      title="Assets"
      page={page}
      columns={columns}
      rowKey={({ id }) => id}
      filterNames={['type']}
      actions={upload}
      filters={<ChoiceFilter label="Type" all="Any type" page={page} name="type" options={assetTypeOptions} />}
      empty={<Nothing text="The domain has no assets yet." action={upload} />}
    />
  );
}
