import Alert from '@cloudscape-design/components/alert';
import FormField from '@cloudscape-design/components/form-field';
import Link from '@cloudscape-design/components/link';
import { ServiceProblem } from 'computation-management-client';
import { useState } from 'react';
import { CvmInput } from '../cvms/cvm-input.tsx';
import { fieldErrors, missingSentences } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/navigation.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain } from '../access/console-context.ts';
import type { Overview } from '../loading/overview.ts';
import { Texts } from '../show/visible-texts.tsx';
import { neededText } from './parties-panel.tsx';

/** Starts a run on a CVM, or explains what is missing. */
export function StartRun({ overview, onClose }: { overview: Overview; onClose: () => void }) {
  const { client, domain, exampleCvm } = useDomain();
  const goOn = useGoOn();
  const [cvm, setCvm] = useState('');
  const { computation, isReady, parties, others, missing } = overview;
  const { id, name } = computation;
  const start = useAction(async () => {
    const run = await client.startRun({ id, cvm: cvm.trim() });
    goOn(addressOf({ screen: 'run', domain, id, run }));
  });
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
      isRunning={start.isRunning}
      problem={start.problem}
      fields={errors.fields}
      isDisabled={!isReady || cvm.trim() === ''}
      onConfirm={() => void start.run()}
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
        <Alert type="warning" header={`A run cannot start yet: ${countText(missingSentences(missing).length)} missing`}>
          <ul>
            {parties
              .filter(({ owes }) => owes.length > 0)
              .map(({ user, owes }) => (
                <li key={user}>
                  <strong>{user}</strong> owes: <Texts of={owes} />
                </li>
              ))}
            {others.map((other) => (
              <li key={other}>{neededText(other)}</li>
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

function countText(count: number): string {
  return count === 1 ? 'one item is' : `${count} items are`;
}
