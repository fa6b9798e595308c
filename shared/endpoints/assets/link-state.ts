import * as v from 'valibot';
import { identifier } from '../../identifier-schemas.ts';

/** The state of a link after it was made or removed. `title` names the schema in the OpenAPI document. */
export function linkState<const Linked extends boolean>(linked: Linked, title: string) {
  return v.pipe(v.object({ asset_id: identifier, computation_id: identifier, linked: v.literal(linked) }), v.title(title));
}
