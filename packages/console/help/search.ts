import { askedWords, ranked, type Section } from './rank.ts';

const box = document.querySelector<HTMLInputElement>('#search');
const status = document.querySelector('#found');
const results = document.querySelector('#results');
let sections: Promise<Section[]> | undefined;

box?.addEventListener('input', () => void search(box.value));

async function search(asked: string): Promise<void> {
  sections ??= readSections();
  const all = await sections.catch(() => (sections = undefined));
  if (!all) return status?.replaceChildren('The pages could not be loaded. Type again to retry.');
  if (box?.value !== asked) return;
  const words = askedWords(asked);
  const found = ranked(all, asked);
  status?.replaceChildren(words.length === 0 ? '' : `Found ${found.length} ${found.length === 1 ? 'section' : 'sections'}`);
  results?.replaceChildren(...found.map((section) => shown(section, words[0] ?? '')));
}

async function readSections(): Promise<Section[]> {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a.page')];
  return (await Promise.all(links.map(({ href }) => sectionsOf(href)))).flat();
}

async function sectionsOf(href: string): Promise<Section[]> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`${href}: ${answer.status}`);
  const main = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  const sections: Section[] = [];
  const add = (element: Element, heading: string, text: string) =>
    sections.push({ href: [href, element.id].join('#'), heading, page: sections[0]?.heading ?? heading, text });
  for (const element of main?.querySelectorAll(':scope > :not(ul), :scope > ul > li') ?? []) {
    const text = element.textContent.replaceAll(/\s+/g, ' ');
    const last = sections.findLast(({ href }) => !href.includes('#item-'));
    if (/^H\d$/.test(element.tagName)) add(element, text, '');
    else if (element.id !== '') add(element, element.querySelector('strong')?.textContent ?? '', text);
    else if (last) last.text += `${text} `;
  }
  return sections;
}

function shown({ href, heading, page, text }: Section, word: string): HTMLLIElement {
  const [item, link] = [document.createElement('li'), document.createElement('a')];
  link.href = href;
  link.textContent = heading === page ? page : `${page}: ${heading}`;
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  item.append(link, document.createElement('br'), `${start > 0 ? '…' : ''}${text.slice(start, start + 160)}…`);
  return item;
}
