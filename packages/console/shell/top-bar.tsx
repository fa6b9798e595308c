import { TopNavigation } from '@cloudscape-design/components';
import { applyMode, Mode } from '@cloudscape-design/global-styles';
import { type ReactNode, useState } from 'react';
import { navigate } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { helpPages } from '../help/html-page.ts';

interface Props {
  user: string;
  roles: readonly string[];
  domain: string | undefined;
  domains: readonly string[];
  /** The field that searches the domain. Undefined on a screen that belongs to no domain. */
  search: ReactNode;
  signOut: () => void;
}

/** Shows the bar above every screen: the domain, the help, the appearance and the user. */
export function TopBar({ user, roles, domain, domains, search, signOut }: Props) {
  const [appearance, setAppearance] = useState(chosenAppearance);
  const choose = (id: string) => {
    localStorage.setItem(key, id);
    applyAppearance();
    setAppearance(chosenAppearance);
  };
  return (
    <TopNavigation
      search={search}
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
          iconName: 'settings',
          ariaLabel: 'Appearance',
          title: 'Appearance',
          items: appearances.map((id) => ({
            id,
            text: id.charAt(0).toUpperCase() + id.slice(1),
            itemType: 'checkbox',
            checked: id === appearance,
          })),
          onItemClick: ({ detail }) => choose(detail.id),
        },
        {
          type: 'menu-dropdown',
          text: user,
          ariaLabel: `User: ${user}`,
          iconName: 'user-profile',
          description: roles.join(', '),
          items: [{ id: 'sign-out', text: 'Sign out' }],
          onItemClick: signOut,
        },
      ]}
    />
  );
}

const appearances = ['system', 'light', 'dark'] as const;
type Appearance = (typeof appearances)[number];

const key = 'console.appearance';
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

/** Returns the appearance of the console, such as dark, that the user chose on this device. */
function chosenAppearance(): Appearance {
  const kept = localStorage.getItem(key);
  return appearances.find((appearance) => appearance === kept) ?? 'system';
}

/** Applies the appearance that the user chose to the page. If the choice is to follow the system, follows its changes. */
export function followAppearance(): void {
  systemIsDark.addEventListener('change', applyAppearance);
  applyAppearance();
}

function applyAppearance(): void {
  const chosen = chosenAppearance();
  const isDark = chosen === 'dark' || (chosen === 'system' && systemIsDark.matches);
  applyMode(isDark ? Mode.Dark : Mode.Light);
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
}
