import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { keysInKms, openKms } from '../../shared/runtime/kms.ts';

/** Called in place of a call of KMS, with the name of its action, such as `Sign`, and the call itself. */
export type AroundCall = <Result>(action: string, call: () => Promise<Result>) => Promise<Result>;

/** Puts `around` before every call that this process makes to KMS. The functions' environment must be set. */
export function aroundKms(around: AroundCall): void {
  const real = openKms(() => new Deadline());
  replaceClient(keysInKms, () => ({
    publicKey: (...given) => around('GetPublicKey', () => real.publicKey(...given)),
    sign: (...given) => around('Sign', () => real.sign(...given)),
    newDataKey: (...given) => around('GenerateDataKey', () => real.newDataKey(...given)),
    openDataKey: (...given) => around('Decrypt', () => real.openDataKey(...given)),
  }));
}
