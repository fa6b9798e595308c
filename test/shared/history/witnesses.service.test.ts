import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { appendEntries, checkpointText, openNote, signNote, vkeyOf } from 'computation-management-transparency-log';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withCosignatures, type Witness } from '../../../shared/history/witnesses.ts';

function newSigner(name: string, type?: 'cosignature') {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return { vkey: vkeyOf(name, raw, type), sign: (message: Uint8Array) => sign(null, message, privateKey) };
}

/** Starts a witness that knows a checkpoint of a size. @param signer what it signs with @param more lines that it adds */
async function startWitness(known: number, signer: ReturnType<typeof newSigner>, asked: string[], more = ''): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const [head = '', ...rest] = body.split('\n\n');
      const [old = ''] = head.split('\n');
      asked.push(old);
      if (old !== `old ${known}`) return response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${known}\n`);
      const cosigned = await signNote(`${rest[0] ?? ''}\n`, signer, 1_752_739_200);
      return response.end(cosigned.slice(cosigned.indexOf('\n\n') + 2) + more);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('withCosignatures', () => {
  it('adds the cosignature of a witness that knows another size, and no other line that it sends or that does not verify', async () => {
    vi.stubEnv('LOG_LEVEL', 'SILENT');
    vi.stubEnv('STAGE', 'test');
    onTestFinished(() => void vi.unstubAllEnvs());
    const entries = Array.from({ length: 5 }, (_, index) => new Uint8Array(64).fill(index));
    const { tiles, root, size } = await appendEntries(0, entries, () => Promise.resolve(undefined));
    const stored = new Map(tiles.map(({ path, bytes }) => [path, bytes]));
    const log = newSigner('log.example');
    const note = await signNote(checkpointText({ origin: 'log.example', size, root }), log);
    const [good, liar] = [newSigner('good.example', 'cosignature'), newSigner('liar.example', 'cosignature')];
    const asked: string[] = [];
    const forged = await signNote('another text\n', log); // in the name of the log: nobody could open the checkpoint
    const witnesses: Witness[] = [
      { url: await startWitness(2, good, asked, forged.slice(forged.indexOf('\n\n') + 2)), vkey: good.vkey },
      { url: await startWitness(4, newSigner('liar.example', 'cosignature'), []), vkey: liar.vkey },
    ];
    const cosigned = await withCosignatures({ note, size, before: 4 }, witnesses, (path) => Promise.resolve(stored.get(path)));
    const { signatures } = await openNote(cosigned, [log.vkey, good.vkey]);
    expect([signatures.map(({ name }) => name), asked]).toEqual([
      ['log.example', 'good.example'],
      ['old 4', 'old 2'],
    ]);
    expect(cosigned).not.toContain('liar.example');
  });
});
