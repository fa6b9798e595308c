import { expect, it } from 'vitest';
import { readCvm } from '../../../shared/cvms/read-cvms.ts';
import { registerCvm } from '../../../shared/cvms/change-cvm.ts';
import { recordPresence } from '../../../shared/runs/record-presence.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

it.each([
  ['had reported that it is ready', 'late-word', 'ready'],
  ['had reported nothing', 'first-word', undefined],
] as const)(
  'keeps a CVM that %s spent when its gateway reports a busy state that it read before the end of the run',
  async (_what, cvmId, first) => {
    const cvm = { domain: 'd1', cvmId };
    const { table } = embedded;
    const read = () => getItem(table, cvmKeys.cvm(cvm.domain, cvm.cvmId));
    const fit = async () => (await readCvm(table, cvm, at(9))).presence.fit;
    await registerCvm(table, { ...cvm, given: { description: '' }, now: at(0) });
    await recordPresence(table, { ...cvm, now: at(1), by: 'g' }, await read(), { fit: first });
    const before = await read();
    await recordPresence(table, { ...cvm, now: at(2), by: 'g' }, before, { fit: 'spent' });
    await recordPresence(table, { ...cvm, now: at(3), by: 'g' }, before, { fit: 'busy' });
    expect(await fit()).toBe('spent');
    await recordPresence(table, { ...cvm, now: at(4), by: 'g' }, await read(), { fit: 'ready' });
    await recordPresence(table, { ...cvm, now: at(5), by: 'g' }, await read(), { fit: 'busy' });
    expect(await fit()).toBe('busy');
  },
);
