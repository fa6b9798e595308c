import { Alert, FormField, Link } from '@cloudscape-design/components';
import { ServiceProblem } from 'computation-management-client';
import { describeMissing } from 'computation-management-words';
import { useEffect, useState } from 'react';
import { CvmInput } from '../cvms/cvm-input.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/navigation.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain } from '../access/console-context.ts';
import type { Overview } from '../loading/overview.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { Debts } from './readiness-panel.tsx';

/** Shows a dialog that starts a run on a CVM, or explains what is missing. */
export function StartRun({ overview, first, onClose }: { overview: Overview; first: string; onClose: () => void }) {
  const { client, domain, exampleCvm } = useDomain();
  const goOn = useGoOn();
  const [cvm, setCvm] = useState(first);
  const { computation, isReady } = overview;
  const { id, name } = computation;
  const start = useAction(async () => {
    const run = await client.startRun({ id, cvm: cvm.trim() });
    goOn(addressOf({ screen: 'run', domain, id, run }));
  });
  // The service says what would refuse a run on the chosen CVM, before the user presses the button.
  const chosen = usePaused(cvm.trim());
  const check = useLoaded(`${id} ${chosen}`, async (signal) =>
    chosen === '' || !isReady ? [] : describeMissing((await client.dryRun({ id, cvm: chosen, signal })).missing_items),
  );
  const refused = (chosen === cvm.trim() && check.value) || [];
  const activeRun = start.problem instanceof ServiceProblem ? start.problem.run_id : undefined;
  const errors = fieldErrors(start.problem, ['query/cvm']);
  return (
    <ConfirmModal
      title={
        <>
          Start a run of <bdi>{name}</bdi>
        </>
      }
      confirm="Start run"
      action={start}
      fields={errors.fields}
      isDisabled={!isReady || cvm.trim() === '' || refused.length > 0}
      onClose={onClose}
    >
      {isReady ? (
        <FormField
          label="CVM"
          description="The confidential virtual machine that runs the algorithm."
          errorText={errors.at('query/cvm')}
          constraintText={exampleCvm !== undefined && `Simulated CVMs answer to any name here, such as ${exampleCvm}.`}
        >
          <CvmInput value={cvm} onChange={setCvm} />
        </FormField>
      ) : (
        <Alert type="warning" header="A run cannot start yet">
          <Debts overview={overview} />
        </Alert>
      )}
      {refused.length > 0 && (
        <Alert type="warning" header="A run cannot start on this CVM">
          <ul>
            {refused.map(({ sentence }) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Alert>
      )}
      {activeRun !== undefined && (
        <Link href={addressOf({ screen: 'run', domain, id, run: activeRun })}>Open the conflicting run</Link>
      )}
    </ConfirmModal>
  );
}

const pauseInMilliseconds = 400;

/** Returns a text that the user types as it was at the latest pause in typing. */
function usePaused(typed: string): string {
  const [paused, setPaused] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(typed), pauseInMilliseconds);
    return () => clearTimeout(timer);
  }, [typed]);
  return paused;
}
