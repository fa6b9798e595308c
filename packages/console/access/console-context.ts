import type { Client } from 'computation-management-client';
import { createContext, type ReactNode, use } from 'react';
import type { Me } from './permissions.ts';

/** The domain, the user and the client that every screen of a domain uses. */
interface DomainContext {
  domain: string;
  me: Me;
  /** Calls the API as the signed-in user, in the domain of the screen. */
  client: Client;
  /** The name of a simulated CVM that takes runs without being registered. Undefined unless CVMs are simulated. */
  exampleCvm: string | undefined;
}

export const DomainProvider = createContext<DomainContext | undefined>(undefined);

export function useDomain(): DomainContext {
  const context = use(DomainProvider);
  if (!context) throw new TypeError('useDomain needs a DomainProvider.');
  return context;
}

interface Frame {
  /** The element of the page in which a screen shows its breadcrumbs. */
  breadcrumbs: Element | null;
  /** Shows a message to the user above the screen, until the user closes it. */
  notify: (message: ReactNode) => void;
  /** Goes to the sign-in page, unless the user chooses to finish an upload. */
  signInAgain: () => Promise<void>;
}

export const FrameProvider = createContext<Frame>({
  breadcrumbs: null,
  notify: () => undefined,
  signInAgain: async () => undefined,
});

export function useFrame(): Frame {
  return use(FrameProvider);
}
