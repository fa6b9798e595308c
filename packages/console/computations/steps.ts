import type { Schemas } from 'computation-management-client';
import { approvalRows, isGiven } from 'computation-management-words';
import { type Me, permissions } from '../access/permissions.ts';
import { type Debt, hasMachine, type Overview } from '../loading/overview.ts';
import { addressOf } from '../routing/places.ts';
import { statusText } from '../show/status.tsx';

/** A step of a computation on its way to a run. */
export interface Step {
  name: 'Parties' | 'Files' | 'Approvals' | 'Machine' | 'Run';
  isDone: boolean;
  /** The state of the step in a few words. */
  text: string;
}

/** Returns the five steps of a computation. The first that is not done is the one that its run waits for. */
export function stepsOf({ computation, inputs, parties, unowned, others, approvals, machines, isReady }: Overview): Step[] {
  const owing = (kind: Debt['kind']) => parties.filter(({ owes }) => owes.some((debt) => debt.kind === kind)).length;
  const invited = parties.filter(({ isInvited }) => isInvited).length;
  const datasets = inputs.filter(({ asset_type }) => asset_type === 'dataset').length;
  const algorithm = inputs.length > datasets ? '1 algorithm' : 'No algorithm';
  const needed = approvalRows(approvals).filter(({ because }) => because.length > 0);
  const given = needed.filter(isGiven).length;
  const fit = machines?.filter(({ reasons }) => reasons.length === 0) ?? [];
  const { run } = computation;
  return [
    {
      name: 'Parties',
      isDone: owing('key') === 0 && (isReady || invited === 0),
      text:
        [counted(owing('key'), 'key', 'missing'), counted(invited, '', 'invited')].filter(Boolean).join(', ') ||
        (parties.length === 1 ? '1 person' : `${parties.length} people`),
    },
    {
      name: 'Files',
      isDone:
        inputs.length > datasets && owing('content') + unowned.length === 0 && !others.some(({ kind }) => kind === 'algorithm'),
      text: `${algorithm}, ${datasets === 1 ? '1 dataset' : `${datasets} datasets`}`,
    },
    {
      name: 'Approvals',
      isDone: given === needed.length,
      text: needed.length === 0 ? 'None needed' : `${given} of ${needed.length}`,
    },
    {
      name: 'Machine',
      isDone: hasMachine(machines),
      text:
        machines === undefined
          ? 'Any machine'
          : `${fit.length} of ${machines.length} allowed${fit.some(({ isTest }) => isTest) ? '. Test evidence proves nothing' : ''}`,
    },
    { name: 'Run', isDone: false, text: run === null ? 'None yet' : statusText(run.status) },
  ];
}

function counted(count: number, what: string, state: string): string {
  return count === 0 ? '' : [count, what && (count === 1 ? what : `${what}s`), state].filter(Boolean).join(' ');
}

/** The next thing that a user can do so that a run starts or goes on. */
export type Move = { does: 'start' | 'add-key' } | { does: 'go'; text: string; href: string };

/** Returns what this user can do next for a computation. Undefined if others have to act first, or the user may do nothing. */
export function nextMove(overview: Overview, { domain, me }: { domain: string; me: Me }): Move | undefined {
  const { computation, parties, others, digest, isReady } = overview;
  const { id, run } = computation;
  const go = (text: string, href: string): Move => ({ does: 'go', text, href });
  if (run && run.ended_at === null) return go('Watch the run', addressOf({ screen: 'run', domain, id, run: run.id }));
  if (run?.result && isReviewOf(me.user, run, computation.result_review)) {
    return go('Review the result', addressOf({ screen: 'run', domain, id, run: run.id }));
  }
  const mine = parties.find(({ user }) => user === me.user);
  const owed = mine?.owes ?? [];
  const asset = owed.find(({ kind }) => kind === 'content')?.asset;
  if (asset !== undefined) return go('Upload your content', addressOf({ screen: 'asset', domain, id: asset }));
  if (owed.some(({ kind }) => kind === 'key')) return { does: 'add-key' };
  const upload = addressOf({ screen: 'new-asset', domain }, { computation: id });
  if (others.some(({ kind }) => kind === 'algorithm') && permissions.createAsset(me, 'algorithm')) {
    return go('Upload an algorithm', upload);
  }
  if (mine?.isInvited === true && mine.parts.includes('provider') && permissions.createAnyAsset(me)) {
    return go('Upload your file', upload);
  }
  const owesApproval = owed.some(({ kind }) => kind === 'approval');
  if (digest !== undefined && owesApproval) return go('Review and approve', addressOf({ screen: 'approve', domain, id }));
  return isReady && permissions.startRun(me, computation) ? { does: 'start' } : undefined;
}

/** Returns whether the result of a run waits for the decision of a user. */
function isReviewOf(
  user: string,
  { status, result }: Pick<Schemas['Run'], 'status' | 'result'>,
  review: Schemas['ResultReview'] | null,
): boolean {
  const isOpen = status === 'completed' && (result?.state === 'awaiting_file' || result?.state === 'under_review');
  const hasDecided = result?.decisions.some(({ reviewer }) => reviewer === user) === true;
  return isOpen && !hasDecided && review?.reviewers.includes(user) === true;
}
