import { describe, expect, it } from 'vitest';
import { answerAsked } from '../../../shared/releases/broker.ts';
import { releaseKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

/** Asks a user's broker at second 0, and returns how the user answers. */
async function asked(id: string) {
  const key = releaseKeys.ask('d1', 'alice', id);
  const times = { asked_at: at(0), expires_at: at(20), ttl: 0 };
  await putItem(embedded.table, { ...key, id, asset: 'a', computation_id: 'c', run_id: 'r', session: 's', ...times });
  const answer = (refusal: string, seconds: number) =>
    answerAsked(embedded.table, {
      domain: 'd1',
      by: 'alice',
      id,
      answer: { refusal },
      now: at(seconds),
      answerKeeper: undefined,
    });
  const kept = async () => (await getItem(embedded.table, key))?.['answer'];
  return { answer, kept };
}

describe('the answer of a broker', () => {
  it('is taken until 20 seconds after the question, and then refused', async () => {
    const early = await asked('early');
    expect(await early.answer('No.', 19)).toMatchObject({ id: 'early', asset: 'a', run: 'r' });
    const late = await asked('late');
    await expect(late.answer('No.', 20)).rejects.toThrow('waited for 20 seconds');
    expect(await late.kept()).toBeUndefined();
  });

  it('is taken once, the first one', async () => {
    const { answer, kept } = await asked('twice');
    await answer('The first.', 1);
    await expect(answer('The second.', 2)).rejects.toThrow('answered before');
    expect(await kept()).toMatchObject({ refusal: 'The first.' });
  });

  it('is taken once of two that come at once', async () => {
    const { answer } = await asked('at-once');
    const answers = await Promise.allSettled([answer('One.', 1), answer('Other.', 1)]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
