import { localKms } from '../../local/machine/kms.ts';
import { setEnvironment, type Endpoints } from '../../local/machine/environment.ts';

/** Sets the variables of the functions for tests that call them without a stack. */
export function setTestEnvironment(endpoints: Endpoints, logLevel: 'SILENT' | 'ERROR' = 'SILENT'): void {
  const times = { acceptInSeconds: 300, silenceInSeconds: 120, runInSeconds: 86_400, stopInSeconds: 120 };
  setEnvironment(endpoints, localKms(undefined), times, { logLevel });
}
