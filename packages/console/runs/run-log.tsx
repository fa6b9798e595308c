import { GoTo } from '../frame/index.ts';
import { Alert, Box } from '@cloudscape-design/components';
import { type Client, pause, retryUntilAborted, type Schemas, ServiceProblem } from 'computation-management-client';
import { Fragment, type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { permissions, useDomain } from '../access/index.ts';
import { ProblemAlert } from '../loading/index.ts';
import { StatusIndicator, Time, User } from '../show/index.ts';

interface Read {
  /** The latest lines of the agent's log. */
  lines: Schemas['LogLine'][];
  dropped: number;
  isWhole: boolean;
  problem?: unknown;
}

const nothing: Read = { lines: [], dropped: 0, isWhole: false };
/** The time after the end of a run in which lines of its log may still come: the gateway writes them within some seconds. */
const lateInMilliseconds = 10_000;

interface Props {
  run: Pick<Schemas['Run'], 'id' | 'computation_id'>;
  isLive: boolean;
  /** The number of lines to show: the last ones. */
  most: number;
  /** The way to share the log, shown if nobody may read it. */
  share?: ReactNode;
}

/** Shows the last lines of the agent's log of a run, as they come. */
export function RunLog({ run, isLive, most, share }: Props) {
  const { client } = useDomain();
  const { id, computation_id } = run;
  const [{ lines, dropped, isWhole, problem }, setRead] = useState(nothing);
  const goesOn = useEffectEvent(() => isLive);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const change = (with_: (before: Read) => Read) => {
      if (!signal.aborted) setRead(with_);
    };
    const add = (added: Schemas['LogLine'][]) =>
      change((before) => {
        const all = [...before.lines, ...added];
        return { ...before, lines: all.slice(-most), dropped: before.dropped + Math.max(0, all.length - most) };
      });
    readLog(client, { id: computation_id, run: id, signal }, () => goesOn(), add).then(
      () => change((before) => ({ ...before, isWhole: true })),
      (error: unknown) => change((before) => ({ ...before, problem: error })),
    );
    return () => {
      controller.abort();
      setRead(nothing);
    };
  }, [client, computation_id, id, most]);
  if (problem instanceof ServiceProblem && problem.status === 403) {
    return (
      <Alert type="info" header="You cannot read the log of this run">
        {problem.reason === 'logs_not_shared'
          ? 'The run began while the computation shared its log with nobody.'
          : problem.detail}{' '}
        {problem.reason === 'logs_not_shared' && share}
      </Alert>
    );
  }
  return (
    <>
      <ProblemAlert problem={problem} />
      {dropped > 0 && <Box variant="small">{dropped.toLocaleString('en')} earlier lines: cms logs prints all.</Box>}
      {lines.length > 0 && (
        <pre className="json log" tabIndex={0} role="log" aria-label="Log of the agent" aria-live="off">
          {lines.map(({ time, level, message }, index) => (
            <Fragment key={dropped + index}>
              <Time at={time} /> {`${level.toUpperCase().padEnd(5)} ${message}\n`}
            </Fragment>
          ))}
        </pre>
      )}
      {!isWhole && problem === undefined && (
        <StatusIndicator type={isLive ? 'in-progress' : 'loading'}>
          {isLive ? 'Waiting for lines' : 'Reading the log'}
        </StatusIndicator>
      )}
      {isWhole && lines.length === 0 && 'The agent wrote nothing, or its log is no longer kept: it is kept for 30 days.'}
    </>
  );
}

/** Shows how the log of the next run of a computation can be shared: a link for those who may change it, else whom to ask. */
export function ShareLog({ computation }: { computation: Schemas['Computation'] }) {
  const { me } = useDomain();
  const { id, owner } = computation;
  return (
    <>
      {permissions.editComputation(me, computation) ? (
        <GoTo place={{ screen: 'edit-computation', id }}>Share the log of the next run</GoTo>
      ) : (
        <>
          Ask <User of={owner} /> to share the log of the next run
        </>
      )}{' '}
      with all parties: their approvals become stale.
    </>
  );
}

/** Reads the log of a run to its end. Waits for further lines as long as the run goes on. */
async function readLog(
  client: Client,
  place: { id: string; run: string; signal: AbortSignal },
  goesOn: () => boolean,
  onLines: (lines: Schemas['LogLine'][]) => void,
): Promise<void> {
  let after = '';
  let wasLive = false;
  let endedAt: number | undefined;
  for (;;) {
    const isLive = goesOn();
    wasLive ||= isLive;
    const ask = () => client.readLogs({ ...place, after, limit: 100, wait: isLive ? 20 : 0 });
    const { logs, next } = await retryUntilAborted(ask, { signal: place.signal });
    after = next;
    if (logs.length > 0) {
      onLines(logs);
      continue;
    }
    if (!isLive) endedAt ??= Date.now();
    if (endedAt !== undefined && (!wasLive || Date.now() - endedAt > lateInMilliseconds)) return;
    await pause(1_000, place.signal);
  }
}
