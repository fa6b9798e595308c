import { type Schemas, ServiceProblem } from '../../client/index.ts';
import { sizeText } from '../show/size-text.ts';

/**
 * Checks that the content that has arrived can be that of the file: an earlier attempt may have sent another file.
 * @throws ServiceProblem if its size is another
 */
export function expectSize(
  { id, file_name, size }: Pick<Schemas['Asset'], 'id' | 'file_name' | 'size'>,
  file: { name: string; size: number },
): void {
  if (size === file.size) return;
  const detail = `${file_name} has the content of an earlier upload, of ${sizeText(size)}. Create another asset for ${file.name}, of ${sizeText(file.size)}.`;
  throw new ServiceProblem({ status: 409, code: 'conflict', detail, request: `upload of the asset ${id}` });
}
