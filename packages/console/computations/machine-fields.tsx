import {
  Box,
  Checkbox,
  ExpandableSection,
  FormField,
  Input,
  RadioGroup,
  Select,
  SpaceBetween,
  Textarea,
} from '@cloudscape-design/components';
import { page, type Schemas } from 'computation-management-client';
import { platforms, platformTexts } from 'computation-management-formats/attestation';
import { componentTexts, pcrLines, policyCautions, policyMembers } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { isTestEvidence, machinesFor } from '../attestation/machines.ts';
import { Panel } from '../frame/screen-frame.tsx';
import type { FieldErrors } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { Hash } from '../show/hash.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { namesIn } from '../show/texts.ts';
import { measurementNotes } from './form-notes.ts';

type Policy = Schemas['AttestationPolicy'];

/** The strictest policy, which allows no machine yet. */
const strictest: Policy = {
  platforms: [],
  measurements: [],
  pcrs: null,
  vmpl: 0,
  minimum_tcb: null,
  accepted_tcb_statuses: ['UpToDate'],
  accepted_advisories: [],
  allow_debug: false,
  allow_reconnect: false,
  allow_used_guest: false,
};

/** The places in a request whose errors are shown at the fields of a policy. */
export const policyFields = (
  ['platforms', 'measurements', 'pcrs', 'vmpl', 'minimum_tcb', 'accepted_tcb_statuses', 'accepted_advisories'] as const
).map((name) => `/attestation_policy/${name}` as const);

const components = ['bootloader', 'tee', 'snp', 'microcode', 'fmc'] as const;
const flags = ['allow_debug', 'allow_reconnect', 'allow_used_guest'] as const;
/** The members of a policy that the form takes as text, with an entry on each line. */
type Listed = 'measurements' | 'accepted_tcb_statuses' | 'accepted_advisories';

/** Reads PCRs from text, one a line. What the service refuses stays as it was typed. */
function pcrsIn(text: string): Policy['pcrs'] {
  const rows = namesIn(text).map((line) => /^(?:PCR\s+)?(\w*)[\s:=]*(.*)$/i.exec(line) ?? []);
  return rows.length === 0 ? null : { sha256: Object.fromEntries(rows.map(([, number = '', value = '']) => [number, value])) };
}

/** Reads the least versions of an SNP machine from text, in the order of `components`. */
function versionsIn(text: string): Policy['minimum_tcb'] {
  const given = text.replace(/[,\s]+$/, '');
  const [bootloader = 0, tee = 0, snp = 0, microcode = 0, fmc = null] = given.split(',').map(Number);
  return given === '' ? null : { bootloader, tee, snp, microcode, fmc };
}

interface Props {
  policy: Policy | null;
  onChange: (policy: Policy | null) => void;
  errors: Pick<FieldErrors<(typeof policyFields)[number]>, 'at'>;
}

