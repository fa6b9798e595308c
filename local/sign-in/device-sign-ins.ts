import { randomInt, randomUUID } from 'node:crypto';
import type { Identity } from './identity.ts';

/** The errors of RFC 8628, section 3.5. */
export type NotYet = 'authorization_pending' | 'access_denied' | 'expired_token';

/** Sign-ins of devices, which wait until a user has decided about their code in a browser. */
export interface DeviceSignIns {
  begin: () => { device_code: string; user_code: string; expires_in: number; interval: number };
  /** @returns false if no sign-in waits with this code */
  decide: (userCode: string, decision: Identity | 'refused') => boolean;
  /** Gives the user once. */
  take: (deviceCode: string) => Identity | NotYet;
}

interface Waiting {
  userCode: string;
  expiresAt: number;
  decision: Identity | 'refused' | undefined;
}

const lifetimeInSeconds = 600;
const intervalInSeconds = 1;

/** Without vowels, so that no code is a word (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export function deviceSignIns(): DeviceSignIns {
  const signIns = new Map<string, Waiting>();
  const isOver = ({ expiresAt }: Waiting) => Date.now() >= expiresAt;
  return {
    begin: () => {
      for (const [code, signIn] of signIns) if (isOver(signIn)) signIns.delete(code);
      const device_code = randomUUID();
      const userCode = newUserCode();
      signIns.set(device_code, { userCode, expiresAt: Date.now() + lifetimeInSeconds * 1_000, decision: undefined });
      return { device_code, user_code: userCode, expires_in: lifetimeInSeconds, interval: intervalInSeconds };
    },
    decide: (userCode, decision) => {
      const typed = lettersOf(userCode);
      const found = [...signIns.values()].find((each) => lettersOf(each.userCode) === typed);
      if (!found || found.decision !== undefined || isOver(found)) return false;
      found.decision = decision;
      return true;
    },
    take: (deviceCode) => {
      const signIn = signIns.get(deviceCode);
      if (!signIn || isOver(signIn)) return 'expired_token';
      if (signIn.decision === undefined) return 'authorization_pending';
      signIns.delete(deviceCode);
      return signIn.decision === 'refused' ? 'access_denied' : signIn.decision;
    },
  };
}

function newUserCode(): string {
  const text = Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('');
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

function lettersOf(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
}
