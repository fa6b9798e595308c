import { Button, Link } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import type { Column } from '../lists/columns.tsx';
import { PagedTable } from '../lists/paged-table.tsx';
import { usePage } from '../lists/use-page.ts';
import { refreshSeconds } from '../loading/use-loaded.ts';
import { useGoOn } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Ago } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';
import { Fit, Presence } from './presence.tsx';
import { RegisterCvm } from './register-cvm.tsx';

type Cvm = Schemas['Cvm'];

/** Shows the list of registered CVMs, and whether each CVM is connected. */
export function CvmsScreen() {
  const { domain, me } = useDomain();
  const goOn = useGoOn();
  const [isRegistering, setRegistering] = useState(false);
  const page = usePage('listCvms', {}, { everySeconds: refreshSeconds.cvms });
  const columns: Column<Cvm>[] = [
    {
      id: 'cvm',
      header: 'CVM',
      isRowHeader: true,
      cell: ({ id }) => <Link href={addressOf({ screen: 'cvm', domain, cvm: id })}>{id}</Link>,
    },
    { id: 'state', header: 'Presence', minWidth: 150, cell: ({ presence }) => <Presence presence={presence} /> },
    { id: 'fit', header: 'Fitness', minWidth: 170, isSecondary: true, cell: ({ presence }) => <Fit presence={presence} /> },
    {
      id: 'description',
      header: 'Description',
      isSecondary: true,
      cell: ({ description }) => (description === '' ? '-' : <Name of={description} />),
    },
    {
      id: 'seen',
      header: 'Last seen',
      isSecondary: true,
      cell: ({ presence: { last_seen_at } }) => (last_seen_at === null ? 'Never' : <Ago at={last_seen_at} />),
    },
  ];
  return (
    <ScreenFrame title="CVMs" above={[]} hasHeader={false}>
      <PagedTable
        title="CVMs"
        description="Registered confidential virtual machines. Runs can also use a CVM that is not registered."
        page={page}
        columns={columns}
        rowKey={({ id }) => id}
        actions={
          permissions.registerCvm(me) && (
            <Button variant="primary" onClick={() => setRegistering(true)}>
              Register CVM
            </Button>
          )
        }
        empty="No CVM is registered in this domain."
      />
      {isRegistering && (
        <RegisterCvm onClose={() => setRegistering(false)} onSaved={(cvm) => goOn(addressOf({ screen: 'cvm', domain, cvm }))} />
      )}
    </ScreenFrame>
  );
}
