import {
  Alert,
  AppLayoutToolbar,
  Badge,
  Flashbar,
  type FlashbarProps,
  Link,
  SideNavigation,
} from '@cloudscape-design/components';
import { createClient } from 'computation-management-client';
import {
  lazy,
  type MouseEvent,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { meIn, visibleDomains } from '../access/permissions.ts';
import { followLink, redirect, useAddress } from '../routing/navigation.ts';
import { addressOf, type Place, placeOf } from '../routing/places.ts';
import { learnServiceTime } from '../show/service-clock.ts';
import type { Session } from '../sign-in/session.ts';
import { DomainProvider, FrameProvider, useDomain } from '../access/console-context.ts';
import { CurrentScreen } from './current-screen.tsx';
import { focusTitle, keepFocus } from '../frame/focus.ts';
import { SignInAgain } from '../loading/problem-alert.tsx';
import { TopBar } from './top-bar.tsx';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { useNarrow } from '../lists/columns.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';

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
      <div id="top-bar" className="top-bar">
        <TopBar
          user={session.user}
          roles={session.roles[domain ?? ''] ?? []}
          domain={domain}
          domains={domains}
          search={
            context && (
              <DomainProvider value={context}>
                <Suspense>
                  <SearchBox key={domain} />
                </Suspense>
              </DomainProvider>
            )
          }
          signOut={() => void session.signOut()}
        />
      </div>
      <FrameProvider value={frame}>
        <DomainProvider value={context}>
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
        </DomainProvider>
      </FrameProvider>
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
  if (!place) return <NoSuchScreen />;
  if (domain === undefined) return <Home domains={domains} />;
  if (!domains.includes(domain)) return <NoDomain domain={domain} domains={domains} />;
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

interface Notice {
  text: ReactNode;
  /** The path at which the message was first shown. The message is closed when the user goes to another path. */
  shownAt: string | undefined;
}

/** Keeps the latest message to the user until it is closed or the user goes on. */
function useNotice(pathname: string) {
  const [notice, setNotice] = useState<Notice>();
  const notify = useCallback((text: ReactNode) => setNotice({ text, shownAt: undefined }), []);
  if (notice && notice.shownAt === undefined) setNotice({ ...notice, shownAt: pathname });
  else if (notice && notice.shownAt !== pathname) setNotice(undefined);
  const close = () => setNotice(undefined);
  const notices = notice && [
    { type: 'success' as const, content: notice.text, dismissible: true, dismissLabel: 'Close the message', onDismiss: close },
  ];
  return { notices: notices ?? [], notify };
}

/** Returns the message that asks the user to sign in again, if the sign-in has expired while a form or an upload was not finished. */
function useExpiryNotice({ expiry }: Session): FlashbarProps.MessageDefinition[] {
  const hasExpired = useSyncExternalStore(expiry.subscribe, expiry.isSet);
  if (!hasExpired) return [];
  return [
    {
      type: 'warning',
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
    if (only !== undefined) redirect(addressOf({ screen: 'computations', domain: only }));
  }, [only]);
  return (
    <ScreenFrame title="Domains" above={[]}>
      <DomainLinks domains={domains} />
    </ScreenFrame>
  );
}

/** Shows that the address names a domain in which the user has no role. */
function NoDomain({ domain, domains }: { domain: string; domains: string[] }) {
  return (
    <ScreenFrame title="No access" above={[]}>
      <Alert type="warning" header={`You have no role in the domain ${domain}`}>
        Ask an administrator of the domain for a role, then sign in again.
      </Alert>
      <DomainLinks domains={domains} />
    </ScreenFrame>
  );
}

function NoSuchScreen() {
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
      const { totals, ...todo } = await client.getTodo({ signal });
      return (['approvals', 'keys', 'content', 'refusals'] as const).reduce(
        (sum, kind) => sum + (totals[kind] ?? todo[kind].length),
        0,
      );
    },
    { everySeconds: refreshSeconds.sideBar },
  );
  return (
    <>
      {/* In a narrow window, it hides the screen with its title. */}
      {isNarrow && <h1 className="only-heard">Screens</h1>}
      <SideNavigation
        header={{ text: domain, href: addressOf({ screen: 'computations', domain }) }}
        activeHref={links.findLast(({ href }) => addressOf(place).startsWith(href))?.href ?? ''}
        items={links.map(({ screen, text, href }) => ({
          type: 'link',
          text,
          href,
          info:
            screen === 'todo' && waiting.value ? (
              <Badge color="blue">{waiting.value > 99 ? '99+' : waiting.value}</Badge>
            ) : undefined,
        }))}
      />
    </>
  );
}
