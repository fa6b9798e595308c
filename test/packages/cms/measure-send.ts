import { generateKeyPairSync } from 'node:crypto';
import { closeSync, openSync, rmSync, ftruncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fork } from 'node:child_process';
import { sendAlgorithm } from '../../../packages/cms/agent/agent-calls.ts';
import { AgentConnection } from '../../../packages/cms/agent/agent-connection.ts';
import { startStandInAgent } from '../../support/stand-in-agent.ts';

/** Sends 1 GiB to a stand-in agent in another process, over TLS, and prints how much memory the sender took. */
const pair = generateKeyPairSync('ed25519');
const [role, userKey = ''] = process.argv.slice(2);
if (role === 'agent') {
  const { address, fingerprint } = await startStandInAgent({ userKey });
  process.send?.({ address, fingerprint });
} else {
  const file = join(tmpdir(), `one-gibibyte-${process.pid}`);
  const opened = openSync(file, 'w');
  ftruncateSync(opened, 1024 ** 3);
  closeSync(opened);
  const child = fork(import.meta.filename, ['agent', pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')]);
  const agent = await new Promise<{ address: string; fingerprint: string }>((resolve) =>
    child.once('message', (message) => resolve(message as never)),
  );
  const connection = await AgentConnection.open({ ...agent, tls: {}, signal: new AbortController().signal });
  const startedAt = performance.now();
  await sendAlgorithm(connection, { file, key: pair.privateKey, type: 'bin', args: [], onProgress: () => undefined });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`1 GiB in ${seconds} s, at most ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB of memory.`);
  connection.close();
  child.kill();
  rmSync(file);
}
