import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pem } from '../attestation/forge-certificates.ts';
import { forgeSnp, messageOf } from '../attestation/forge-snp.ts';

/**
 * `node test/packages/simulated-cvm/make-test-machine.ts KEYS`: makes packages/simulated-cvm/test-{machine.json,root.pem} from the private
 * keys that google/go-sev-guest publishes for tests in `testing/data/keys`.
 */
const [, , keys = ''] = process.argv;
const target = join(import.meta.dirname, '../../../packages/simulated-cvm');
const read = (name: string) => readFileSync(join(keys, `${name}_private_key.pem`));
const pair = (name: string) => ({ privateKey: createPrivateKey(read(name)), publicKey: createPublicKey(read(name)) });
const [ark, ask, vcek] = [pair('ark'), pair('ask'), pair('vcek')];
const [data, id] = [Buffer.alloc(64, 0xd5), Buffer.alloc(32, 0xd6)];
const { report, certificates } = forgeSnp({
  report: (bytes) => void (data.copy(bytes, 0x50), id.copy(bytes, 0x140)),
  signer: vcek,
  leaf: { key: vcek, signer: ask },
  intermediate: { key: ask, signer: ark },
  root: { key: ark, signer: ark },
});
const message = messageOf(report, certificates);
const machine = {
  about: 'The key is public, from google/go-sev-guest (Apache-2.0), for tests: evidence by it proves nothing.',
  key: vcek.privateKey.export({ format: 'pem', type: 'pkcs8' }),
  report: report.toString('base64', 0, 0x2a0),
  message: message.toString('base64'),
  dataAt: message.indexOf(data),
  idAt: message.indexOf(id),
  signatureAt: message.indexOf(report.subarray(0x2a0)),
};
writeFileSync(join(target, 'test-machine.json'), `${JSON.stringify(machine, null, 2)}\n`);
writeFileSync(join(target, 'test-root.pem'), pem(certificates[2] ?? Buffer.alloc(0)));
