import { lettersNote, userText } from 'computation-management-words';
import { Fragment, type ReactNode } from 'react';

/**
 * The pattern of characters that nobody sees, and of those that change the direction of the text around them. Line breaks and tabs are not
 * among them.
 */
const invisible = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a text with a mark in place of each character that nobody sees, such as `‹U+202E›`. */
function visible(text: string, hidden = invisible): string {
  return text.replace(hidden, (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`);
}

/** The pattern of blanks that look like a space and are another character. */
const blanks = /[^\S ]/gu;

/**
 * Shows a name that somebody else chose in a box, so that it passes for no word of the page and for no other name. Behind the box stands
 * a note about letters that may look like others.
 */
export function Name({ of }: { of: string }) {
  return (
    <>
      <bdi className="name">{visible(of, blanks)}</bdi>
      {lettersNote(of.replace(invisible, '').replace(blanks, ''))}
    </>
  );
}

/** Shows the identifier of a user in a box, as `userText` writes it, so that no two users look alike. */
export function User({ of }: { of: string }) {
  return <bdi className="name">{userText(of)}</bdi>;
}

/** Shows words of a user in a box with their line breaks, so that they pass for no words of the page. */
export function Quote({ of }: { of: string }) {
  return <bdi className="name">{of}</bdi>;
}

const attributes = ['aria-label', 'title', 'alt'];

/**
 * Makes invisible characters in all texts of the page visible, whatever puts the texts there, before they are painted. What is typed into
 * fields stays as it is.
 */
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

/** Shows names that other users chose, each in its box. @param as `User` if they are users */
export function Names({ of, as: One = Name }: { of: readonly string[]; as?: typeof Name }) {
  return of.map((name, index) => (
    <Fragment key={index}>
      {index > 0 && ', '}
      <One of={name} />
    </Fragment>
  ));
}

/** Shows sentences as a list. @param className `long-words` for sentences with names of others */
export function Bullets({ of, className }: { of: readonly ReactNode[]; className?: string }) {
  return (
    <ul className={className}>
      {of.map((each, index) => (
        <li key={index}>{each}</li>
      ))}
    </ul>
  );
}

/** Shows the warnings of the service in boxes, so that no warning passes for words of the page. */
export function Warnings({ of }: { of: readonly string[] }) {
  return (
    of.length > 0 && (
      <div>
        The service warns: <Names of={of} />
      </div>
    )
  );
}
