import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createClient, issueLocalToken } from 'computation-management-client';
import { startDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { freePort } from '../../../local/machine/listen.ts';
import { localCredentials, local } from '../../../local/machine/environment.ts';
import { documentClient } from '../../../shared/table/table.ts';
import { callAs } from '../../../test/support/ready-computation.ts';
import { readyComputations } from '../../../test/support/builders-ready-computations.ts';
import { patientDeadline } from '../../../test/support/embedded-table.ts';
import { agentEvent } from '../../../test/support/lifecycle-stack.ts';
import { request, startServer } from '../http/service.ts';

export type ChangeKind = 'create' | 'start' | 'end';

/** How many there are. */
interface Counts {
  computations: number;
  runs: number;
  completed: number;
}

export interface BusyService {
  /** Changes in one domain, over HTTP. They throw unless they are made. */
  changes: Record<ChangeKind, () => Promise<void>>;
  /** Counts what was made, and what the lists contain when the runs have ended, which happens behind the answers. */
  count: () => Promise<{ made: Counts; listed: Counts }>;
  stop: () => Promise<void>;
}

const domain = 'bench';
/** Active from the beginning, so that each end is that of a run that was started well before. */
const activeRuns = 30;
const mostLooks = 150;

/** Starts the service on this machine, in processes of its own, with so many computations that runs may be started of. */
export async function startBusyService(starts: number): Promise<BusyService> {
  const engine = await startDynamoDb();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = { PORT: String(port), DYNAMODB_ENDPOINT: engine.endpoint, LOG_LEVEL: 'ERROR' };
  const command = [process.execPath, 'local/start.ts', '--no-console', '--no-simulator'];
  const stopServer = await startServer(command, { url, environment });
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
  const document = documentClient(client);
  const groups = [`${domain}:administrator`, `${domain}:cvm`];
  const token = await issueLocalToken({ baseUrl: url, sub: 'alice', groups });
  const table = { name: local.tableName, document, deadline: patientDeadline };
  const ready = await readyComputations(table, callAs(url, token), domain, starts + activeRuns);

  const headers = { authorization: `Bearer ${token}` };
  const post = (path: string, body?: unknown) =>
    request('POST', `${url}/${domain}${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const reader = createClient({ baseUrl: url, domain, token });
  const completed = async () => (await reader.listRuns({ limit: 1, status: 'completed' })).total;
  const made: Counts = { computations: ready.length, runs: 0, completed: 0 };
  const started: Promise<{ run: string; cvm: string }>[] = [];
  let ended = 0;
  const changes: BusyService['changes'] = {
    create: async () => {
      await post('/computations', { name: 'Survival after resection' });
      made.computations += 1;
    },
    start: async () => {
      const cvm = `cvm-${started.length + 1}`;
      const run = post(`/computations/${ready.pop() ?? ''}/run?cvm=${cvm}`);
      started.push(run.then((id) => ({ run: String(id), cvm })));
      await started.at(-1);
      made.runs += 1;
    },
    end: async () => {
      const { run, cvm } = (await started[ended++]) ?? { run: '', cvm: '' };
      await post(`/cvms/${cvm}/reports`, { reports: [agentEvent(run, 'Complete', 'Completed')] });
      made.completed += 1;
    },
  };
  while (started.length < activeRuns) await changes.start();
  return {
    changes,
    count: async () => {
      for (let look = 0; look < mostLooks && (await completed()) < made.completed; look++) await delay(200);
      const listed = {
        computations: (await reader.listComputations({ limit: 1 })).total,
        runs: (await reader.listRuns({ limit: 1 })).total,
        completed: await completed(),
      };
      return { made, listed };
    },
    stop: async () => {
      document.destroy();
      await stopServer();
      await engine.stop();
    },
  };
}
