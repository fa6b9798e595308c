import type { StatusIndicatorProps } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { StatusIndicator } from '../show/status.tsx';

type PresenceOfCvm = Schemas['Presence'];

const presenceTexts: Record<PresenceOfCvm['state'], string> = { connected: 'Connected', disconnected: 'Disconnected' };

const fits: Record<PresenceOfCvm['fit'], { type: StatusIndicatorProps.Type; text: string }> = {
  ready: { type: 'success', text: 'Ready for a run' },
  busy: { type: 'in-progress', text: 'Busy with a run' },
  spent: { type: 'warning', text: 'Spent: restart its agent' },
  unknown: { type: 'info', text: 'Unknown' },
};

/** Returns in words whether a CVM is connected, and whether it can take a run. */
export function presenceWords(presence: PresenceOfCvm): { state: string; fit: string } {
  const { state, fit } = presence;
  return { state: presenceTexts[state], fit: isKnown(presence) ? fits[fit].text : `Last reported: ${fit}` };
}

/** Returns whether a CVM's report that it can take a run is current. A report says nothing once the CVM is disconnected. */
function isKnown({ state, fit }: PresenceOfCvm): boolean {
  return state === 'connected' || fit === 'unknown';
}

export function Presence({ presence }: { presence: PresenceOfCvm }) {
  return (
    <StatusIndicator type={presence.state === 'connected' ? 'success' : 'stopped'}>
      {presenceWords(presence).state}
    </StatusIndicator>
  );
}

/** Shows whether the CVM can take a run. */
export function Fit({ presence }: { presence: PresenceOfCvm }) {
  return (
    <StatusIndicator type={isKnown(presence) ? fits[presence.fit].type : 'stopped'}>
      {presenceWords(presence).fit}
    </StatusIndicator>
  );
}
