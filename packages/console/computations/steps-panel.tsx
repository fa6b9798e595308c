import { Button, type StatusIndicatorProps } from '@cloudscape-design/components';
import { owedSince } from 'computation-management-words';
import { useDomain } from '../access/index.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { machineLines } from '../attestation/machines.ts';
import { GoTo, Panel } from '../frame/index.ts';
import { hasMachine, type Overview, useLoaded } from '../loading/index.ts';
import { Ago, durationText, momentText, Name, StatusIndicator, statusText, useNow, User } from '../show/index.ts';
import { debtText } from './invitation.ts';
import { type Move, type Step, stepsOf } from './steps.ts';

interface Props {
  overview: Overview;
  /** The next thing that the user can do, whose button the panel has. */
  move: Move | undefined;
  onAddKey: () => void;
}

/** Shows the five steps of a computation, and of the first open one who is waited for and since when, with the user's own button. */
export function StepsPanel({ overview, move, onAddKey }: Props) {
  const { client } = useDomain();
  const { computation, parties, unowned, others, isReady, machines } = overview;
  const steps = stepsOf(overview);
  const open = steps.find(({ isDone }) => !isDone);
  const waiting = parties.filter(({ owes, isInvited }) => owes.length > 0 || isInvited);
  // What is owed tells when the events are read again.
  const { value: events = [] } = useLoaded(JSON.stringify([computation.id, waiting]), async (signal) =>
    waiting.length === 0 ? [] : (await client.listEvents({ id: computation.id, limit: 100, signal })).events,
  );
  const isActive = computation.run !== null && computation.run.ended_at === null;
  const headline = isActive
    ? 'A run is active'
    : isReady
      ? 'Ready to run'
      : move
        ? 'Waiting for you'
        : open?.name === 'Machine'
          ? 'Waiting for a machine'
          : 'Waiting for others';
  return (
    <Panel title={headline}>
      <ol className="steps" aria-label="Steps to a run">
        {steps.map((step) => (
          <li key={step.name} aria-current={step === open ? 'step' : undefined}>
            <strong>{step.name}</strong>
            <StatusIndicator type={lookOf(step, overview)}>{step.text}</StatusIndicator>
          </li>
        ))}
      </ol>
      {!isReady && waiting.length + unowned.length + others.length > 0 && <Debts overview={overview} events={events} />}
      {!hasMachine(machines) && <Machines of={machines ?? []} />}
      {computation.run && <LatestRun run={computation.run} />}
      {move && move.does !== 'start' && (
        <div>
          <Button variant="primary" {...(move.does === 'go' ? { href: move.href } : { onClick: onAddKey })}>
            {move.does === 'go' ? move.text : 'Add your key'}
          </Button>
        </div>
      )}
    </Panel>
  );
}

function lookOf({ name, isDone }: Step, { machines, computation, isReady }: Overview): StatusIndicatorProps.Type {
  if (name === 'Run') return computation.run === null ? (isReady ? 'success' : 'pending') : 'info';
  if (name === 'Machine' && (machines === undefined || machines.some(({ isTest }) => isTest))) return 'warning';
  return isDone ? 'success' : 'pending';
}

/** Shows why none of the registered CVMs may take a run of a computation, each with its measurement and those of the policy. */
function Machines({ of }: { of: NonNullable<Overview['machines']> }) {
  return (
    <div className="long-words">
      <ul aria-label="Machines">
        {machineLines(of).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <MachineHelp />
    </div>
  );
}

/** Shows the latest run of a computation without a colour, because the end of a run says nothing about the next run. */
function LatestRun({ run }: { run: NonNullable<Overview['computation']['run']> }) {
  const { id: at, computation_id: id, cvm_id, status, started_by, started_at, ended_at } = run;
  return (
    <div>
      Latest run:{' '}
      <GoTo place={{ screen: 'run', id, run: at }}>
        {statusText(status)} <Ago at={ended_at ?? started_at} />
      </GoTo>
      , on <GoTo place={{ screen: 'cvm', cvm: cvm_id }}>{cvm_id}</GoTo>, started by <User of={started_by} />
    </div>
  );
}

type Events = Parameters<typeof owedSince>[2];

/** Shows the things that a run of a computation waits for, who owes each of them, and since when as far as the events tell. */
function Debts({ overview: { parties, unowned, others }, events }: { overview: Overview; events: Events }) {
  const { me } = useDomain();
  const items = parties.flatMap(({ user, owes, isInvited, parts, refusal }) => {
    const invited = `invited as ${parts.join(', ')}, has not acted`;
    return [
      ...(isInvited ? [{ user, text: invited, since: owedSince({ kind: 'key' }, user, events) }] : []),
      ...owes.map((debt) => ({ user, text: debtText(debt), since: owedSince(debt, user, events) })),
      ...(refusal ? [{ user, text: <Refusal of={refusal.reason} />, since: refusal.refused_at }] : []),
    ];
  });
  return (
    <ul aria-label="What a run waits for">
      {items.map(({ user, text, since }, index) => (
        <li key={index}>
          <User of={user} />
          {user === me.user && ' (you)'}: {text}
          <Waited since={since} />
        </li>
      ))}
      {unowned.map((debt) => (
        <li key={debt.files.join()}>Nobody whom the service names: {debtText(debt)}</li>
      ))}
      {others.map(({ kind, sentence }) => (
        <li key={sentence}>{kind === 'algorithm' ? `${sentence}: link one under Inputs` : <Name of={sentence} />}</li>
      ))}
    </ul>
  );
}

function Refusal({ of }: { of: string }) {
  return (
    <>
      refuses: <Name of={of} />
    </>
  );
}

function Waited({ since }: { since: string | undefined }) {
  const now = useNow();
  if (since === undefined) return null;
  return (
    <time dateTime={since} title={`since ${momentText(since)}, ${since} (UTC)`}>
      , for {durationText(now - Date.parse(since))}
    </time>
  );
}
