import type { Schemas } from 'computation-management-client';
import { type Me, permissions } from '../access/permissions.ts';
import type { Debt, Overview } from '../loading/overview.ts';
import { addressOf } from '../routing/places.ts';

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
export function owedSince(
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
export function fitFor(policy: Schemas['Computation']['attestation_policy'], cvms: readonly Schemas['Cvm'][]): number {
  return cvms.filter(
    ({ presence, attestation }) =>
      presence.state === 'connected' && presence.fit === 'ready' && (policy === null || attestation?.verdict === 'verified'),
  ).length;
}
