import { Box, Checkbox, ExpandableSection, FormField, RadioGroup, SpaceBetween } from '@cloudscape-design/components';
import { page, type Schemas } from 'computation-management-client';
import { platforms, platformsWithGuest, platformTexts, strictestRules } from 'computation-management-formats/attestation';
import { pcrLines, policyCautions, policyMembers } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { Choice, Panel, TextField } from '../frame/index.ts';
import { type FieldErrors, useLoaded } from '../loading/index.ts';
import { Hash, namesIn, StatusIndicator } from '../show/index.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { isTestEvidence, machinesFor, measurementNotes } from '../attestation/machines.ts';

type Policy = Schemas['AttestationPolicy'];

/** The strictest policy, which allows no machine yet. */
const strictest: Policy = { platforms: [], measurements: [], ...strictestRules };

const flags = ['allow_debug', 'allow_reconnect', 'allow_used_guest'] as const;

/** The places in a request whose errors are shown at the fields of a policy. */
export const policyFields = (
  ['platforms', 'measurements', 'pcrs', 'vmpl', 'minimum_tcb', 'accepted_tcb_statuses', 'accepted_advisories'] as const
).map((name) => `/attestation_policy/${name}` as const);

/** The members of a policy that the form takes as text: how their text is written and read. What the service refuses stays as typed. */
const textMembers = {
  measurements: { write: ({ measurements }: Policy) => measurements.join('\n'), read: namesIn },
  pcrs: { write: (policy: Policy) => pcrLines(policy).join('\n'), read: pcrsIn },
  minimum_tcb: { write: versionsText, read: versionsIn },
  accepted_tcb_statuses: { write: ({ accepted_tcb_statuses: of }: Policy) => of.join('\n'), read: namesIn },
  accepted_advisories: { write: ({ accepted_advisories: of }: Policy) => of.join('\n'), read: namesIn },
};
type TextMember = keyof typeof textMembers;

/** Reads PCRs from text, one a line. */
function pcrsIn(text: string): Policy['pcrs'] {
  const rows = namesIn(text).map((line) => /^(?:PCR\s+)?(\w*)[\s:=]*(.*)$/i.exec(line) ?? []);
  return rows.length === 0 ? null : { sha256: Object.fromEntries(rows.map(([, number = '', value = '']) => [number, value])) };
}

function versionsText({ minimum_tcb: least }: Policy): string {
  return [least?.bootloader, least?.tee, least?.snp, least?.microcode, least?.fmc].filter((each) => each != null).join(', ');
}

/** Reads the least versions of an SNP machine from text, in the order of `versionsText`. */
function versionsIn(text: string): Policy['minimum_tcb'] {
  const given = text.replace(/[,\s]+$/, '');
  const [bootloader = 0, tee = 0, snp = 0, microcode = 0, fmc = null] = given.split(',').map(Number);
  return given === '' ? null : { bootloader, tee, snp, microcode, fmc };
}

/** The words and the platforms of the fields, by what the machines are chosen for. */
const subjects = {
  run: {
    title: 'Which machines may run this',
    none: { label: 'Any machine', description: 'Nothing proves what it is: its owner can read everything.' },
    some: 'Approvals cover this policy.',
    platforms,
  },
  key: {
    title: 'Which machines may get the key',
    none: {
      label: 'Those that the computation allows',
      description: 'Its attestation policy decides alone. Without one, no run starts with this file.',
    },
    some: 'The policy of the computation holds too.',
    platforms: platforms.filter((platform) => platformsWithGuest.includes(platform)),
  },
};

interface Props {
  /** The purpose of the machines: to run a computation, or to get the key of a file. Default: `run`. */
  subject?: keyof typeof subjects;
  policy: Policy | null;
  onChange: (policy: Policy | null) => void;
  errors: Pick<FieldErrors<(typeof policyFields)[number]>, 'at'>;
}

/** Shows the fields that decide which machines may run a computation: from verified machines of the domain, or from measurements. */
export function MachineFields({ subject = 'run', policy, onChange, errors }: Props) {
  const { title, none, some, platforms: offered } = subjects[subject];
  const { client, domain } = useDomain();
  const [typed, setTyped] = useState<Partial<Record<TextMember, string>>>({});
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
  const textField = (name: TextMember, warningText = '') => (
    <TextField
      {...field(name)}
      warningText={warningText}
      rows={2}
      spellcheck={false}
      text={[
        typed[name] ?? textMembers[name].write(given),
        (value) => {
          setTyped({ ...typed, [name]: value });
          set({ [name]: textMembers[name].read(value) });
        },
      ]}
    />
  );
  const verified = (loaded.value?.items ?? []).filter(({ attestation }) => attestation?.verdict === 'verified');
  return (
    <Panel title={title} description={<MachineHelp />}>
      <RadioGroup
        ariaLabel={title}
        value={policy === null ? 'any' : 'some'}
        items={[
          { value: 'any', ...none },
          { value: 'some', label: 'Only machines that prove what they run', description: some },
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
              const known = offered.find((each) => each === platform);
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
          {textField('measurements', measurementNotes(given.measurements).join(' '))}
          <FormField {...field('platforms')}>
            {offered.map((each) => (
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
          {textField('pcrs')}
          <ExpandableSection headerText="Versions, levels and exceptions">
            <SpaceBetween size="l">
              <Choice
                isList
                {...field('vmpl')}
                value={String(given.vmpl)}
                options={['0', '1', '2', '3'].map((value) => ({ value, label: value }))}
                onChange={(level) => set({ vmpl: Number(level) })}
              />
              {textField('minimum_tcb')}
              {textField('accepted_tcb_statuses')}
              {textField('accepted_advisories')}
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
    </Panel>
  );
}
