import * as v from 'valibot';
import { computationRow } from '../computations/computation.ts';
import { entriesOf, pageEnvelope } from '../http/paging.ts';

export const computationPage = v.pipe(
  v.object({ computations: entriesOf(computationRow, 'The computations, newest first.'), ...pageEnvelope }),
  v.title('ComputationPage'),
  v.description('A page of a list of computations.'),
);
