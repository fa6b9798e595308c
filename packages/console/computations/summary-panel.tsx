import { KeyValuePairs } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { configurationOf } from 'computation-management-formats/approval-text';
import { approvalTexts, describeAgent } from 'computation-management-words';
import type { Overview } from '../loading/overview.ts';
import { Hash, factItems } from '../show/hash.tsx';
import { Name, Names } from '../show/visible-texts.tsx';
import { Moment } from '../show/time.tsx';
import { Panel } from '../frame/panel.tsx';

export function SummaryPanel({ overview: { computation } }: { overview: Overview }) {
  const { id, owner, approval, consumers, providers, created_at, updated_at } = computation;
  return (
    <Panel title="Summary">
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
    </Panel>
  );
}

/** Shows the configuration of a computation's agent, which runs in the CVM. */
export function ConfigurationTab({ computation }: { computation: Schemas['Computation'] }) {
  const { log_level, server_key } = computation.agent_config;
  return (
    <Panel title="Agent" description="What the agent in the CVM is started with.">
      <KeyValuePairs
        columns={2}
        items={[
          { label: 'Log level', value: log_level || 'Default' },
          ...factItems(describeAgent(configurationOf(computation).agent_config)),
          {
            label: 'Private key',
            value:
              server_key === undefined
                ? 'Withheld: only those who may edit the computation see it'
                : server_key === ''
                  ? 'None'
                  : 'Set. It is shown when you edit the computation',
          },
        ]}
      />
    </Panel>
  );
}
