import type { Schemas } from 'computation-management-client';
import { type Look, Looking } from '../show/index.ts';

type PresenceOfCvm = Schemas['Presence'];

const states: Record<PresenceOfCvm['state'], Look> = {
  connected: { type: 'success', text: 'Connected' },
  disconnected: { type: 'stopped', text: 'Disconnected' },
};

const fits: Record<PresenceOfCvm['fit'], Look> = {
  ready: { type: 'success', text: 'Ready for a run' },
  busy: { type: 'in-progress', text: 'Busy with a run' },
  spent: { type: 'warning', text: 'Spent: restart its agent' },
  unknown: { type: 'info', text: 'Unknown' },
};

/** Returns how to show whether a CVM can take a run. A report of it says nothing once the CVM is disconnected. */
function lookOfFit({ state, fit }: PresenceOfCvm): Look {
  return state === 'connected' || fit === 'unknown' ? fits[fit] : { type: 'stopped', text: `Last reported: ${fit}` };
}

/** Returns in words whether a CVM is connected, and whether it can take a run. */
export function presenceWords(presence: PresenceOfCvm): string[] {
  return [states[presence.state].text, lookOfFit(presence).text];
}

export function Presence({ presence }: { presence: PresenceOfCvm }) {
  return <Looking like={states[presence.state]} />;
}

/** Shows whether the CVM can take a run. */
export function Fit({ presence }: { presence: PresenceOfCvm }) {
  return <Looking like={lookOfFit(presence)} />;
}