/** Shows the fields that decide which machines may run a computation: from verified machines of the domain, or from measurements. */
export function MachineFields({ policy, onChange, errors }: Props) {
  const { client, domain } = useDomain();
  const [typed, setTyped] = useState<Partial<Record<Listed | 'pcrs' | 'minimum_tcb', string>>>({});
  const [former, setFormer] = useState(policy ?? strictest);
  const loaded = useLoaded(domain, (signal) => page(client, 'listCvms', { limit: 100, signal }));
  const given = policy ?? former;
  const set = (changed: Partial<Policy>) => onChange({ ...given, ...changed });
  const toggled = <Entry extends string>(entries: readonly Entry[], entry: Entry, isIn: boolean) =>
    isIn ? [...new Set([...entries, entry])] : entries.filter((each) => each !== entry);
  const field = (name: keyof typeof policyMembers) => {
    const [label, description, constraintText] = policyMembers[name];
    const place = policyFields.find((each) => each === `/attestation_policy/${name}`);
    return { label, description, constraintText, errorText: place && errors.at(place) };
  };
  const list = (name: Listed, warningText = '') => (
    <FormField {...field(name)} warningText={warningText}>
      <Textarea
        value={typed[name] ?? given[name].join('\n')}
        rows={2}
        spellcheck={false}
        onChange={({ detail: { value } }) => {
          setTyped({ ...typed, [name]: value });
          set({ [name]: namesIn(value) });
        }}
      />
    </FormField>
  );
  const verified = (loaded.value?.items ?? []).filter(({ attestation }) => attestation?.verdict === 'verified');
  return (
    <Panel title="Which machines may run this" description={<MachineHelp />}>
      <SpaceBetween size="l">
        <RadioGroup
          ariaLabel="Which machines may run this"
          value={policy === null ? 'any' : 'some'}
          items={[
            { value: 'any', label: 'Any machine', description: 'Nothing proves what it is: its owner can read everything.' },
            { value: 'some', label: 'Only machines that prove what they run', description: 'Approvals cover this policy.' },
          ]}
          onChange={({ detail }) => {
            setFormer(given);
            onChange(detail.value === 'any' ? null : given);
          }}
        />
        {policy !== null && (
          <div className="stack">
            <FormField
              label="Verified machines of this domain"
              description="Each that you tick adds its platform and its measurement."
            >
              {verified.length === 0 && <Box>None: type measurements below, or register a CVM and let it attest.</Box>}
              {verified.map((cvm) => {
                const { platform, measurement, checks } = cvm.attestation ?? { platform: '', measurement: null, checks: [] };
                const known = platforms.find((each) => each === platform);
                const isIn = given.measurements.includes(measurement ?? '');
                const [ofPolicy] = machinesFor(policy, [cvm]);
                return (
                  <Checkbox
                    key={cvm.id}
                    checked={isIn}
                    disabled={known === undefined || measurement === null}
                    description={[
                      isTestEvidence(checks) ? 'Test evidence: it proves nothing.' : '',
                      isIn && ofPolicy?.reasons.length ? `Not allowed yet: ${ofPolicy.reasons.join('; ')}` : '',
                    ].join(' ')}
                    onChange={({ detail: { checked } }) => {
                      if (known === undefined || measurement === null) return;
                      setTyped(({ measurements: _, ...others }) => others);
                      set({
                        measurements: toggled(given.measurements, measurement, checked),
                        ...(checked && { platforms: toggled(given.platforms, known, true) }),
                      });
                    }}
                  >
                    {cvm.id}, {platform} <Hash value={measurement} what={`measurement of ${cvm.id}`} />
                  </Checkbox>
                );
              })}
            </FormField>
            {list('measurements', measurementNotes(given.measurements).join(' '))}
            <FormField {...field('platforms')}>
              {platforms.map((each) => (
                <Checkbox
                  key={each}
                  checked={given.platforms.includes(each)}
                  description={platformTexts[each]}
                  onChange={({ detail }) => set({ platforms: toggled(given.platforms, each, detail.checked) })}
                >
                  {each}
                </Checkbox>
              ))}
              {policyCautions(given).map((caution) => (
                <StatusIndicator key={caution} type="warning">
                  {caution}
                </StatusIndicator>
              ))}
            </FormField>
            <FormField {...field('pcrs')}>
              <Textarea
                value={typed.pcrs ?? pcrLines(given).join('\n')}
                rows={2}
                spellcheck={false}
                onChange={({ detail: { value } }) => {
                  setTyped({ ...typed, pcrs: value });
                  set({ pcrs: pcrsIn(value) });
                }}
              />
            </FormField>
            <ExpandableSection headerText="Versions, levels and exceptions">
              <SpaceBetween size="l">
                <FormField {...field('vmpl')}>
                  <Select
                    selectedOption={{ value: String(given.vmpl), label: String(given.vmpl) }}
                    options={['0', '1', '2', '3'].map((value) => ({ value, label: value }))}
                    onChange={({ detail }) => set({ vmpl: Number(detail.selectedOption.value) })}
                  />
                </FormField>
                <FormField {...field('minimum_tcb')}>
                  <Input
                    value={
                      typed.minimum_tcb ??
                      components
                        .map((name) => given.minimum_tcb?.[name])
                        .join(', ')
                        .replace(/[, ]+$/, '')
                    }
                    placeholder={`${Object.values(componentTexts).join(', ')}: such as 4, 0, 24, 219`}
                    onChange={({ detail: { value } }) => {
                      setTyped({ ...typed, minimum_tcb: value });
                      set({ minimum_tcb: versionsIn(value) });
                    }}
                  />
                </FormField>
                {list('accepted_tcb_statuses')}
                {list('accepted_advisories')}
                {flags.map((name) => (
                  <Checkbox
                    key={name}
                    checked={given[name]}
                    description={policyMembers[name].slice(1).join(' ')}
                    onChange={({ detail }) => set({ [name]: detail.checked })}
                  >
                    {policyMembers[name][0]}
                  </Checkbox>
                ))}
              </SpaceBetween>
            </ExpandableSection>
          </div>
        )}
      </SpaceBetween>
    </Panel>
  );
}
