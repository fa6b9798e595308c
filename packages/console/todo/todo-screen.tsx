import { Alert, Button, type ButtonProps, Link } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { type ChangeCard, changeCards, oldText, owedSince } from 'computation-management-words';
import { type ReactNode, useMemo, useState } from 'react';
import { useDomain } from '../access/index.ts';
import { Change, Since } from '../approvals/changes.tsx';
import { expectedOf } from '../computations/invitation.ts';
import { ScreenFrame } from '../frame/index.ts';
import { UploadKey } from '../keys/key-dialogs.tsx';
import { type Column, FactTable, RowFact } from '../lists/index.ts';
import { LoadedView, refreshSeconds, useLoaded } from '../loading/index.ts';
import { addressOf } from '../routing/index.ts';
import { useRows } from '../runs/use-rows.ts';
import { Names, Quote, useNow, User } from '../show/index.ts';
import { MailSwitch } from './mail-switch.tsx';

const kinds = ['approvals', 'reviews', 'keys', 'content', 'refusals', 'invitations'] as const;

/** The time for which the service may still list what is done. */
const listedForMilliseconds = 5_000;

/** A line of the list of what the user has to do, such as an approval to give, a key to upload or a result to review. */
interface Task {
  key: string;
  /** The name of the computation, or of the file. */
  name: string;
  href: string;
  /** The computation that waits. Undefined for a file. */
  computation?: string;
  /** The text of the button, such as `Upload key to`. The name follows it for screen readers. */
  action: string;
  act: Pick<ButtonProps, 'href' | 'onClick'>;
  /** The reason of the task: what changed, and since when it waits. */
  why: ReactNode;
}

/** Shows what waits for the user: approvals, reviews, keys and content, who invites the user or refuses; what changed, and since when. */
export function TodoScreen() {
  const { client, domain } = useDomain();
  const [chosen, setChosen] = useState<string>();
  /** The computations that have got the key since. */
  const [done, setDone] = useState<readonly string[]>([]);
  const loaded = useLoaded(domain, (signal) => client.getTodo({ signal }), { everySeconds: refreshSeconds.todo });
  const { value } = loaded;
  const now = useNow();
  const tasks = useMemo(() => (value ? tasksOf(value, domain, setChosen) : []), [value, domain]);
  const rows = useRows(tasks.flatMap(({ computation }) => computation ?? []));
  const open = tasks.filter(({ key }) => !done.includes(key));
  const [first, second] = value?.approvals ?? [];
  const columns: Column<Task>[] = [
    { header: 'Name', isRowHeader: true, cell: ({ href, name }) => <Link href={href}>{name}</Link> },
    {
      header: 'What to do',
      isPrimary: true,
      cell: ({ action, name, act }) => (
        <Button variant="inline-link" ariaLabel={`${action} ${name}`} {...act}>
          {action.replace(/ (to|of|in)$/, '')}
        </Button>
      ),
    },
    {
      header: 'From',
      cell: ({ computation = '' }) => {
        const row = rows.get(computation);
        return row ? <User of={row.owner} /> : '-';
      },
    },
    { header: 'What changed, since when', minWidth: 280, cell: ({ why }) => why },
  ];
  return (
    <ScreenFrame
      title="To do"
      description={`What you still need to do before runs can start. ${value ? oldText(value.as_of, now) : ''}`}
      above={[]}
      loaded={loaded}
      actions={
        first &&
        second && (
          <Button variant="primary" {...reviewOf(first, domain)}>
            Review one after the other
          </Button>
        )
      }
    >
      <LoadedView loaded={loaded} what="what waits for you">
        {({ totals }) => {
          const waiting = kinds.filter((kind) => totals[kind] > 0).map((kind) => `${kind}: ${totals[kind]}`);
          const total = kinds.reduce((sum, kind) => sum + totals[kind], open.length - tasks.length);
          return total === 0 ? (
            <Alert type="success" header="Nothing waits for you">
              You will find here what needs your approval, review, public key or content, who invites you, and who refuses.
            </Alert>
          ) : (
            <FactTable
              title="Waiting for you"
              counter={`(${total})`}
              description={waiting.join(', ')}
              items={open}
              rowKey={({ key }) => key}
              columns={columns}
              footer={total > open.length && `The first ${open.length} are shown. Others may follow as these are done.`}
            />
          );
        }}
      </LoadedView>
      {chosen !== undefined && (
        <UploadKey
          id={chosen}
          onClose={() => setChosen(undefined)}
          onDone={(ids) => {
            setChosen(undefined);
            setDone(ids.map((id) => `keys ${id}`));
            setTimeout(() => setDone([]), listedForMilliseconds);
            loaded.reload();
          }}
        />
      )}
      <MailSwitch />
    </ScreenFrame>
  );
}

