import Link from '@cloudscape-design/components/link';
import { PagedTable } from '../lists/paged-table.tsx';
import { usePage } from '../lists/use-page.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../shell/console-context.ts';
import { Status } from '../show/status.tsx';

/** The computations that an asset is linked to. */
export function LinkedComputations({ id }: { id: string }) {
  const { domain } = useDomain();
  const { query } = useAddress();
  const page = usePage('listLinkedComputations', { id });
  return (
    <PagedTable
      title="Computations that use it"
      variant="container"
      page={page}
      rowKey={(computation) => computation.id}
      query={query}
      columns={[
        {
          id: 'name',
          header: 'Name',
          isRowHeader: true,
          cell: ({ id: computation, name }) => (
            <Link href={addressOf({ screen: 'computation', domain, id: computation })}>{name}</Link>
          ),
        },
        { id: 'status', header: 'Status', minWidth: 120, cell: ({ status }) => <Status status={status} /> },
        { id: 'owner', header: 'Owner', isSecondary: true, cell: ({ owner }) => owner },
      ]}
      empty="No computation uses it."
    />
  );
}
