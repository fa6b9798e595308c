import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../local/machine/listen.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { request, startServer, type Service } from './service.ts';

/** A service whose invocations end at once. */
const program = `
import { endpoint, service } from '@restatedev/restate-sdk';
endpoint().bind(service({ name: 'bench', handlers: { run: async () => 'done' } })).listen(Number(process.env.PORT));
`;

/** The server writes the invocations that come at the same time together. */
const fillers = 64;

/** To register the service, which takes a moment to start. */
const mostAttempts = 120;

/**
 * Starts Restate's server with a service, and fills it with invocations over HTTP. Its pages and totals are SQL over its
 * invocations, on the port of its administration. It has no counterpart of a report that ends a run.
 * @param directory where `@restatedev/restate-server` and `@restatedev/restate-sdk` are installed
 */
export async function startRestate(directory: string, rows: number): Promise<Service> {
  const home = mkdtempSync(join(tmpdir(), 'bench-restate-'));
  const [ingressPort, adminPort, fabricPort, servicePort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const at = (port: number) => `http://127.0.0.1:${port}`;
  const [ingress, admin] = [at(ingressPort), at(adminPort)];
  const stopServer = await startServer([join(directory, 'node_modules/.bin/restate-server')], {
    url: `${admin}/health`,
    environment: {
      RESTATE_BASE_DIR: home,
      RESTATE_NODE_NAME: 'bench',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${fabricPort}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      RESTATE_LOG_FILTER: 'error',
      DO_NOT_TRACK: '1',
    },
  });
  const stopService = await startServer([process.execPath, '--input-type=module', '--eval', program], {
    url: `${admin}/health`, // the service itself speaks HTTP/2 alone
    environment: { PORT: String(servicePort) },
    directory,
  });
  const register = () => request('POST', `${admin}/deployments`, { body: { uri: at(servicePort) } });
  for (let attempts = 1; ; attempts++) {
    try {
      await register();
      break;
    } catch (error) {
      if (attempts === mostAttempts) throw error;
      await delay(500);
    }
  }
  const send = async (query = '') => (await request('POST', `${ingress}/bench/run/send${query}`)) as { invocationId: string };
  const sql = async (query: string) =>
    (
      (await request('POST', `${admin}/query`, { headers: { accept: 'application/json' }, body: { query } })) as {
        rows: unknown[];
      }
    ).rows;
  const scheduled = '?delay=1d';
  // 62 of 100 are completed, as in the lists of this service.
  const fill = async (row: number) => {
    await send(row % 100 < 62 ? '' : scheduled);
  };
  await inParallel([...Array(rows).keys()], fill, fillers);
  const { invocationId } = await send();
  const left = `SELECT COUNT(*) AS count FROM sys_invocation WHERE status NOT IN ('completed', 'scheduled')`;
  while (((await sql(left))[0] as { count: number }).count > 0) await delay(500);
  const limit = 10;
  const page = async (where: string, offset: number) => {
    const rows = `SELECT id, target, status, created_at FROM sys_invocation ${where} ORDER BY created_at DESC LIMIT ${limit} OFFSET ${offset}`;
    await Promise.all([sql(rows), sql(`SELECT COUNT(*) AS total FROM sys_invocation ${where}`)]);
  };
  return {
    name: 'Restate',
    cases: {
      create: () => send(scheduled),
      'read one': () => sql(`SELECT * FROM sys_invocation WHERE id = '${invocationId}'`),
      'first page': () => page('', 0),
      'page at 90 %': () => page('', Math.floor(rows * 0.9)),
      'filtered page': () => page(`WHERE status = 'completed'`, 0),
      'total alone': () => sql('SELECT COUNT(*) AS total FROM sys_invocation'),
    },
    stop: async () => {
      await stopService();
      await stopServer();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
