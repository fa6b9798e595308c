import { applyMode, Mode } from '@cloudscape-design/global-styles';

export const appearances = ['system', 'light', 'dark'] as const;
export type Appearance = (typeof appearances)[number];

const key = 'console.appearance';
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

/** The user's choice, kept on this device. */
export function chosenAppearance(): Appearance {
  const kept = localStorage.getItem(key);
  return appearances.find((appearance) => appearance === kept) ?? 'system';
}

export function chooseAppearance(appearance: Appearance): void {
  localStorage.setItem(key, appearance);
  applyAppearance();
}

/** Colours the page as chosen, and goes on following the system if that is the choice. */
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
