import { placeInDetail, placeText, type ServiceProblem } from 'computation-management-client';

/** The options and arguments whose values the service checks, by their place in the request. */
const typedAt = new Map(
  Object.entries({
    'path/domainID': 'The domain (of --domain, CMS_DOMAIN or the profile)',
    'path/cvmID': 'CVM',
    'path/id': 'ASSET',
    'query/cvm': '--cvm',
    'query/event_type': '--type',
    'query/offset': '--offset',
    'query/owner': '--owner',
    'query/run_id': '--run',
    'query/status': '--status',
    'query/user': '--user',
    '/agent_url': '--agent-url',
    '/approval': '--approval',
    '/asset/description': '--description',
    '/asset/file_name': '--name',
    '/asset/mime_type': '--mime-type',
    '/consumers': '--consumer',
    '/certificate': '--certificate',
    '/cvm_ids': '--cvm',
    '/description': '--description',
    '/expires_at': '--expires',
    '/key': 'FILE',
    '/name': '--name',
    '/owner': '--owner',
    '/providers': '--provider',
    '/signature': '--sign',
  }),
);

/** Returns the option or argument that gives the value at a place, without the place in a list. For `init`, the place itself. */
function typedAs(pointer: string, help: string): string | undefined {
  const place = pointer.replace(/\/\d+$/, '');
  if (help === 'cms init --help' && place.startsWith('/')) return typedAt.has(place) ? pointer : undefined;
  if (help === 'cms computation create --help' && place === '/name') return 'NAME';
  return typedAt.get(place);
}

/** Whether everything that is invalid was typed on the command line, or is in the file of `init`. */
export function isTyped({ errors }: ServiceProblem, { help }: { help: string }): boolean {
  return errors.length > 0 && errors.every(({ pointer }) => typedAs(pointer, help) !== undefined);
}

export function mistake({ pointer, detail }: ServiceProblem['errors'][number], { help }: { help: string }): string {
  return `${typedAs(pointer, help) ?? pointer}: ${detail}`;
}

/** The places of a request that are invalid, except the one that the detail names already. */
export function placesOf(problem: ServiceProblem): string[] {
  const named = placeInDetail(problem);
  return problem.errors.filter((place) => place !== named).map((place) => `  ${placeText(place)}`);
}
