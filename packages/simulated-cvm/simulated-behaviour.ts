/** An event as an agent sends it: type, status, and the part of the CVM that reports it. */
export interface AgentEvent {
  event_type: string;
  status: string;
  originator: 'agent' | 'computation-runner';
}

/** The way in which a simulated CVM treats a run. */
export interface Behaviour {
  /** Never asks for commands. */
  isAbsent: boolean;
  /** The reason for rejecting every run; undefined accepts them. */
  refusal: string | undefined;
  /** The events until the algorithm runs. */
  before: (datasets: number) => AgentEvent[];
  /** The milliseconds for which the algorithm runs. Infinity: until the service has ended the run. */
  worksInMilliseconds: number;
  /** The events after the algorithm has ended. */
  after: AgentEvent[];
  /** Dies after the first event: sends no more events or heartbeats, and asks for no more commands. */
  fallsSilent: boolean;
  ignoresStops: boolean;
}

function event(event_type: string, status: string, originator: AgentEvent['originator'] = 'agent'): AgentEvent {
  return { event_type, status, originator };
}

/** The sequence of a real agent (Cocos 0.10.2). */
const completes: Behaviour = {
  isAbsent: false,
  refusal: undefined,
  before: (datasets) => [
    event('ReceivingAlgorithm', 'InProgress'),
    ...(datasets > 0 ? [event('ReceivingData', 'InProgress')] : []),
    event('Running', 'Starting'),
    event('Running', 'InProgress'),
  ],
  worksInMilliseconds: 0,
  after: [event('Running', 'Completed'), event('ConsumingResults', 'Ready'), event('Complete', 'Completed')],
  fallsSilent: false,
  ignoresStops: false,
};

const behaviours: Record<string, Behaviour> = {
  fail: {
    ...completes,
    // The runner reports standard error of the algorithm as a warning, and the agent reports the failure twice.
    after: [event('AlgorithmRun', 'Warning', 'computation-runner'), event('Running', 'Failed'), event('Failed', 'Failed')],
  },
  silent: { ...completes, before: () => [event('ReceivingAlgorithm', 'InProgress')], fallsSilent: true },
  absent: { ...completes, isAbsent: true },
  reject: { ...completes, refusal: 'This simulated CVM rejects every run.' },
  'ignore-stop': { ...completes, worksInMilliseconds: Infinity, ignoresStops: true },
  slow: { ...completes, worksInMilliseconds: 60_000 },
};

/**
 * Selects the behaviour by the CVM's identifier: `sim-fail-...`, `sim-silent-...`, `sim-absent-...`, `sim-reject-...`,
 * `sim-ignore-stop-...`, `sim-slow-...` (takes a minute). A CVM with any other identifier completes its runs.
 */
export function behaviourOf(cvmId: string): Behaviour {
  const [, word = ''] = /^sim-(fail|silent|absent|reject|ignore-stop|slow)(?:-|$)/.exec(cvmId) ?? [];
  return behaviours[word] ?? completes;
}

/** The agent's events on a stop. The second follows the first, and only if the algorithm was running. */
export const stoppedEvents = { stopped: event('Stopped', 'Stopped'), failedAfterwards: event('Running', 'Failed') };
