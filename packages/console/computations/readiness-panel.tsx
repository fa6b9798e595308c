import { KeyValuePairs, Link, type StatusIndicatorProps } from '@cloudscape-design/components';
import { page, type Schemas } from 'computation-management-client';
import { approvalRows, isGiven } from 'computation-management-words';
import type { ReactNode } from 'react';
import { useDomain } from '../access/console-context.ts';
import { Panel } from '../frame/screen-frame.tsx';
import type { Debt, Overview } from '../loading/overview.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useNow } from '../show/service-clock.ts';
import { StatusIndicator, statusText } from '../show/status.tsx';
import { durationText, momentText } from '../show/texts.ts';
import { Ago } from '../show/time.tsx';
import { Name, Names, User } from '../show/visible-texts.tsx';
import { type Me, permissions } from '../access/permissions.ts';

/** Shows how ready a computation is for a run: what is there, who is waited for, and since when. */
export function ReadinessPanel({ overview }: { overview: Overview }) {
  const { client, me } = useDomain();
  const { computation, parties, isReady } = overview;
  const waiting = parties.filter(({ owes }) => owes.length > 0);
  // What is owed tells when the events are read again.
  const { value: events = [] } = useLoaded(JSON.stringify([computation.id, waiting]), async (signal) =>
    waiting.length === 0 ? [] : (await client.listEvents({ id: computation.id, limit: 100, signal })).events,
  );
  const isActive = computation.run !== null && computation.run.ended_at === null;
  const headline = isActive
    ? 'A run is active'
    : isReady
      ? 'Ready to run'
      : waiting.some(({ user }) => user === me.user)
        ? 'Waiting for you'
        : 'Waiting for others';
  return (
    <Panel title={headline}>
      <div className="stack">
        <Facts overview={overview} />
        {!isReady && <Debts overview={overview} since={(debt, user) => owedSince(debt, user, events)} />}
      </div>
    </Panel>
  );
}

function Facts({ overview }: { overview: Overview }) {
  const { computation, inputs, parties, unowned, approvals } = overview;
  const owed = (kind: Debt['kind']) => parties.flatMap(({ owes }) => owes).filter((debt) => debt.kind === kind).length;
  const needed = approvalRows(approvals).filter(({ because }) => because.length > 0);
  const given = needed.filter(isGiven).length;
  const datasets = inputs.filter(({ asset_type }) => asset_type === 'dataset').length;
  const algorithm = inputs.length > datasets ? '1 algorithm' : 'No algorithm';
  const isComplete = inputs.length > datasets && owed('content') + unowned.length === 0;
  return (
    <KeyValuePairs
      columns={3}
      items={[
        fact('Inputs', isComplete, `${algorithm}, ${datasets === 1 ? '1 dataset' : `${datasets} datasets`}`),
        fact('Keys', owed('key') === 0, owed('key') === 0 ? 'All are here' : `${owed('key')} missing`),
        fact('Approvals', given === needed.length, needed.length === 0 ? 'None needed' : `${given} of ${needed.length}`),
        { label: 'Machine', value: <Machine policy={computation.attestation_policy} /> },
        { label: 'Latest run', value: <LatestRun run={computation.run} /> },
      ]}
    />
  );
}

function fact(label: string, isThere: boolean, text: string): { label: string; value: ReactNode } {
  return { label, value: <StatusIndicator type={isThere ? 'success' : 'pending'}>{text}</StatusIndicator> };
}

/** Shows how many registered CVMs could take a run. Reads the CVMs once: the dialog that starts a run checks the chosen CVM. */
function Machine({ policy }: { policy: Overview['computation']['attestation_policy'] }) {
  const { client, domain } = useDomain();
  const loaded = useLoaded(domain, (signal) => page(client, 'listCvms', { limit: 100, signal }));
  if (loaded.value === undefined) return loaded.problem === undefined ? '-' : 'Unknown';
  const { items, total } = loaded.value;
  const fit = fitFor(policy, items);
  if (total === 0) return 'None is registered';
  const isTest = policy !== null && items.some(({ attestation }) => attestation?.checks.some(({ name }) => name === 'test_root'));
  const type: StatusIndicatorProps.Type = fit === 0 ? 'pending' : isTest ? 'warning' : 'success';
  return (
    <StatusIndicator type={type}>
      {fit} of {total} {policy === null ? 'ready' : 'ready and verified'}
      {isTest && '. Test evidence proves nothing'}
    </StatusIndicator>
  );
}

