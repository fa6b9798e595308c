import type { Page } from 'playwright-core';

/** Returns the icons on the page whose contrast with what is behind them is below 3 to 1, which axe does not look at. */
export async function faintIconsOn(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(faintIcons);
}

/** An expression: the icons of controls that can be used and of states, by the text beside them, with their contrast. */
const faintIcons = `(() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const known = new Map(); // reading a canvas takes milliseconds
  /** The colour of colours that lie on each other, the lowest first. */
  const mixed = (colours) => {
    const key = colours.join();
    if (!known.has(key)) known.set(key, painted(colours));
    return known.get(key);
  };
  const painted = (colours) => {
    context.reset();
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = [];
  for (const icon of document.querySelectorAll('svg')) {
    if (!icon.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || icon.closest('[aria-disabled=true], :disabled')) continue;
    const behind = ['canvas'];
    const grounds = [];
    for (let each = icon; each; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') grounds.unshift(backgroundColor);
    }
    const drawn = [...icon.querySelectorAll('path, circle, rect, line, polyline, polygon')];
    const inks = drawn.flatMap((each) => { const { fill, stroke } = getComputedStyle(each); return [fill, stroke]; })
      .filter((ink) => ink !== 'none' && !/^rgba\\(.*, 0\\)$/.test(ink));
    const ground = mixed([...behind, ...grounds]);
    const contrasts = inks.map((ink) => [luminance(mixed([...behind, ...grounds, ink])), luminance(ground)].sort((one, other) => other - one))
      .map(([light, dark]) => (light + 0.05) / (dark + 0.05));
    if (contrasts.length === 0 || Math.max(...contrasts) >= 3) continue;
    const near = icon.closest('button, a, [class*=awsui_root]');
    found.push('faint icon, ' + Math.max(...contrasts).toFixed(1) + ' to 1: ' + (near?.getAttribute('aria-label') || near?.textContent || near?.outerHTML || '').slice(0, 120));
  }
  return [...new Set(found)];
})()`;
