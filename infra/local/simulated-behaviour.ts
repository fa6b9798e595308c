/** An event as an agent sends it: type, status, and the part of the CVM that saw it. */
export interface AgentEvent {
  event_type: string;
  status: string;
  originator: 'agent' | 'computation-runner';
}

/** What a simulated CVM does with a run. */
export interface Behaviour {
  /** It never asks for work. */
  isAbsent: boolean;
  /** Why it refuses every run. */
  refusal: string | undefined;
  /** Until the algorithm is at work. */
  before: (datasets: number) => AgentEvent[];
  /** How long the algorithm is at work; Infinity: until the run is over for the service. */
  worksInMilliseconds: number;
  /** Once the algorithm has ended. */
  after: AgentEvent[];
  /** It dies after the first event: no more events, heartbeats or questions. */
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
    // What an algorithm writes to standard error becomes a warning of the runner; its end is told twice.
    after: [event('AlgorithmRun', 'Warning', 'computation-runner'), event('Running', 'Failed'), event('Failed', 'Failed')],
  },
  silent: { ...completes, before: () => [event('ReceivingAlgorithm', 'InProgress')], fallsSilent: true },
  absent: { ...completes, isAbsent: true },
  reject: { ...completes, refusal: 'This simulated CVM rejects every run.' },
  'ignore-stop': { ...completes, worksInMilliseconds: Infinity, ignoresStops: true },
  slow: { ...completes, worksInMilliseconds: 60_000 },
};

/**
 * A simulated CVM is told by its identifier: `sim-fail-...`, `sim-silent-...`, `sim-absent-...`, `sim-reject-...`,
 * `sim-ignore-stop-...`, `sim-slow-...` (a minute). Any other identifier completes.
 */
export function behaviourOf(cvmId: string): Behaviour {
  const [, word = ''] = /^sim-(fail|silent|absent|reject|ignore-stop|slow)(?:-|$)/.exec(cvmId) ?? [];
  return behaviours[word] ?? completes;
}

/** What the agent says of a stop; the second only where the algorithm was at work, and after the first. */
export const stoppedEvents = { stopped: event('Stopped', 'Stopped'), failedAfterwards: event('Running', 'Failed') };
