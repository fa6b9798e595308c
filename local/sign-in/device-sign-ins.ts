import { randomInt, randomUUID } from 'node:crypto';
import type { Identity } from './identity.ts';

/** The codes that tell why a device gets no token (RFC 8628, section 3.5), with the text for each. */
export const notYet = {
  authorization_pending: 'The user has not decided yet.',
  access_denied: 'The user refused.',
  expired_token: 'The code has expired.',
};
export type NotYet = keyof typeof notYet;

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
  /** The time at which the sign-in expires, by `performance.now()`. */
  expiresAt: number;
  decision: Identity | 'refused' | undefined;
}

const lifetimeInSeconds = 600;
const intervalInSeconds = 1;

/** The letters of user codes. They have no vowels, so that no code is a word (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export function deviceSignIns(): DeviceSignIns {
  const signIns = new Map<string, Waiting>();
  const isOver = ({ expiresAt }: Waiting) => performance.now() >= expiresAt;
  return {
    begin: () => {
      for (const [code, signIn] of signIns) if (isOver(signIn)) signIns.delete(code);
      const device_code = randomUUID();
      const user_code = newUserCode();
      const expiresAt = performance.now() + lifetimeInSeconds * 1_000;
      signIns.set(device_code, { userCode: user_code, expiresAt, decision: undefined });
      return { device_code, user_code, expires_in: lifetimeInSeconds, interval: intervalInSeconds };
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
