import { Badge, SideNavigation } from '@cloudscape-design/components';
import { useNarrow } from '../lists/columns.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { addressOf, type Place } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';

const screens = [
  ['todo', 'To do'],
  ['computations', 'Computations'],
  ['runs', 'Runs'],
  ['assets', 'Assets'],
  ['cvms', 'CVMs'],
  ['statistics', 'Statistics'],
] as const;

/** Shows the side bar of the console: links to the screens of the domain, and the number of tasks that wait for the user. */
export function SideBar({ place }: { place: Place }) {
  const { domain, client } = useDomain();
  const isNarrow = useNarrow();
  const links = screens.map(([screen, text]) => ({ screen, text, href: addressOf({ screen, domain }) }));
  const waiting = useLoaded(
    `${domain} ${place.screen}`,
    async (signal) => {
      const { totals, ...todo } = await client.getTodo({ signal });
      return (['approvals', 'keys', 'content'] as const).reduce((sum, kind) => sum + (totals[kind] ?? todo[kind].length), 0);
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
