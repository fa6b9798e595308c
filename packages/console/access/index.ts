export { DomainProvider, FrameProvider, useDomain, useFrame } from './console-context.ts';
export { meIn, permissions, visibleDomains } from './permissions.ts';
export { Refused } from './refused.tsx';
