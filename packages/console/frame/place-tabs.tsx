import { Tabs } from '@cloudscape-design/components';
import type { ReactNode } from 'react';
import { addressOf, navigate, type Place, tabOf, tabQuery, useAddress } from '../routing/index.ts';

interface Props {
  label: string;
  place: Place;
  /** The contents of the tabs by their names, such as `manifest`. Without a tab in the address, the first is open. */
  contents: Record<string, () => ReactNode>;
}

/** Shows the parts of a screen as tabs, of which the address names the open one. */
export function PlaceTabs({ label, place, contents }: Props) {
  const names = Object.keys(contents);
  const open = tabOf(useAddress().query, names);
  return (
    <Tabs
      ariaLabel={label}
      activeTabId={open}
      onChange={({ detail }) => navigate(addressOf(place, tabQuery(detail.activeTabId, names)))}
      tabs={names.map((name) => ({
        id: name,
        label: name.charAt(0).toUpperCase() + name.slice(1),
        content: name === open && <div className="stack">{contents[name]?.()}</div>,
      }))}
    />
  );
}
