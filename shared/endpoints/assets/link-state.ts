import * as v from 'valibot';
import { idOfAsset, idOfComputation } from '../../identifier-schemas.ts';

/** The state of a link after it was made or removed. `title` names the schema in the OpenAPI document. */
export function linkState<const Linked extends boolean>(linked: Linked, title: string) {
  return v.pipe(
    v.object({
      asset_id: idOfAsset,
      computation_id: idOfComputation,
      linked: v.pipe(v.literal(linked), v.description('Whether the asset is linked to the computation after the request.')),
    }),
    v.title(title),
    v.description(linked ? 'A link that exists.' : 'A link that no longer exists.'),
  );
}