/** Returns where an approval is given. From there the user goes on to the next one of the list. */
const reviewOf = ({ computation_id: id }: { computation_id: string }, domain: string) => ({
  href: addressOf({ screen: 'approve', domain, id }, { from: 'todo' }),
});

function tasksOf(todo: Schemas['Todo'], domain: string, askForKey: (id: string) => void): Task[] {
  const of = ({ computation_id: computation, name }: { computation_id: string; name: string }, key: string) => {
    const href = addressOf({ screen: 'computation', domain, id: computation });
    return { key: `${key} ${computation}`, name, computation, href, act: { href } };
  };
  const runOf = ({ computation_id: id, run_id: run }: Schemas['ReviewToGive']) => addressOf({ screen: 'run', domain, id, run });
  return [
    ...todo.approvals.map((task) => ({
      ...of(task, 'approvals'),
      action: 'Review and approve',
      act: reviewOf(task, domain),
      why: <Told kind="approval" id={task.computation_id} of={task.manifest_digest} otherwise={<Reasons of={task.because} />} />,
    })),
    ...todo.reviews.map((task) => ({
      ...of(task, `reviews ${task.run_id}`),
      action: 'Review the result of',
      act: { href: runOf(task) },
      why: <Told kind="review" id={task.computation_id} otherwise="A run completed" />,
    })),
    ...todo.keys.map((task) => ({
      ...of(task, 'keys'),
      action: 'Upload key to',
      act: { onClick: () => askForKey(task.computation_id) },
      why: <Told kind="key" id={task.computation_id} otherwise="Its manifest lacks your public key" />,
    })),
    ...todo.content.map(({ asset_id: id, file_name: name }) => {
      const href = addressOf({ screen: 'asset', domain, id });
      const why = <Told kind="content" id={id} otherwise="Your file has no content yet" />;
      return { key: id, name, href, action: 'Upload content of', act: { href }, why };
    }),
    ...todo.refusals.map((task) => ({
      ...of(task, `refusals ${task.user}`),
      action: 'Read why in',
      why: (
        <>
          <User of={task.user} /> refuses: <Quote of={task.reason} />
          <Since at={task.refused_at} />
        </>
      ),
    })),
    ...todo.invitations.map((task) => {
      const expected = expectedOf({ parts: task.expected, isInvited: true, owes: [] }).join('; ');
      return {
        ...of(task, 'invitations'),
        action: 'Open',
        why: <Told kind="key" id={task.computation_id} otherwise={`Expected of you: ${expected}`} />,
      };
    }),
  ];
}

interface ToldProps {
  kind: Parameters<typeof owedSince>[0]['kind'];
  /** The identifier of the computation, or of the asset without content. */
  id: string;
  /** The digest of the manifest to approve. With another, it is asked anew. */
  of?: string;
  /** The reason if nothing has changed that the user approved. */
  otherwise: ReactNode;
}

/** Shows what changed since the user's approval, the most harmful change first, or another reason; and since when that waits. */
function Told({ kind, id, of = '', otherwise }: ToldProps) {
  const { client, me } = useDomain();
  const ask = async (signal: AbortSignal) => {
    if (kind === 'content') return { since: (await client.getAsset({ id, signal })).created_at };
    const { events } = await client.listEvents({ id, limit: 100, signal });
    const since = owedSince({ kind }, me.user, events);
    if (kind !== 'approval') return { since };
    const [{ approvals }, computation] = await Promise.all([
      client.listApprovals({ id, signal }),
      client.getComputation({ id, signal }),
    ]);
    const mine = approvals.find(({ user }) => user === me.user);
    return { since, ...(mine && { changes: changeCards(mine, { computation, events }) }) };
  };
  return (
    <RowFact of={id + of} ask={ask}>
      {({ changes: [change, ...more] = [], since }: { since?: string | undefined; changes?: ChangeCard[] | undefined } = {}) => (
        <>
          {change ? <Change of={change} /> : otherwise}
          {change ? more.length > 0 && `; and ${more.length} more` : <Since at={since} />}
        </>
      )}
    </RowFact>
  );
}

function Reasons({ of }: { of: readonly string[] }) {
  return (
    <>
      Needed for <Names of={of} />
    </>
  );
}
