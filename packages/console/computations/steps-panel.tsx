import { Button, Link, type StatusIndicatorProps } from '@cloudscape-design/components';
import { useDomain } from '../access/console-context.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { Panel } from '../frame/screen-frame.tsx';
import { type Debt, hasMachine, type Overview } from '../loading/overview.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useNow } from '../show/service-clock.ts';
import { StatusIndicator, statusText } from '../show/status.tsx';
import { durationText, momentText } from '../show/texts.ts';
import { Ago } from '../show/time.tsx';
import { Name, Names, User } from '../show/visible-texts.tsx';
import { type Move, owedSince, type Step, stepsOf } from './steps.ts';

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
      <div className="stack">
        <ol className="steps" aria-label="Steps to a run">
          {steps.map((step) => (
            <li key={step.name} aria-current={step === open ? 'step' : undefined}>
              <strong>{step.name}</strong>
              <StatusIndicator type={lookOf(step, overview)}>{step.text}</StatusIndicator>
            </li>
          ))}
        </ol>
        {!isReady && waiting.length + unowned.length + others.length > 0 && (
          <Debts overview={overview} since={(debt, user) => owedSince(debt, user, events)} />
        )}
        {!hasMachine(machines) && <Machines of={machines ?? []} />}
        {computation.run && <LatestRun run={computation.run} />}
        {move?.does === 'add-key' && (
          <div>
            <Button variant="primary" onClick={onAddKey}>
              Add your key
            </Button>
          </div>
        )}
        {move?.does === 'go' && (
          <div>
            <Button variant="primary" href={move.href}>
              {move.text}
            </Button>
          </div>
        )}
      </div>
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
        {of.length === 0 && <li>No CVM is registered: an administrator registers one, and starts its agent.</li>}
        {of.map(({ id, reasons }) => (
          <li key={id}>
            <Name of={id} />: {reasons.join('; ')}
          </li>
        ))}
      </ul>
      <MachineHelp />
    </div>
  );
}

/** Shows the latest run of a computation without a colour, because the end of a run says nothing about the next run. */
function LatestRun({ run }: { run: NonNullable<Overview['computation']['run']> }) {
  const { domain } = useDomain();
  const { id: at, computation_id: id, cvm_id, status, started_by, started_at, ended_at } = run;
  return (
    <div>
      Latest run:{' '}
      <Link href={addressOf({ screen: 'run', domain, id, run: at })}>
        {statusText(status)} <Ago at={ended_at ?? started_at} />
      </Link>
      , on <Link href={addressOf({ screen: 'cvm', domain, cvm: cvm_id })}>{cvm_id}</Link>, started by <User of={started_by} />
    </div>
  );
}

interface DebtsProps {
  overview: Overview;
  /** Returns the time since which a user owes a thing to the computation, or undefined if the time is not known. */
  since?: (debt: Pick<Debt, 'kind' | 'since'>, user: string) => string | undefined;
}

/** Shows the things that a run of a computation waits for, and who owes each of them. */
export function Debts({ overview: { parties, unowned, others }, since }: DebtsProps) {
  const { me } = useDomain();
  const items = [
    ...parties.flatMap(({ user, owes, isInvited, parts, refusal }) => [
      ...(isInvited
        ? [{ user, key: 'invited', debt: { kind: 'key' } as const, text: <>invited as {parts.join(', ')}, has not acted</> }]
        : []),
      ...owes.map((debt) => ({ user, key: JSON.stringify(debt), debt, text: <DebtText debt={debt} /> })),
      ...(refusal
        ? [
            {
              user,
              key: 'refusal',
              debt: { kind: 'content', since: refusal.refused_at } as const,
              text: (
                <>
                  refuses: <Name of={refusal.reason} />
                </>
              ),
            },
          ]
        : []),
    ]),
  ];
  return (
    <ul aria-label="What a run waits for">
      {items.map(({ user, key, debt, text }) => (
        <li key={user + key}>
          <User of={user} />
          {user === me.user && ' (you)'}: {text}
          <Waited since={since?.(debt, user)} />
        </li>
      ))}
      {unowned.map((debt) => (
        <li key={debt.files.join()}>
          Nobody whom the service names: <DebtText debt={debt} />
        </li>
      ))}
      {others.map(({ kind, sentence }) => (
        <li key={sentence}>{kind === 'algorithm' ? `${sentence}: link one under Inputs` : <Name of={sentence} />}</li>
      ))}
    </ul>
  );
}

function DebtText({ debt: { kind, files } }: { debt: Debt }) {
  if (kind === 'key') return 'public key';
  const what = kind === 'content' ? 'content of ' : files.length === 0 ? 'approval' : 'approval for ';
  return (
    <>
      {what}
      <Names of={files} />
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
