import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '../../../local/machine/listen.ts';
import { request, startServer, startsPerService, type Service } from './service.ts';

interface FlowRun {
  id: string;
}

const mostAttempts = 120;

/**
 * Starts Prefect's server on SQLite and fills it with flow runs, all but the first directly in its database.
 * @param directory the virtual environment that Prefect is installed in
 */
export async function startPrefect(directory: string, rows: number): Promise<Service> {
  const home = mkdtempSync(join(tmpdir(), 'bench-prefect-'));
  const port = await freePort();
  const api = `http://127.0.0.1:${port}/api`;
  const environment = {
    PREFECT_HOME: home,
    PREFECT_SERVER_ANALYTICS_ENABLED: 'false',
    PREFECT_LOGGING_LEVEL: 'ERROR',
    PREFECT_UI_ENABLED: 'false',
    DO_NOT_TRACK: '1',
  };
  const command = [join(directory, 'bin/prefect'), 'server', 'start', '--host', '127.0.0.1', '--port', String(port)];
  const stopServer = await startServer(command, { url: `${api}/health`, environment });
  const post = (path: string, body: unknown) => request('POST', api + path, { body });
  const flow = (await post('/flows/', { name: 'bench' })) as FlowRun;
  const create = async (type = 'SCHEDULED') =>
    (await post('/flow_runs/', { flow_id: flow.id, name: 'survival', state: { type } })) as FlowRun;
  /** On a busy machine, its database answers some of them with 503. */
  const surelyCreate = async (type: string): Promise<FlowRun> => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await create(type);
      } catch (error) {
        if (attempts === mostAttempts) throw error;
      }
    }
  };
  const first = await surelyCreate('SCHEDULED');
  await surelyCreate('COMPLETED');
  fillDatabase(join(home, 'prefect.db'), first.id, rows);
  const started: string[] = [];
  const limit = 10;
  const page = (body: Record<string, unknown>) =>
    post('/flow_runs/paginate', { limit, sort: 'EXPECTED_START_TIME_DESC', ...body }).then(() => undefined);
  const setState = (id: string, type: string) => post(`/flow_runs/${id}/set_state`, { state: { type }, force: true });
  const pending: FlowRun[] = [];
  while (pending.length < startsPerService) pending.push(await surelyCreate('PENDING'));
  return {
    name: 'Prefect',
    cases: {
      create: () => create(),
      'read one': () => request('GET', `${api}/flow_runs/${first.id}`),
      'first page': () => page({ page: 1 }),
      'page at 90 %': () => page({ page: Math.floor((rows * 0.9) / limit) }),
      'filtered page': () => page({ page: 1, flow_runs: { state: { type: { any_: ['COMPLETED'] } } } }),
      'total alone': () => post('/flow_runs/count', {}),
      'start of a run': async () => {
        const run = pending.pop() ?? (await create('PENDING'));
        await setState(run.id, 'RUNNING');
        started.push(run.id);
      },
      'report of its end': () => setState(started.pop() ?? first.id, 'COMPLETED'),
    },
    stop: async () => {
      await stopServer();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Prefect writes to its database by itself, too. */
const waitForLockInMilliseconds = 60_000;

/** Copies a flow run. 62 of 100 are completed, as in the lists of this service. */
function fillDatabase(file: string, id: string, rows: number): void {
  const database = new DatabaseSync(file, { timeout: waitForLockInMilliseconds });
  try {
    const template = database.prepare('SELECT * FROM flow_run WHERE id = ?').get(id);
    if (!template) throw new Error('Prefect has not stored its first flow run.');
    const columns = Object.keys(template);
    const insert = database.prepare(`INSERT INTO flow_run (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
    database.exec('BEGIN IMMEDIATE');
    for (let row = 0; row < rows; row++) {
      const isCompleted = row % 100 < 62;
      const time = new Date(Date.UTC(2025, 0, 1) + row * 1_000).toISOString().replace('T', ' ').replace('Z', '');
      const changed: Record<string, string> = {
        id: randomUUID(),
        expected_start_time: time,
        state_type: isCompleted ? 'COMPLETED' : 'SCHEDULED',
        state_name: isCompleted ? 'Completed' : 'Scheduled',
      };
      insert.run(...columns.map((column) => changed[column] ?? template[column] ?? null));
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
