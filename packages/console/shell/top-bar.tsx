import TopNavigation from '@cloudscape-design/components/top-navigation';
import { useState } from 'react';
import { addressOf } from '../routing/places.ts';
import { navigate } from '../routing/navigation.ts';
import { type Appearance, appearances, chooseAppearance, chosenAppearance } from './appearance.ts';

const appearanceTexts: Record<Appearance, string> = { system: 'System', light: 'Light', dark: 'Dark' };

interface Props {
  user: string;
  roles: readonly string[];
  domain: string | undefined;
  domains: readonly string[];
  signOut: () => void;
}

/** The bar above every screen: the domain, the appearance and the user. */
export function TopBar({ user, roles, domain, domains, signOut }: Props) {
  const [appearance, setAppearance] = useState(chosenAppearance);
  const choose = (id: string) => {
    const chosen = appearances.find((known) => known === id) ?? 'system';
    chooseAppearance(chosen);
    setAppearance(chosen);
  };
  return (
    <TopNavigation
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
          iconName: 'settings',
          ariaLabel: 'Appearance',
          title: 'Appearance',
          items: appearances.map((id) => ({
            id,
            text: appearanceTexts[id],
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
