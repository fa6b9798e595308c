import type { Configuration } from 'computation-management-formats/approval-text';
import { StatusIndicator } from './status.tsx';
import { Name } from './visible-texts.tsx';

/** What an approval covers of an agent's configuration. */
export function agentFacts(config: Partial<Configuration['agent_config']>) {
  return [
    {
      label: 'TLS of the agent',
      value: config.attested_tls ? (
        <StatusIndicator type="success">Attested</StatusIndicator>
      ) : (
        <StatusIndicator type="warning">Not attested</StatusIndicator>
      ),
    },
    { label: 'Certificate of the agent', value: <Pem text={config.cert_file} /> },
    { label: 'CA of the server', value: <Pem text={config.server_ca_file} /> },
    { label: 'CA of the clients', value: <Pem text={config.client_ca_file} /> },
  ];
}

/** A certificate of an agent: its text, or its path inside the CVM. */
function Pem({ text }: { text: string | undefined }) {
  if (!text) return <>None</>;
  return text.includes('\n') ? <pre className="json name">{text}</pre> : <Name of={text} />;
}
