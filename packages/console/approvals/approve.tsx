import Alert from '@cloudscape-design/components/alert';
import Checkbox from '@cloudscape-design/components/checkbox';
import FormField from '@cloudscape-design/components/form-field';
import Input from '@cloudscape-design/components/input';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import Select from '@cloudscape-design/components/select';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Textarea from '@cloudscape-design/components/textarea';
import { readKeyOwners, type Schemas, ServiceProblem } from 'computation-management-client';
import { useState } from 'react';
import { approvalText, configurationOf } from 'computation-management-formats/approval-text';
import { policyLines } from 'computation-management-formats/attestation';
import { loadComputation } from '../loading/overview.ts';
import { fieldErrors } from '../loading/problem-text.ts';
import { LoadedView } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { loadManifest, ManifestView } from '../manifest/manifest-view.tsx';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';
import { Hash, Pem } from '../show/hash.tsx';
import { serviceNow } from '../show/service-clock.ts';
import { approveCommand, digestOf, expiryAfter, limitsOf } from './approval.ts';

interface Props {
  computation: Schemas['Computation'];
  onClose: () => void;
  onApproved: () => void;
}

const lifetimes = [
  { value: '', label: 'Until the manifest changes' },
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
];

/**
 * Approves the manifest and the configuration that are shown. If one of them is another by then, the service refuses, and the dialog
 * shows what is there now. The user must look at that first.
 */
export function Approve({ computation: { id, name, approval: policy }, onClose, onApproved }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const [lifetime, setLifetime] = useState('');
  const [expiry, setExpiry] = useState<string>();
  const [cvms, setCvms] = useState('');
  const [signature, setSignature] = useState('');
  const [isOutdated, setOutdated] = useState(false);
  const loaded = useLoaded(id, async (signal) => {
    const { computation } = await loadComputation(client, id, signal);
    const { manifest, ...served } = await loadManifest(client, { id, signal });
    const configuration = configurationOf(computation);
    const digests = { manifest_digest: digestOf(manifest), configuration_digest: digestOf(configuration) };
    if (served.digest !== digests.manifest_digest || served.configurationDigest !== digests.configuration_digest) {
      throw new Error(
        'The service names other digests than those of the manifest and the configuration that it returned. If they were just changed, try again.',
      );
    }
    return { manifest, configuration, digests, owners: await readKeyOwners(client, computation, signal) };
  });
  const { digests } = loaded.value ?? {};
  const [checked, setChecked] = useState<typeof loaded.value>();
  const isShown = digests !== undefined && !loaded.isLoading && loaded.problem === undefined;
  const isChecked = !isOutdated || checked === loaded.value;
  const isSigned = policy === 'all_signed';
  const limits = limitsOf(cvms, expiry);
  const approve = useAction(async () => {
    if (!digests) return;
    try {
      await client.approve({
        id,
        body: {
          digest: digests.manifest_digest,
          configuration_digest: digests.configuration_digest,
          ...limits,
          ...(isSigned && { signature: signature.trim() }),
        },
      });
    } catch (error) {
      if (!isOfChange(error)) throw error;
      setOutdated(true);
      setSignature(''); // of what is no longer there
      loaded.reload();
      return;
    }
    notify('You have approved.');
    onApproved();
  });
  const approved = digests && { domain, computation: id, approver: me.user, ...digests, ...limits };
  const errors = fieldErrors(approve.problem, ['/cvm_ids', '/signature']);
  const signatureError = errors.at('/signature');
  return (
    <ConfirmModal
      title={
        <>
          Approve the manifest of <bdi>{name}</bdi>
        </>
      }
      size="large"
      confirm="Approve"
      isRunning={approve.isRunning}
      problem={approve.problem}
      fields={errors.fields}
      conflict={
        isOutdated &&
        isShown && (
          <div role="alert">
            <Alert type="warning" header="The computation has changed">
              Nothing was approved. This dialog shows the manifest and the configuration as they are now: check them, then
              approve.
              <Checkbox checked={isChecked} onChange={({ detail }) => setChecked(detail.checked ? loaded.value : undefined)}>
                I have checked what this dialog shows now
              </Checkbox>
            </Alert>
          </div>
        )
      }
      isDisabled={!isShown || !isChecked || (isSigned && signature.trim() === '')}
      onConfirm={() => void approve.run()}
      onClose={onClose}
    >
      <LoadedView loaded={loaded} what="the manifest">
        {({ manifest, configuration: { agent_config, ...configuration }, digests, owners }) => (
          <SpaceBetween size="l">
            <ManifestView manifest={manifest} digest={digests.manifest_digest} owners={owners} />
            <KeyValuePairs
              columns={2}
              items={[
                { label: 'Attested TLS', value: agent_config.attested_tls ? 'Yes' : 'No' },
                { label: 'Certificate', value: <Pem text={agent_config.cert_file} /> },
                { label: 'CA of the server', value: <Pem text={agent_config.server_ca_file} /> },
                { label: 'CA of the clients', value: <Pem text={agent_config.client_ca_file} /> },
                { label: 'Approval that a run needs', value: configuration.approval },
                {
                  label: 'Attestation policy',
                  value: policyLines(configuration.attestation_policy).map((line) => (
                    <div key={line} className="long-words">
                      {line}
                    </div>
                  )),
                },
                { label: 'Who sees logs', value: configuration.log_access },
                {
                  label: 'Digest of the configuration',
                  value: <Hash value={digests.configuration_digest} what="digest of the configuration" isWhole />,
                },
              ]}
            />
          </SpaceBetween>
        )}
      </LoadedView>
      {digests && (
        <>
          <FormField label="How long the approval is valid">
            <Select
              selectedOption={lifetimes.find(({ value }) => value === lifetime) ?? null}
              options={lifetimes}
              onChange={({ detail: { selectedOption } }) => {
                const { value = '' } = selectedOption;
                setLifetime(value);
                setExpiry(expiryAfter(value, serviceNow()));
              }}
            />
          </FormField>
          <FormField
            label="Only on these CVMs (optional)"
            description="Identifiers, separated by commas. Empty: on any CVM."
            errorText={errors.at('/cvm_ids')}
          >
            <Input value={cvms} onChange={({ detail }) => setCvms(detail.value)} />
          </FormField>
        </>
      )}
      {approved && isSigned && (
        <FormField
          label="Signature"
          stretch
          description={
            <>
              Choose the limits first: they are part of what you sign. Sign this text with the key that you uploaded, and paste
              the signature in base64: <Hash value={approvalText(approved)} what="text to sign" isWhole />
              <br />
              Or let the command line sign and approve: <Hash value={approveCommand(approved)} what="command" isWhole />
            </>
          }
          errorText={signatureError !== undefined && <span className="long-words">{signatureError}</span>}
        >
          <Textarea value={signature} rows={3} spellcheck={false} onChange={({ detail }) => setSignature(detail.value)} />
        </FormField>
      )}
    </ConfirmModal>
  );
}

function isOfChange(error: unknown): boolean {
  return error instanceof ServiceProblem && error.reason === 'stale_digest';
}
