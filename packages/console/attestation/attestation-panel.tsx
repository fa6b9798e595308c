import { Box, ExpandableSection } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { type Look, Looking, sizeText, StatusIndicator } from '../show/index.ts';
import { MachineHelp } from './machine-help.tsx';
import { isTestEvidence } from './machines.ts';

type Verdict = Schemas['AttestationOfRun']['verdict'];

/** The icon and the text that show each verdict on a CVM's attestation. Only `verified` is shown as a success. */
const looks: Record<NonNullable<Verdict> | 'none' | 'test', Look> = {
  verified: { type: 'success', text: 'Attested' },
  refused: { type: 'error', text: 'Attestation refused' },
  none: { type: 'warning', text: 'Not verified: no attestation' },
  test: { type: 'warning', text: 'Test evidence: it proves nothing' },
  unsupported: { type: 'warning', text: 'Not verified: this kind of evidence is not supported' },
};

interface Props {
  /** The verified attestation of the CVM. null: the agent sent no evidence that was verified. */
  attestation:
    (Pick<Schemas['AttestationOfRun'], 'checks'> & { verdict: Verdict; tokens?: Schemas['AttestationToken'][] }) | null;
}

/** Shows whether a CVM proved what it is, with each check in words. */
export function AttestationBadge({ attestation }: Props) {
  const { verdict = null, checks = [], tokens = [] } = attestation ?? {};
  const isTest = verdict === 'verified' && isTestEvidence(checks);
  const failed = checks.filter(({ passed }) => !passed).length;
  return (
    <div>
      <Looking like={looks[isTest ? 'test' : (verdict ?? 'none')]} />
      <MachineHelp />
      {checks.length > 0 && (
        <ExpandableSection
          headerText={failed === 0 ? `${checks.length} checks passed` : `${failed} of ${checks.length} checks failed`}
        >
          {checks.map(({ name, passed, detail }) => (
            <div key={name} className="long-words">
              <StatusIndicator type={!passed ? 'error' : name === 'test_root' ? 'warning' : 'success'}>
                {inWords(name)}
              </StatusIndicator>{' '}
              <bdi>{detail}</bdi>
            </div>
          ))}
        </ExpandableSection>
      )}
      {tokens.map(({ kind, hash, size, download }) => (
        <Box key={hash} variant="small" display="block">
          <a href={download.url} download>
            Token <bdi>{kind}</bdi>
          </a>{' '}
          ({sizeText(size)}), SHA-256 <span className="hash">{hash}</span>
        </Box>
      ))}
    </div>
  );
}

function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/tcb|vmpl/, (acronym) => acronym.toUpperCase());
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}:`;
}
