import { Alert, AppLayoutToolbar, Badge, Flashbar, Link, SideNavigation } from '@cloudscape-design/components';
import { createClient } from 'computation-management-client';
import { lazy, type MouseEvent, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { DomainProvider, FrameProvider, meIn, useDomain, visibleDomains } from '../access/index.ts';
import { addressOf, followLink, type Place, placeOf, redirect, useAddress } from '../routing/index.ts';
import { learnServiceTime } from '../show/index.ts';
import type { Session } from '../sign-in/session.ts';
import { CurrentScreen } from './current-screen.tsx';
import { focusTitle, keepFocus, Panel, ScreenFrame } from '../frame/index.ts';
import { refreshSeconds, SignInAgain, useLoaded } from '../loading/index.ts';
import { TopBar } from './top-bar.tsx';
import { useNarrow } from '../lists/index.ts';

// Nobody needs it before a screen is there.
const SearchBox = lazy(() => import('./search-box.tsx'));

/** Shows the whole console: the bars, the messages, and the screen of the present address. */
export function Shell({ session }: { session: Session }) {
  const { pathname } = useAddress();
  const place = useMemo(() => placeOf(pathname), [pathname]);
  const domains = useMemo(() => visibleDomains(session.roles), [session]);
  const domain = place && 'domain' in place ? place.domain : undefined;
  const context = useDomainContext(session, domains, domain);
  const { notices, notify } = useNotice(pathname);
  const expiryNotices = useExpiryNotice(session);
  const [breadcrumbs, setBreadcrumbs] = useState<Element | null>(null);
  const [isNavigationOpen, setNavigationOpen] = useState(() => window.innerWidth > 900);
  useEffect(keepFocus, []);
  const { signInAgain } = session;
  const frame = useMemo(() => ({ breadcrumbs, notify, signInAgain }), [breadcrumbs, notify, signInAgain]);

  return (
    <div onClick={followLink} role="presentation">
      <SkipLink />
      <DomainProvider value={context}>
        <div id="top-bar" className="top-bar">
          <TopBar {...{ session, domain, domains }} screen={place?.screen ?? 'home'}>
            {context && (
              <Suspense>
                <SearchBox key={domain} />
              </Suspense>
            )}
          </TopBar>
        </div>
        <FrameProvider value={frame}>
          <AppLayoutToolbar
            headerSelector="#top-bar"
            stickyNotifications
            toolsHide
            navigationHide={!context}
            navigation={
              context &&
              place && (
                // The layout may render it once more after the user has left the domain.
                <DomainProvider value={context}>
                  <SideBar place={place} />
                </DomainProvider>
              )
            }
            navigationOpen={isNavigationOpen}
            onNavigationChange={({ detail }) => setNavigationOpen(detail.open)}
            breadcrumbs={<div ref={setBreadcrumbs} />}
            notifications={
              // A sign-in that has expired needs more room than a narrow window can spare.
              <div className={expiryNotices.length === 0 ? 'notices' : undefined}>
                <Flashbar items={[...expiryNotices, ...notices]} />
              </div>
            }
            content={<div id="content">{contentOf({ place, domains, domain })}</div>}
          />
        </FrameProvider>
      </DomainProvider>
    </div>
  );
}

/** Shows the link that skips the bars of the console: the first stop of the Tab key. */
function SkipLink() {
  const skip = (event: MouseEvent) => {
    event.preventDefault(); // the address stays
    focusTitle();
  };
  return (
    <a className="skip-link" href="#content" onClick={skip}>
      Skip to the content
    </a>
  );
}

function contentOf({ place, domains, domain }: { place: Place | undefined; domains: string[]; domain: string | undefined }) {
  if (!place) return <Domains title="No such page" why="The console has no page at this address" domains={domains} />;
  if (domain === undefined) return <Home domains={domains} />;
  if (!domains.includes(domain)) {
    return <Domains title="No access" why={`You have no role in the domain ${domain}`} domains={domains} />;
  }
  return <CurrentScreen key={addressOf(place)} place={place} />;
}

async function fetchAndLearn(request: Request): Promise<Response> {
  const sentAt = Date.now();
  const response = await fetch(request);
  learnServiceTime(response, sentAt);
  return response;
}

function useDomainContext(session: Session, domains: string[], domain: string | undefined) {
  return useMemo(() => {
    if (domain === undefined || !domains.includes(domain)) return undefined;
    const client = createClient({
      baseUrl: session.api,
      domain,
      token: session.token,
      retry: { attempts: 3 },
      fetch: fetchAndLearn,
    });
    return { domain, me: meIn(session.user, session.roles[domain] ?? []), client, exampleCvm: session.exampleCvm };
  }, [session, domains, domain]);
}

/** Keeps the latest message to the user until it is closed, or the user goes to another path than that at which it was first shown. */
function useNotice(pathname: string) {
  const [notice, setNotice] = useState<{ text: ReactNode; shownAt: string | undefined }>();
  const notify = useCallback((text: ReactNode) => setNotice({ text, shownAt: undefined }), []);
  if (notice && notice.shownAt !== pathname)
    setNotice(notice.shownAt === undefined ? { ...notice, shownAt: pathname } : undefined);
  const onDismiss = () => setNotice(undefined);
  const type = 'success' as const;
  const notices = notice ? [{ type, content: notice.text, dismissible: true, dismissLabel: 'Close the message', onDismiss }] : [];
  return { notices, notify };
}

/** Returns the message that asks the user to sign in again, if the sign-in has expired while a form or an upload was not finished. */
function useExpiryNotice({ expired }: Session) {
  const [hasExpired, setExpired] = useState(false);
  useEffect(() => void expired.then(() => setExpired(true)), [expired]);
  if (!hasExpired) return [];
  return [
    {
      type: 'warning' as const,
      header: 'Your sign-in has expired',
      content:
        'What you have typed stays here until you sign in again: keep a copy of it. An upload goes on until the file has arrived.',
      action: <SignInAgain />,
    },
  ];
}

/** Goes to the user's only domain, or shows the domains to choose from. */
function Home({ domains }: { domains: string[] }) {
  const [only] = domains.length === 1 ? domains : [];
  useEffect(() => {
    if (only !== undefined) redirect(addressOf({ screen: 'todo', domain: only }));
  }, [only]);
  return <Domains title="Domains" why={domains.length === 0 ? 'You have no role in any domain' : undefined} domains={domains} />;
}

/**
 * Shows the user's domains to choose from.
 * @param why the reason why there is no other screen at the address
 */
function Domains({ title, why, domains }: { title: string; why: string | undefined; domains: string[] }) {
  return (
    <ScreenFrame title={title} above={[]}>
      {why !== undefined && (
        <Alert type="warning" header={why}>
          To see a domain, ask an administrator of the domain for a role, then sign in again.
        </Alert>
      )}
      {domains.length > 0 && (
        <Panel title="Your domains">
          <ul>
            {domains.map((domain) => (
              <li key={domain}>
                <Link href={addressOf({ screen: 'todo', domain })}>{domain}</Link>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </ScreenFrame>
  );
}

const screens = [
  ['todo', 'To do'],
  ['computations', 'Computations'],
  ['runs', 'Runs'],
  ['assets', 'Assets'],
  ['cvms', 'CVMs'],
  ['statistics', 'Statistics'],
] as const;

/** Shows the side bar of the console: links to the screens of the domain, and the number of tasks that wait for the user. */
function SideBar({ place }: { place: Place }) {
  const { domain, client } = useDomain();
  const isNarrow = useNarrow();
  const links = screens.map(([screen, text]) => ({ screen, text, href: addressOf({ screen, domain }) }));
  const waiting = useLoaded(
    `${domain} ${place.screen}`,
    async (signal) => {
      const { totals } = await client.getTodo({ signal });
      return Object.values(totals).reduce((sum, total) => sum + total) - totals.invitations;
    },
    { everySeconds: refreshSeconds.sideBar },
  );
  return (
    <>
      {/* In a narrow window, it hides the screen with its title. */}
      {isNarrow && <h1 className="only-heard">Screens</h1>}
      <SideNavigation
        header={{ text: domain, href: addressOf({ screen: 'todo', domain }) }}
        activeHref={links.findLast(({ href }) => addressOf(place).startsWith(href))?.href ?? ''}
        items={links.map(({ screen, text, href }) => ({
          type: 'link',
          text,
          href,
          info: screen === 'todo' && waiting.value ? <Badge color="blue">{waiting.value}</Badge> : undefined,
        }))}
      />
    </>
  );
}
