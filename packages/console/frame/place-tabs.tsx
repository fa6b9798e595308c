import { Tabs } from '@cloudscape-design/components';
import type { ReactNode } from 'react';
import { addressOf, navigate, type Place, tabOf, tabQuery, useAddress } from '../routing/index.ts';

/**
 * Shows the parts of a screen as tabs, of which the address names the open one.
 * @param parts the contents of the tabs by their names, such as `manifest`. Without a tab in the address, the first is open
 */
export function PlaceTabs({ label, place, parts }: { label: string; place: Place; parts: Record<string, () => ReactNode> }) {
  const names = Object.keys(parts);
  const open = tabOf(useAddress().query, names);
  return (
    <Tabs
      ariaLabel={label}
      activeTabId={open}
      onChange={({ detail }) => navigate(addressOf(place, tabQuery(detail.activeTabId, names)))}
      tabs={names.map((name) => ({
        id: name,
        label: name.charAt(0).toUpperCase() + name.slice(1),
        content: name === open && <div className="stack">{parts[name]?.()}</div>,
      }))}
    />
  );
}
