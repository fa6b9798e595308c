import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import Link from '@cloudscape-design/components/link';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../shell/console-context.ts';
import { Hash } from '../show/hash.tsx';
import { momentText } from '../show/moment.ts';
import { Status } from '../show/status.tsx';
import { Moment } from '../show/time.tsx';
import { approvalTexts } from './approval-texts.ts';
import type { Overview } from './load-overview.ts';

export function SummaryPanel({ overview: { computation } }: { overview: Overview }) {
  const { domain } = useDomain();
  const { id, status, owner, run, approval, consumers, created_at, updated_at } = computation;
  return (
    <Container header={<Header variant="h2">Summary</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: 'Status', value: <Status status={status} /> },
          { label: 'Owner', value: owner },
          {
            label: 'Latest run',
            value: run ? (
              <Link href={addressOf({ screen: 'run', domain, id, run: run.id })}>{momentText(run.started_at)}</Link>
            ) : (
              'None yet'
            ),
          },
          { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
          { label: 'Approval', value: approvalTexts[approval] },
          {
            label: 'Result consumers',
            value: consumers.length > 0 ? consumers.join(', ') : 'Everyone with the role result_consumer who uploads a key',
          },
          { label: 'Created', value: <Moment at={created_at} /> },
          { label: 'Updated', value: <Moment at={updated_at} /> },
        ]}
      />
    </Container>
  );
}
