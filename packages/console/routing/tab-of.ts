/** Returns the tab that an address names, or the first one. */
export function tabOf<Tab extends string>(query: URLSearchParams, tabs: readonly [Tab, ...Tab[]]): Tab {
  return tabs.find((tab) => tab === query.get('tab')) ?? tabs[0];
}

/** Returns the parameter of an address that leads to a tab. The first tab needs none. */
export function tabQuery(tab: string, tabs: readonly string[]): { tab: string | undefined } {
  return { tab: tab === tabs[0] ? undefined : tab };
}
