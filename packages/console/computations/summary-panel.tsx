import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import Link from '@cloudscape-design/components/link';
import type { Schemas } from 'computation-management-client';
import { useDomain } from '../access/console-context.ts';
import type { Overview } from '../loading/overview.ts';
import { addressOf } from '../routing/places.ts';
import { Hash, Pem } from '../show/hash.tsx';
import { Status } from '../show/status.tsx';
import { Texts } from '../show/visible-texts.tsx';
import { Moment, Time } from '../show/time.tsx';
import { approvalTexts } from './computation-fields.ts';

export function SummaryPanel({ overview: { computation } }: { overview: Overview }) {
  const { domain } = useDomain();
  const { id, status, owner, run, approval, consumers, providers, created_at, updated_at } = computation;
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
              <Link href={addressOf({ screen: 'run', domain, id, run: run.id })}>
                <Time at={run.started_at} />
              </Link>
            ) : (
              'None yet'
            ),
          },
          { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
          { label: 'Approval', value: approvalTexts[approval] },
          {
            label: 'Result consumers',
            value: consumers.length > 0 ? <Texts of={consumers} /> : 'Everyone with the role result_consumer who uploads a key',
          },
          { label: 'Providers', value: providers.length > 0 ? <Texts of={providers} /> : 'Everyone who provides assets' },
          { label: 'Created', value: <Moment at={created_at} /> },
          { label: 'Updated', value: <Moment at={updated_at} /> },
        ]}
      />
    </Container>
  );
}

/** What the agent in the CVM is configured with. */
export function ConfigurationTab({ computation: { agent_config } }: { computation: Schemas['Computation'] }) {
  const { log_level, attested_tls, cert_file, server_ca_file, client_ca_file, server_key } = agent_config;
  return (
    <Container
      header={
        <Header variant="h2" description="What the agent in the CVM is started with.">
          Agent
        </Header>
      }
    >
      <KeyValuePairs
        columns={2}
        items={[
          { label: 'Log level', value: log_level || 'Default' },
          { label: 'Attested TLS', value: attested_tls ? 'Yes' : 'No' },
          { label: 'Certificate', value: <Pem text={cert_file} /> },
          {
            label: 'Private key',
            value:
              server_key === undefined
                ? 'Withheld: only those who may edit the computation see it'
                : server_key === ''
                  ? 'None'
                  : 'Set. It is shown when you edit the computation',
          },
          { label: 'CA of the server', value: <Pem text={server_ca_file} /> },
          { label: 'CA of the clients', value: <Pem text={client_ca_file} /> },
        ]}
      />
    </Container>
  );
}
