import { Fragment } from 'react';

/** Characters that nobody sees, and those that change the direction of what is around them. Not line breaks and tabs. */
const invisible = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a text with a mark for each character that nobody sees, such as `‹U+202E›`. */
function visible(text: string): string {
  return text.replace(invisible, (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`);
}

const attributes = ['aria-label', 'title', 'alt'];

/** Makes all texts of the page visible, whatever puts them there, before they are painted. What is typed into fields stays as it is. */
export function keepTextsVisible(): void {
  const show = (node: Node) => {
    if (node instanceof Text && !(node.parentNode instanceof HTMLTextAreaElement)) {
      const shown = visible(node.data);
      if (shown !== node.data) node.data = shown;
    }
    for (const name of node instanceof Element ? attributes : []) {
      const given = (node as Element).getAttribute(name);
      if (given !== null && visible(given) !== given) (node as Element).setAttribute(name, visible(given));
    }
    node.childNodes.forEach(show);
  };
  const observer = new MutationObserver((records) => {
    for (const { target, addedNodes, type } of records) (type === 'childList' ? [...addedNodes] : [target]).forEach(show);
  });
  observer.observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: attributes,
  });
}

/** Texts of others, each apart, so that one that is written from right to left does not change the order. */
export function Texts({ of }: { of: readonly string[] }) {
  return of.map((text, index) => (
    <Fragment key={index}>
      {index > 0 && ', '}
      <bdi>{text}</bdi>
    </Fragment>
  ));
}
