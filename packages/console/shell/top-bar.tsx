import { TopNavigation } from '@cloudscape-design/components';
import { applyMode, Mode } from '@cloudscape-design/global-styles';
import type { ReactNode } from 'react';
import { addressOf, navigate, type Place } from '../routing/index.ts';
import type { Session } from '../sign-in/session.ts';
import { helpOf, helpPages } from '../help/html-page.ts';

interface Props {
  session: Session;
  screen: Place['screen'];
  domain: string | undefined;
  domains: readonly string[];
  /** The field that searches the domain. Undefined on a screen that belongs to no domain. */
  children: ReactNode;
}

/** Shows the bar above every screen: the domain, the help and the user. */
export function TopBar({ session: { user, roles, signOut }, screen, domain, domains, children }: Props) {
  return (
    <TopNavigation
      search={children}
      i18nStrings={{ searchIconAriaLabel: 'Find', searchDismissIconAriaLabel: 'Close the search' }}
      identity={{ href: addressOf({ screen: 'home' }), title: 'Computations' }}
      utilities={[
        {
          type: 'menu-dropdown',
          text: domain ?? 'Choose a domain',
          title: 'Domain',
          ariaLabel: domain === undefined ? 'Choose a domain' : `Domain: ${domain}`,
          items: domains.map((name) => ({ id: name, text: name, itemType: 'checkbox', checked: name === domain })),
          onItemClick: ({ detail }) => navigate(addressOf({ screen: 'computations', domain: detail.id })),
        },
        {
          type: 'button',
          text: '?',
          ariaLabel: 'Help on this screen',
          href: `/help/${helpOf[screen]}`,
          target: '_blank',
          rel: 'noreferrer',
        },
        {
          type: 'menu-dropdown',
          text: 'Help',
          title: 'Help',
          items: [
            ...helpPages.map(({ name, title }) => ({ id: name, text: title, href: `/help/${name}.html` })),
            { id: 'verify', text: 'Verify evidence', href: addressOf({ screen: 'verify' }) },
          ].map((item) => ({ ...item, external: true, externalIconAriaLabel: 'in a new tab' })),
        },
        {
          type: 'menu-dropdown',
          text: user,
          ariaLabel: `User: ${user}`,
          iconName: 'user-profile',
          description: roles[domain ?? '']?.join(', ') ?? '',
          items: [{ id: 'sign-out', text: 'Sign out' }],
          onItemClick: () => void signOut(),
        },
      ]}
    />
  );
}

const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

/** Shows the console in dark colours while the system of the user prefers them. */
export function followAppearance(): void {
  const apply = () => {
    applyMode(systemIsDark.matches ? Mode.Dark : Mode.Light);
    document.documentElement.style.colorScheme = systemIsDark.matches ? 'dark' : 'light';
  };
  systemIsDark.addEventListener('change', apply);
  apply();
}
