// The documentation of a pool. The host leaves nothing in it that runs; the page takes only what it knows all the same.
import { h, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { ApiError, base, getText, pathOf } from '../api';
import { Folded, Problem, Section } from '../components';

const tags = new Set([
  'a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'img', 'li', 'ol', 'p', 'pre',
  'section', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
]);

/** Where a link leads: a place on this page, a file of the host's, or the web; nothing else. */
export function safeAddress(href: string, from: string): string | undefined {
  try {
    const address = new URL(href, from);
    return ['http:', 'https:', 'mailto:'].includes(address.protocol) ? address.href : undefined;
  } catch {
    return undefined;
  }
}

function attributesOf(element: Element, from: string): Record<string, unknown> {
  const id = element.getAttribute('id');
  const attributes: Record<string, unknown> = id?.startsWith('docs-') ? { id } : {};
  const href = element.getAttribute('href');
  if (element.localName === 'a' && href?.startsWith('#docs-')) {
    attributes['href'] = '#';
    attributes['onClick'] = (event: Event) => {
      event.preventDefault();
      document.getElementById(decodeURIComponent(href.slice(1)))?.scrollIntoView();
    };
  } else if (element.localName === 'a' && href) {
    attributes['href'] = safeAddress(href, from);
    attributes['rel'] = 'noopener noreferrer';
    attributes['target'] = '_blank';
  }
  if (element.localName === 'img') {
    attributes['src'] = safeAddress(element.getAttribute('src') ?? '', from);
    attributes['alt'] = element.getAttribute('alt') ?? '';
  }
  return attributes;
}

function shown(node: Node, from: string): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  if (!(node instanceof Element)) return null;
  const children = [...node.childNodes].map(child => shown(child, from));
  return tags.has(node.localName) ? h(node.localName, attributesOf(node, from), ...children) : null;
}

export function Documentation({ pool }: { pool: string }) {
  const path = pathOf('pools', pool, 'documentation', 'html');
  const [html, setHtml] = useState<string>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const stop = new AbortController();
    setHtml(undefined);
    setError(undefined);
    getText(path, stop.signal).then(setHtml, problem => {
      if (!stop.signal.aborted) setError(problem as ApiError);
    });
    return () => stop.abort();
  }, [path]);
  if (error?.status === 404)
    return <p class="quiet">This pool has no documentation. Its maintainer puts it here with <code>muster docs push</code>.</p>;
  if (error) return <Problem title="Reading the documentation failed"><Folded text={error.message} /></Problem>;
  if (html === undefined) return <p class="quiet loading">Reading the documentation…</p>;
  // Of a document that is shown nowhere: nothing in it runs or loads.
  const body = new DOMParser().parseFromString(html, 'text/html').body;
  const from = new URL(base + path, document.baseURI).href;
  return <Section title="Documentation">{[...body.childNodes].map(node => shown(node, from))}</Section>;
}
