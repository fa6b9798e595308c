import * as v from 'valibot';
import { computationRow } from '../computations/computation.ts';
import { pageEnvelope } from '../http/paging.ts';

export const computationPage = v.pipe(
  v.object({ computations: v.array(computationRow), ...pageEnvelope }),
  v.title('ComputationPage'),
);
