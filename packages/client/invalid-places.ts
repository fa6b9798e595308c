import type { ServiceProblem } from './service-problem.ts';

type Place = ServiceProblem['errors'][number];

/** Returns what is invalid at a place of a request, in the words of the service. */
export function placeText({ pointer, detail }: Place): string {
  return `${pointer || 'The body'}: ${detail}`;
}

/** Returns the place that the `detail` of a problem is about. It need not be shown again. */
export function placeInDetail({ detail, errors }: ServiceProblem): Place | undefined {
  return errors.find((place) => [place.detail, placeText(place)].includes(detail));
}
