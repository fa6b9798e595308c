import * as v from 'valibot';
import { readEventOf, readStatement, type Sources, type StatementRequest } from '../evidence/index.ts';
import { parseDecision } from '../rows/result.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import { conflict } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import { queryPrefix } from '../table/table.ts';
import { resultStatementSchema } from './result-statement.ts';

/**
 * Returns the signed statement about the result of a run. The first request makes and stores it.
 * @throws ServiceError `not_found`; `conflict` before the result is released or withheld, and until its entry is in the stage's
 *   log; `unavailable`
 */
export const readResult = (sources: Sources, request: StatementRequest) =>
  readStatement(sources, request, {
    key: runKeys.resultEvidence(request.computationId, request.runId),
    refuse: ({ id, result }) => {
      if (!result) throw conflict('no_result', 'The run has no review of its result.', id);
      if (result.state !== 'released' && result.state !== 'withheld')
        throw conflict('result_open', 'The result is neither released nor withheld yet.', id);
    },
    acts: ['result'],
    pending: 'The decision on the result is not in the log yet. Try again in a moment.',
    state: async (table, run, common, readSnapshot) => {
      const { id, computation_id, started_at, result } = run;
      const since = result?.decisions.at(-1)?.decided_at ?? started_at;
      const [snapshot, items, event] = await Promise.all([
        readSnapshot(),
        queryPrefix(table, runKeys.partition(computation_id), runKeys.decisionsOf(id)),
        readEventOf(table, run, `result_${result?.state}`, since),
      ]);
      const decisions = items.map(parseDecision);
      const statement = v.parse(resultStatementSchema, {
        ...common,
        ...result,
        type: 'computation-result:v1',
        run: id,
        result_review: parseSnapshot([snapshot]).result_review,
        decisions: result?.decisions.map(({ reviewer }) => decisions.find((each) => each.reviewer === reviewer)),
        event,
      });
      return { statement, events: [event] };
    },
  });
