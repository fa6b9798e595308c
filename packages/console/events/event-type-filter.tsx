import Select, { type SelectProps } from '@cloudscape-design/components/select';
import { useState } from 'react';
import { eventText, eventTypes } from './event-look.ts';

interface Props {
  value: string | null;
  /** The types of the events that are shown. */
  seen: readonly string[];
  onChange: (type: string | undefined) => void;
}

const any: SelectProps.Option = { value: '', label: 'Any event' };

/** Chooses a type of event by what it is called. An agent's own type can be typed as the agent sends it. */
export function EventTypeFilter({ value, seen, onChange }: Props) {
  const [text, setText] = useState('');
  const { service, agent } = eventTypes(seen);
  const isTyped = text !== '' && ![...service, ...agent].includes(text);
  const groups = [
    { label: 'Of the service', options: service.map(optionOf).filter((option) => matches(option, text)) },
    { label: 'Of the agent', options: agent.map(optionOf).filter((option) => matches(option, text)) },
    { label: 'Another one', options: isTyped ? [{ value: text, label: text }] : [] },
  ].filter(({ options }) => options.length > 0);
  return (
    <div className="filter">
      <Select
        ariaLabel="Event"
        filteringType="manual"
        filteringAriaLabel="Find an event, or type the agent's own type"
        filteringPlaceholder="Find an event"
        selectedOption={value === null ? any : optionOf(value)}
        options={text === '' ? [any, ...groups] : groups}
        onLoadItems={({ detail }) => setText(detail.filteringText.trim())}
        onChange={({ detail }) => onChange(detail.selectedOption.value || undefined)}
      />
    </div>
  );
}

function optionOf(type: string): SelectProps.Option & { value: string; label: string } {
  return { value: type, label: eventText(type) };
}

function matches({ value, label }: { value: string; label: string }, text: string): boolean {
  return [value, label].some((each) => each.toLowerCase().includes(text.toLowerCase()));
}
