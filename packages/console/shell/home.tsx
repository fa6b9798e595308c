import { Alert, Link } from '@cloudscape-design/components';
import { useEffect } from 'react';
import { redirect } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Panel } from '../frame/panel.tsx';

/** Goes to the user's only domain, or shows the domains to choose from. */
export function Home({ domains }: { domains: string[] }) {
  const [only] = domains.length === 1 ? domains : [];
  useEffect(() => {
    if (only !== undefined) redirect(addressOf({ screen: 'computations', domain: only }));
  }, [only]);
  return (
    <ScreenFrame title="Domains" above={[]}>
      <DomainLinks domains={domains} />
    </ScreenFrame>
  );
}

/** Shows that the address names a domain in which the user has no role. */
export function NoDomain({ domain, domains }: { domain: string; domains: string[] }) {
  return (
    <ScreenFrame title="No access" above={[]}>
      <Alert type="warning" header={`You have no role in the domain ${domain}`}>
        Ask an administrator of the domain for a role, then sign in again.
      </Alert>
      <DomainLinks domains={domains} />
    </ScreenFrame>
  );
}

export function NoSuchScreen() {
  return (
    <ScreenFrame title="No such page" above={[]}>
      <Alert type="warning" header="The console has no page at this address">
        <Link href={addressOf({ screen: 'home' })}>Go to the start</Link>
      </Alert>
    </ScreenFrame>
  );
}

function DomainLinks({ domains }: { domains: string[] }) {
  if (domains.length === 0) {
    return (
      <Alert type="info" header="You have no role in any domain">
        Ask an administrator for a role, then sign in again.
      </Alert>
    );
  }
  return (
    <Panel title="Your domains">
      <ul>
        {domains.map((domain) => (
          <li key={domain}>
            <Link href={addressOf({ screen: 'computations', domain })}>{domain}</Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
