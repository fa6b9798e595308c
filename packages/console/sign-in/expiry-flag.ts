/** Whether the user has to sign in again, in the form that React subscribes to. */
export interface ExpiryFlag {
  isSet: () => boolean;
  set: () => void;
  subscribe: (onChange: () => void) => () => void;
}

export function expiryFlag(): ExpiryFlag {
  const changes = new EventTarget();
  let isSet = false;
  return {
    isSet: () => isSet,
    set: () => {
      isSet = true;
      changes.dispatchEvent(new Event('change'));
    },
    subscribe: (onChange) => {
      changes.addEventListener('change', onChange);
      return () => changes.removeEventListener('change', onChange);
    },
  };
}
