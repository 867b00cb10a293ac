// What changes something: it says in a sentence what will happen, asks for a reason, and shows the command that does the
// same. Where the session's scopes do not allow it, it cannot be pressed, and says which one is missing.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, change, session } from './api';
import { Folded, Id } from './components';
import { satisfies } from './scopes';

export interface Field {
  id: string;
  label: string;
  value?: string;
  required?: boolean;
  hint?: string;
  options?: [string, string][];
  lines?: number;
}

export type Values = Record<string, string>;

export interface Action {
  name: string;
  /** What will happen, in a sentence. */
  sentence: string;
  scope: string;
  fields?: Field[];
  /** The reason goes into the audit log. */
  reason?: boolean;
  harmful?: boolean;
  command: (values: Values) => string;
  request: (values: Values) => { method: string; path: string; body?: unknown };
  /** What to show of the answer, for example a secret that is shown once. */
  result?: (answer: never, values: Values) => ComponentChildren;
  done?: () => void;
}

const open = signal<Action | null>(null);
/** What the last action came to, for people who do not see the dialog close. */
export const announcement = signal('');

export function ActionButton({ action, small }: { action: Action; small?: boolean }) {
  const allowed = satisfies(session.value?.scopes ?? [], action.scope);
  return (
    <button
      type="button" class={`${action.harmful ? 'harmful' : ''} ${small ? 'small' : ''}`} disabled={!allowed}
      title={allowed ? action.sentence : `needs the scope ${action.scope}`}
      onClick={() => { open.value = action; }}
    >
      {action.name}
    </button>
  );
}

/** "+2h" or "+30min" from now, or a time as it is written. Undefined: it is none. */
export function timeFrom(text: string, now: number): string | undefined {
  const span = /^\+?(\d+)\s*(s|min|h|d)$/.exec(text.trim());
  const unit = { s: 1, min: 60, h: 3600, d: 86_400 };
  const time = span ? now + Number(span[1]) * unit[span[2] as keyof typeof unit] * 1000 : Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function Input({ field, value, onChange }: { field: Field; value: string; onChange: (value: string) => void }) {
  const shared = { id: `field-${field.id}`, required: field.required, value };
  if (field.options)
    return (
      <select {...shared} onChange={event => onChange(event.currentTarget.value)}>
        {field.options.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
      </select>
    );
  if (field.lines) return <textarea {...shared} rows={field.lines} onInput={event => onChange(event.currentTarget.value)} />;
  return <input {...shared} autoComplete="off" onInput={event => onChange(event.currentTarget.value)} />;
}

const reasonField: Field = { id: 'reason', label: 'Reason', hint: 'for the people who look later', required: false };

function Form({ action }: { action: Action }) {
  const fields = [...(action.fields ?? []), ...(action.reason ? [reasonField] : [])];
  const [values, setValues] = useState<Values>(Object.fromEntries(fields.map(field => [field.id, field.value ?? ''])));
  const [failure, setFailure] = useState('');
  const [running, setRunning] = useState(false);
  const [result, setResult] = useState<ComponentChildren>();
  const run = async () => {
    setRunning(true);
    setFailure('');
    try {
      const { method, path, body } = action.request(values);
      const answer = await change<never>(method, path, body);
      announcement.value = `${action.name}: done`;
      action.done?.();
      const shown = action.result?.(answer, values);
      if (shown) setResult(shown);
      else open.value = null;
    } catch (error) {
      setFailure(error instanceof ApiError || error instanceof Error ? error.message : String(error));
    } finally {
      setRunning(false);
    }
  };
  if (result)
    return (
      <>
        {result}
        <div class="buttons"><button type="button" onClick={() => { open.value = null; }}>Close</button></div>
      </>
    );
  return (
    <form onSubmit={event => { event.preventDefault(); void run(); }}>
      <p>{action.sentence}</p>
      {fields.map(field => (
        <div class="field" key={field.id}>
          <label for={`field-${field.id}`}>{field.label}{field.hint && <span class="quiet"> ({field.hint})</span>}</label>
          <Input field={field} value={values[field.id] ?? ''} onChange={value => setValues({ ...values, [field.id]: value })} />
        </div>
      ))}
      <p class="command"><span class="quiet">The same on a command line:</span><br /><code><Id text={action.command(values)} /></code></p>
      {failure && <div class="problem" role="alert"><strong>It was refused</strong><div><Folded text={failure} /></div></div>}
      <div class="buttons">
        <button type="button" onClick={() => { open.value = null; }}>Cancel</button>
        <button type="submit" class={action.harmful ? 'harmful' : 'main'} disabled={running}>{action.name}</button>
      </div>
    </form>
  );
}

/** Once in the page. */
export function ActionDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const action = open.value;
  useEffect(() => {
    if (action) dialog.current?.showModal();
    else dialog.current?.close();
  }, [action]);
  return (
    <dialog ref={dialog} aria-labelledby="action-name" onClose={() => { open.value = null; }}>
      {action && (
        <>
          <h2 id="action-name">{action.name}</h2>
          <Form key={action.name + action.sentence} action={action} />
        </>
      )}
    </dialog>
  );
}
