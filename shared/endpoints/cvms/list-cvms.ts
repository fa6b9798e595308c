import * as v from 'valibot';
import { cvmSchema } from '../../cvms/cvm.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { entriesOf, pageEnvelope, paging } from '../../http/paging.ts';
import type { Route } from '../../http/route.ts';
import { strictObject } from '../../strict-object.ts';
import { reads } from '../../uses.ts';
import { cvm } from '../samples.ts';

export const route = {
  name: 'cvms/list-cvms',
  method: 'GET',
  path: '/{domainID}/cvms',
  summary: 'List registered CVMs, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list CVMs.',
} as const satisfies Route;

export const contract = {
  query: strictObject({ ...paging }),
  status: 200,
  response: v.pipe(
    v.object({ cvms: entriesOf(cvmSchema, 'The registered CVMs, newest first.'), ...pageEnvelope }),
    v.title('CvmPage'),
    v.description('A page of the list of CVMs.'),
  ),
} as const satisfies Contract;

export const examples = { response: { cvms: [cvm], limit: 10, offset: 0, total: 1 } } satisfies Examples<typeof contract>;
