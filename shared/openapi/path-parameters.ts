import type { JsonSchema } from '@valibot/to-json-schema';
import { cvmId, domainId, identifier } from '../text.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** The parameters in a path such as `/{domainID}/computations/{id}`, as OpenAPI writes them. */
export function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, in: 'path', required: true, ...described(name) }));
}

function described(name: string): { description: string; schema: JsonSchema } {
  switch (name) {
    case 'domainID':
      return { description: 'The domain.', schema: jsonSchemaOf(domainId, 'input') };
    case 'cvmID':
      return { description: 'The CVM.', schema: jsonSchemaOf(cvmId, 'input') };
    case 'computationID':
      return { description: 'The computation.', schema: jsonSchemaOf(identifier, 'input') };
    default:
      return { description: 'The resource.', schema: jsonSchemaOf(identifier, 'input') };
  }
}
