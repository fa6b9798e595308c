export interface Notice {
  title: string;
  text: string;
  link: string;
  /** Where the link leads. */
  address: string;
}

/** Shows a page with one message and one link instead of the console. It needs no other part of the console. */
export function showNotice({ title, text, link, address }: Notice): void {
  document.title = title;
  const main = document.createElement('main');
  main.className = 'sign-in-notice';
  const heading = document.createElement('h1');
  heading.textContent = title;
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.textContent = link;
  main.append(heading, paragraph, anchor);
  document.body.replaceChildren(main);
}
