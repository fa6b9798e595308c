import { Box, CopyToClipboard } from '@cloudscape-design/components';
import { type Client, findRows, page, type Schemas } from 'computation-management-client';
import { useDomain } from '../access/console-context.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { Name } from '../show/visible-texts.tsx';
import { Panel } from '../frame/panel.tsx';

type Run = Schemas['Run'];

interface Step {
  user: string;
  what: string;
  file?: string;
  command: string;
}

/**
 * Shows which users must send or fetch a file at the agent of a run now, with the command. Simulated CVMs, which nobody registers, need
 * nothing.
 */
export function AgentSteps({ run, events }: { run: Run; events: readonly Pick<Schemas['Event'], 'event_type'>[] }) {
  const { client, me } = useDomain();
  const phase = events.findLast(({ event_type }) => Object.hasOwn(stepsIn, event_type))?.event_type;
  const isWaiting =
    phase !== undefined && (run.ended_at === null || (phase === 'ConsumingResults' && run.status === 'completed'));
  const loaded = useLoaded(`${run.id} ${isWaiting ? phase : ''}`, async (signal) =>
    isWaiting ? await stepsOf(client, { run, phase, signal }) : undefined,
  );
  if (!loaded.value || loaded.value.steps.length === 0) return null;
  const { steps, agent } = loaded.value;
  return (
    <Panel
      title="What the parties do now"
      description={
        agent === null ? (
          'Ask the owner of the CVM for the address and the certificate of its agent.'
        ) : (
          <>
            The agent is at <Name of={agent} />. Ask the owner of the CVM for its certificate: the service could name another
            machine.
          </>
        )
      }
    >
      <ul className="timeline">
        {steps.map(({ user, what, file, command }) => (
          <li key={JSON.stringify([user, file])} className="long-words">
            <strong>{user === me.user ? 'You' : <Name of={user} />}</strong>: {what} {file !== undefined && <Name of={file} />}{' '}
            <Box variant="code">{command}</Box>{' '}
            <CopyToClipboard
              variant="icon"
              textToCopy={command}
              copyButtonAriaLabel={`Copy the command to ${what} ${file ?? ''}`}
              copySuccessText="Copied"
              copyErrorText="Not copied"
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Returns a function that lists, for each linked asset of a type, that its creator must send the file to the agent, with the command. */
const sending =
  (type: 'algorithm' | 'dataset', option: string) =>
  ({ run, inputs }: Given): Step[] =>
    inputs
      .filter(({ asset_type }) => asset_type === type)
      .map(({ created_by: user, file_name: file }) => {
        return { user, what: 'send', file, command: `cms send FILE ${option}${options(run)}` };
      });

/**
 * The functions that list what users must do at the agent after an event, by the type of the event. docs/participant.md explains the
 * commands.
 */
const stepsIn: Record<string, (given: Given) => Step[]> = {
  ReceivingAlgorithm: sending('algorithm', '--type TYPE '),
  ReceivingData: sending('dataset', ''),
  Running: () => [],
  ConsumingResults: ({ run, consumers }) =>
    consumers.map((user) => ({
      user,
      what: 'fetch the result',
      command: `cms result ${run.computation_id} --run ${run.id} ${ofParty}`,
    })),
};

/**
 * The options of commands at the agent whose files the party has itself: its key, and the agent's certificate, of which the service could
 * name a wrong one.
 */
const ofParty = '--key KEY --agent-certificate AGENT.pem';
const options = ({ computation_id, id }: Run) => `--computation ${computation_id} --run ${id} ${ofParty}`;

interface Given {
  run: Run;
  inputs: Pick<Schemas['AssetRow'], 'created_by' | 'file_name' | 'asset_type'>[];
  consumers: string[];
}

async function stepsOf(
  client: Client,
  { run, phase, signal }: { run: Run; phase: string; signal: AbortSignal },
): Promise<{ steps: Step[]; agent: string | null } | undefined> {
  const { matches } = await client.find({ q: run.cvm_id, kind: 'cvm', limit: 50, signal });
  if (!matches.some(({ id }) => id === run.cvm_id)) return undefined;
  const cvm = await client.getCvm({ cvmID: run.cvm_id, signal });
  const { assets, owner, consumers } = await client.getComputation({ id: run.computation_id, signal });
  const rows = await findRows(
    assets.map(({ id }) => id),
    (range) => page(client, 'listAssets', { ...range, signal }),
  );
  const inputs = [...rows.values()].filter(({ source }) => source === null); // the agent fetches the others
  return { steps: stepsIn[phase]?.({ run, inputs, consumers: [...new Set([owner, ...consumers])] }) ?? [], agent: cvm.agent_url };
}
