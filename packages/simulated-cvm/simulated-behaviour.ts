/** An event as an agent sends it: type, status, and the part of the CVM that reports it. */
export interface AgentEvent {
  event_type: string;
  status: string;
  originator: 'agent' | 'computation-runner';
}

/** The way in which a simulated CVM treats a run. */
export interface Behaviour {
  /** True if the simulated CVM never asks for commands, and so takes no run. */
  isAbsent: boolean;
  /** The reason with which the simulated CVM rejects every run. Undefined: it accepts them. */
  refusal: string | undefined;
  /** Returns the events that the agent reports until the algorithm runs. @param datasets the number of datasets of the run */
  before: (datasets: number) => AgentEvent[];
  /** The milliseconds for which the algorithm runs. Infinity: until the service has ended the run. */
  worksInMilliseconds: number;
  /** The events that the agent reports after the algorithm has ended. */
  after: AgentEvent[];
  /** True if the simulated CVM dies after its first event: sends no more events or heartbeats, and asks for no more commands. */
  fallsSilent: boolean;
  ignoresStops: boolean;
}

function event(event_type: string, status: string, originator: AgentEvent['originator'] = 'agent'): AgentEvent {
  return { event_type, status, originator };
}

/** The behaviour of a CVM that completes its runs, with the sequence of events of a real agent (Cocos 0.10.2). */
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
 * Returns the behaviour of a simulated CVM, which its identifier selects: `sim-fail-...`, `sim-silent-...`, `sim-absent-...`,
 * `sim-reject-...`, `sim-ignore-stop-...`, `sim-slow-...` (takes a minute). A CVM with any other identifier completes its runs.
 */
export function behaviourOf(cvmId: string): Behaviour {
  const [, word = ''] = /^sim-(fail|silent|absent|reject|ignore-stop|slow)(?:-|$)/.exec(cvmId) ?? [];
  return behaviours[word] ?? completes;
}

/**
 * The events that an agent reports when a run is stopped. The second event follows the first, and only if the algorithm was
 * running.
 */
export const stoppedEvents = { stopped: event('Stopped', 'Stopped'), failedAfterwards: event('Running', 'Failed') };