/** Shows the latest run of a computation without a colour, because the end of a run says nothing about the next run. */
function LatestRun({ run }: { run: Overview['computation']['run'] }) {
  const { domain } = useDomain();
  if (!run) return 'None yet';
  const { id: at, computation_id: id, cvm_id, status, started_by, started_at, ended_at } = run;
  return (
    <>
      <Link href={addressOf({ screen: 'run', domain, id, run: at })}>
        {statusText(status)} <Ago at={ended_at ?? started_at} />
      </Link>
      <div>
        On <Link href={addressOf({ screen: 'cvm', domain, cvm: cvm_id })}>{cvm_id}</Link>, started by <User of={started_by} />
      </div>
    </>
  );
}

interface Props {
  overview: Overview;
  /** Returns the time since which a user owes a thing to the computation, or undefined if the time is not known. */
  since?: (debt: Debt, user: string) => string | undefined;
}

/** Shows the things that a run of a computation waits for, and who owes each of them. */
export function Debts({ overview: { parties, unowned, others }, since }: Props) {
  const { me } = useDomain();
  return (
    <ul aria-label="What a run waits for">
      {parties.flatMap(({ user, owes }) =>
        owes.map((debt) => (
          <li key={JSON.stringify([user, debt])}>
            <User of={user} />
            {user === me.user && ' (you)'}: <DebtText debt={debt} />
            <Waited since={since?.(debt, user)} />
          </li>
        )),
      )}
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

/** The next thing that a user can do so that a run starts or goes on. */
export type Step = { does: 'start' | 'add-key' } | { does: 'go'; text: string; href: string };

/** Returns the next step that this user can do for a computation. Undefined if others have to act first, or the user may do nothing. */
export function nextStep(overview: Overview, { domain, me }: { domain: string; me: Me }): Step | undefined {
  const { computation, parties, others, digest, isReady } = overview;
  const { id, run } = computation;
  const go = (text: string, href: string): Step => ({ does: 'go', text, href });
  if (run && run.ended_at === null) return go('Watch the run', addressOf({ screen: 'run', domain, id, run: run.id }));
  const owed = parties.find(({ user }) => user === me.user)?.owes ?? [];
  const asset = owed.find(({ kind }) => kind === 'content')?.asset;
  if (asset !== undefined) return go('Upload your content', addressOf({ screen: 'asset', domain, id: asset }));
  if (owed.some(({ kind }) => kind === 'key')) return { does: 'add-key' };
  if (others.some(({ kind }) => kind === 'algorithm') && permissions.createAsset(me, 'algorithm')) {
    return go('Upload an algorithm', addressOf({ screen: 'new-asset', domain }, { computation: id }));
  }
  const owesApproval = owed.some(({ kind }) => kind === 'approval');
  if (digest !== undefined && owesApproval) return go('Review and approve', addressOf({ screen: 'approve', domain, id }));
  return isReady && permissions.startRun(me, computation) ? { does: 'start' } : undefined;
}

/** The types of events that change the manifest or the configuration of a computation. */
const changes = ['created', 'updated', 'owner_changed', 'asset_linked', 'asset_unlinked', 'key_uploaded', 'key_removed'];

/**
 * Returns the time since which a user owes a thing to a computation, as far as the events tell.
 * @param events the latest events of the computation, newest first
 */
function owedSince(
  { kind, since }: Debt,
  user: string,
  events: readonly Pick<Schemas['Event'], 'event_type' | 'originator' | 'timestamp'>[],
): string | undefined {
  if (kind === 'content') return since;
  const own = events.filter(({ originator }) => originator === user);
  const found =
    kind === 'approval'
      ? events.find(
          (event) =>
            changes.includes(event.event_type) || (event.event_type === 'approval_withdrawn' && event.originator === user),
        )
      : (own.find(({ event_type }) => event_type === 'key_removed') ??
        own.findLast(({ event_type }) => event_type === 'created' || event_type === 'asset_linked'));
  return found?.timestamp;
}

/** Returns how many registered CVMs could take a run of a computation now. @param policy the attestation policy of the computation */
function fitFor(policy: Schemas['Computation']['attestation_policy'], cvms: readonly Schemas['Cvm'][]): number {
  return cvms.filter(
    ({ presence, attestation }) =>
      presence.state === 'connected' && presence.fit === 'ready' && (policy === null || attestation?.verdict === 'verified'),
  ).length;
}
