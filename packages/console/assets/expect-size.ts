import { type Schemas, ServiceProblem } from 'computation-management-client';
import { sizeText } from '../show/size-text.ts';

/** The content of the asset is that of another file. It stays. */
export class OtherContent extends ServiceProblem {}

/**
 * Checks that the content that has arrived can be that of the file: an earlier attempt may have sent another file.
 * @throws OtherContent if its size is another
 */
export function expectSize(
  { id, file_name, size }: Pick<Schemas['Asset'], 'id' | 'file_name' | 'size'>,
  file: { name: string; size: number },
): void {
  if (size === file.size) return;
  const detail = `${file_name} has the content of an earlier upload, of ${sizeText(size)}. Create another asset for ${file.name}, of ${sizeText(file.size)}.`;
  throw new OtherContent({ status: 409, code: 'conflict', detail, request: `upload of the asset ${id}` });
}
