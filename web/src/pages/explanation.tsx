// What worker configurations come to: each value with the rule and the line that set it, and what it replaced.
import { useState } from 'preact/hooks';

import { withQuery } from '../api';
import type { Explanation as Explained, LaunchConfig } from '../api_types';
import { Badge, Choice, Folded, Json, Loaded, Search, Section, Table } from '../components';
import { compact } from '../format';
import { ofKinds, useResource } from '../resource';

type Value = Explained['values'][number];

export function ExplanationTable({ of }: { of: Explained }) {
  const [search, setSearch] = useState('');
  const fits = (value: Value) => `${value.key} ${compact(value.value)} ${value.rule}`.toLowerCase().includes(search.toLowerCase());
  return (
    <>
      <p class="quiet">{of.file}, revision <code>{of.revision}</code>; rules that apply, in order: {of.rules.map(rule => <><Badge kind="info">{rule}</Badge> </>)}</p>
      <div class="bar"><Search label="Key, value or rule" value={search} onChange={setSearch} /></div>
      <Table<Value>
        caption="values" rows={of.values.filter(fits)} rowKey={value => value.key} empty="No value fits."
        columns={[
          { name: 'Key', cell: value => <code>{value.key}</code> },
          { name: 'Value', wide: true, cell: value => <code><Folded text={compact(value.value)} /></code> },
          { name: 'Rule', cell: value => value.rule },
          { name: 'Where', cell: value => <code>{value.file}:{value.line}</code> },
          { name: 'Replaced', wide: true, cell: value => value.replaced.map((old, index) => (
            <div key={index} class="quiet"><code>{compact((old as { value?: unknown }).value)}</code> of {compact((old as { rule?: unknown }).rule)}</div>)) },
        ]}
      />
      <details><summary>The whole document</summary><Json value={of.document} /></details>
    </>
  );
}

export function Explanation({ pool, launchConfigs }: { pool: string; launchConfigs: LaunchConfig[] }) {
  const [chosen, setChosen] = useState('');
  const explained = useResource<Explained>(
    withQuery('worker-configurations/explain', { workerPoolId: pool, launchConfigId: chosen }), ofKinds('configuration'));
  const options: [string, string][] = [['', "the pool's settings"],
    ...launchConfigs.filter(config => config.status !== 'archived').map(config => [config.launchConfigId, `${config.launchConfigId} (${config.providerId} ${config.instanceType})`] as [string, string])];
  return (
    <Section title="Effective configuration" aside={<Choice label="For" value={chosen} options={options} onChange={setChosen} />}>
      <Loaded of={explained} what="the configuration">{value => <ExplanationTable of={value} />}</Loaded>
    </Section>
  );
}
