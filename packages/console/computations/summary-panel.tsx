import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import type { Schemas } from 'computation-management-client';
import { approvalTexts } from 'computation-management-formats/approval-cautions';
import type { Overview } from '../loading/overview.ts';
import { Hash, Pem } from '../show/hash.tsx';
import { Name, Names } from '../show/visible-texts.tsx';
import { Moment } from '../show/time.tsx';

export function SummaryPanel({ overview: { computation } }: { overview: Overview }) {
  const { id, owner, approval, consumers, providers, created_at, updated_at } = computation;
  return (
    <Container header={<Header variant="h2">Summary</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: 'Owner', value: <Name of={owner} /> },
          { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
          { label: 'Approval', value: approvalTexts[approval] },
          {
            label: 'Result consumers',
            value: consumers.length > 0 ? <Names of={consumers} /> : 'Everyone with the role result_consumer who uploads a key',
          },
          { label: 'Providers', value: providers.length > 0 ? <Names of={providers} /> : 'Everyone who provides assets' },
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
