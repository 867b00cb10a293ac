// The few parts that all pages are made of.
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';

import type { Verdict } from './api_types';
import { absolute, duration, isEndless, relative } from './format';
import type { Resource } from './resource';

// -------------------------------------------------------------------------------------------------
// Time

/** One clock for all relative times of the page. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5000);

export function Time({ at }: { at?: string }) {
  if (!at) return <span class="quiet">–</span>;
  if (isEndless(at)) return <span>without an end</span>;
  const time = Date.parse(at);
  return <time dateTime={at} title={absolute(time)}>{relative(time, Math.max(now.value, Date.now()))}</time>;
}

export function Since({ at }: { at?: string }) {
  return at ? <time dateTime={at} title={absolute(Date.parse(at))}>{duration((now.value - Date.parse(at)) / 1000)}</time> : <>–</>;
}

// -------------------------------------------------------------------------------------------------
// Words

export function Badge({ kind, children }: { kind: string; children?: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children ?? kind}</span>;
}

/** An id that can be copied. */
export function Id({ text, href, label }: { text: string; href?: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const shown = label ?? text;
  return (
    <span class="id">
      {href ? <a href={href}>{shown}</a> : <span>{shown}</span>}
      <button type="button" class="copy" title={`Copy ${text}`} aria-label={`Copy ${text}`} onClick={() => void copy()}>
        {copied ? 'copied' : 'copy'}
      </button>
    </span>
  );
}

/** Also where the browser has no clipboard for pages without TLS. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return undefined;
}

const longText = 160;

/** A long text shows its beginning until one wants the rest. */
export function Folded({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  if (text.length <= longText) return <span class="text">{text}</span>;
  return (
    <span class="text">
      {open ? text : `${text.slice(0, longText)}…`}{' '}
      <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'less' : 'more'}</button>
    </span>
  );
}

export function VerdictLine({ verdict }: { verdict: Verdict }) {
  return (
    <div class="verdict">
      <Badge kind={verdict.kind} /> <Folded text={verdict.text} />
      {(verdict.cause || verdict.limitedBy) && (
        <details>
          <summary>Cause</summary>
          <dl class="facts">
            <Facts of={{ Cause: verdict.cause, About: verdict.scope, 'Who can change it': verdict.who, Key: verdict.key }} />
            {verdict.until && <Fact name="Until"><Time at={verdict.until} /></Fact>}
            {verdict.limitedBy && (
              <Facts of={{ 'Limited by': verdict.limitedBy.text, 'Who can change that': verdict.limitedBy.who }} />
            )}
          </dl>
        </details>
      )}
    </div>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Facts({ of }: { of: Record<string, ComponentChildren> }) {
  return (
    <>
      {Object.entries(of)
        .filter(([, value]) => value !== undefined && value !== '' && value !== null)
        .map(([name, value]) => <Fact key={name} name={name}>{value}</Fact>)}
    </>
  );
}

export function Tile({ name, value, note, href, kind }: {
  name: string; value: ComponentChildren; note?: ComponentChildren; href?: string; kind?: string;
}) {
  const inner = (
    <>
      <span class="tile-name">{name}</span>
      <span class={`tile-value ${kind ?? ''}`}>{value}</span>
      {note && <span class="quiet">{note}</span>}
    </>
  );
  return href ? <a class="tile" href={href}>{inner}</a> : <div class="tile">{inner}</div>;
}

// -------------------------------------------------------------------------------------------------
// Sections, states

export function Section({ title, aside, children }: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <header class="section">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

export function Problem({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      {children && <div>{children}</div>}
    </div>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

/** What a resource shows while it is read, and when that fails. An old value stays, with a warning. */
export function Loaded<T>({ of, what, children }: { of: Resource<T>; what: string; children: (value: T) => ComponentChildren }) {
  return (
    <>
      {of.error && (
        <Problem title={of.error.status === 403 ? `You may not see ${what}` : `Reading ${what} failed`}>
          <Folded text={of.error.message} />{' '}
          <button type="button" class="link" onClick={of.reload}>Try again</button>
        </Problem>
      )}
      {of.loading && <p class="quiet loading">Reading {what}…</p>}
      {of.value !== undefined && children(of.value)}
    </>
  );
}

// -------------------------------------------------------------------------------------------------
// Tables

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  number?: boolean;
  wide?: boolean;
}

export function Table<T>({ caption, columns, rows, empty, rowKey }: {
  caption: string; columns: Column<T>[]; rows: T[]; empty: ComponentChildren; rowKey: (row: T) => string | number;
}) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    // A region that scrolls sideways can be reached with the keyboard.
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>{columns.map(column => <th key={column.name} scope="col" class={column.number ? 'number' : ''}>{column.name}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={rowKey(row)}>
              {columns.map(column => (
                <td key={column.name} class={`${column.number ? 'number' : ''} ${column.wide ? 'wide' : ''}`} data-name={column.name}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Tabs({ tabs, chosen }: { tabs: { name: string; href: string; id: string }[]; chosen: string }) {
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {tabs.map(tab => (
        <a key={tab.id} href={tab.href} aria-current={tab.id === chosen ? 'page' : undefined}>{tab.name}</a>
      ))}
    </nav>
  );
}

export function Choice({ label, value, options, onChange }: {
  label: string; value: string; options: [string, string][]; onChange: (value: string) => void;
}) {
  return (
    <label class="choice">
      {label}{' '}
      <select value={value} onChange={event => onChange(event.currentTarget.value)}>
        {options.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
      </select>
    </label>
  );
}

/** The field that the key `/` leads to. Tells what was typed when one has stopped typing. */
export function Search({ value, label, onChange }: { value: string; label: string; onChange: (value: string) => void }) {
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>();
  const typed: JSX.GenericEventHandler<HTMLInputElement> = event => {
    const text = event.currentTarget.value;
    clearTimeout(timer);
    setTimer(setTimeout(() => onChange(text), 120));
  };
  return <input type="search" data-search placeholder={`${label} ( / )`} aria-label={label} defaultValue={value} onInput={typed} />;
}

export const Json = ({ value }: { value: unknown }) => <pre class="json" tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>;
