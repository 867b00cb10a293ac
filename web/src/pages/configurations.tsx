// Worker configurations: what serves, what is wrong with the newest, and what rules come to for chosen facts.
import { useState } from 'preact/hooks';

import { ActionButton } from '../action';
import { reloadConfigurations } from '../actions';
import { pathOf, withQuery } from '../api';
import type { ConfigurationDifference, ConfigurationFile, ConfigurationFileList, ConfigurationText, Explanation as Explained, Problem as ConfigurationProblem, WorkerConfigurations } from '../api_types';
import { Badge, Empty, Fact, Facts, Folded, Loaded, Section, Table, Time } from '../components';
import { difference, hunks } from '../difference';
import { count } from '../format';
import { ofKinds, useResource } from '../resource';
import { route, setQuery, to } from '../route';
import { ExplanationTable } from './explanation';

const changed = ofKinds('configuration');

function Problems({ of }: { of: WorkerConfigurations }) {
  const problems = of.problems ?? [];
  return (
    <Section title="Problems">
      {of.sourceError && <p class="bad">The source: <Folded text={of.sourceError} /> <Time at={of.sourceFailedAt} /></p>}
      {of.heldBack && <p class="bad">Most of the source is gone. The last version stays in force until an operator agrees: <code>muster config accept-empty</code></p>}
      <Table<ConfigurationProblem> caption="problems" rows={problems} rowKey={problem => problem.text} empty="None. All files are in force." columns={[
        { name: '', cell: problem => <Badge kind={problem.severity === 'error' ? 'refused' : 'warning'}>{problem.severity}</Badge> },
        { name: 'Where', cell: problem => <button type="button" class="link" onClick={() => setQuery({ file: stemOf(problem.file), line: String(problem.line) })}>{problem.file}:{problem.line}:{problem.column}</button> },
        { name: 'Key', cell: problem => <code>{problem.key}</code> },
        { name: 'What is wrong', wide: true, cell: problem => <><Folded text={problem.reason} />{problem.remedy && <div class="quiet"><Folded text={problem.remedy} /></div>}</> },
      ]} />
      {of.heldFiles?.map(held => <p key={held.file} class="warn">{held.file}: <Folded text={held.reason} /> ({held.inForce === 'lastGood' ? 'the last good version is in force' : 'nothing of it is in force'})</p>)}
      {of.waits?.map(wait => <p key={wait.providerId} class="warn">Waits for {wait.providerId}: <Folded text={wait.reason} /></p>)}
    </Section>
  );
}

const stemOf = (file: string) => (file.split('/').pop() ?? file).replace(/\.toml$/, '');

/** A file as it serves, and what its refused version would change. */
function FileText({ id, line }: { id: string; line: number }) {
  const path = pathOf('worker-configurations', 'files', id);
  const serving = useResource<ConfigurationText>(path, changed);
  const refused = useResource<ConfigurationText>(`${path}?refused=true`, changed);
  const same = !refused.value || refused.value.text === serving.value?.text;
  const shown = refused.value && line > 0 && !same ? refused : serving;
  return (
    <Section title={id} aside={<button type="button" class="small" onClick={() => setQuery({ file: undefined, line: undefined })}>Close</button>}>
      {refused.value && !same && (
        <>
          <h3>What the refused version changes</h3>
          <pre class="difference" tabIndex={0}>
            {hunks(difference(serving.value?.text ?? '', refused.value.text)).map((each, index) => (
              <span key={index} class={each.kind}>{`${each.kind === 'added' ? '+' : each.kind === 'removed' ? '-' : ' '} ${each.text}\n`}</span>))}
          </pre>
        </>
      )}
      <Loaded of={shown} what={`the file ${id}`}>
        {value => <pre tabIndex={0}>{value.text.split('\n').map((text, index) => (
          <span key={index} class={index + 1 === line ? 'bad' : ''}>{`${String(index + 1).padStart(4)}  ${text}\n`}</span>))}</pre>}
      </Loaded>
    </Section>
  );
}

type Change = ConfigurationDifference['changes'][number];

function Side({ of }: { of: Change['before'] }) {
  if (!of) return <span class="quiet">not set</span>;
  return (
    <>
      <code><Folded text={JSON.stringify(of.value)} /></code>
      <div><button type="button" class="link" onClick={() => setQuery({ file: stemOf(of.file), line: String(of.line) })}>{of.file}:{of.line}</button> <span class="quiet">rule {of.rule}</span></div>
    </>
  );
}

/** What the version that serves changed, pool by pool. */
function Difference() {
  const found = useResource<ConfigurationDifference>('worker-configurations/difference', changed);
  return (
    <Section title="What the last version changed" aside={<span class="quiet"><code>muster config changes</code></span>}>
      <Loaded of={found} what="what the last version changed">
        {value => !value.previousRevision
          ? <Empty>The worker configurations did not change since the host started.</Empty>
          : (
            <>
              <p class="quiet">From <code>{value.previousRevision.slice(0, 12)}</code> to <code>{value.revision.slice(0, 12)}</code>, in force <Time at={value.loadedAt} />.</p>
              <Table<Change> caption="changes" rows={value.changes} rowKey={change => JSON.stringify([change.workerPoolId, change.what, change.key, change.before, change.after])} empty="No value of any pool is another." columns={[
                { name: 'Pool', cell: change => <a href={to.pool(change.workerPoolId)}>{change.workerPoolId}</a> },
                { name: 'What', cell: change => (change.what === 'changed' ? <code>{change.key}</code> : <Badge kind={change.what === 'added' ? 'active' : 'disabled'}>{change.what}</Badge>) },
                { name: 'Before', wide: true, cell: change => change.what === 'changed' && <Side of={change.before} /> },
                { name: 'Now', wide: true, cell: change => change.what === 'changed' && <Side of={change.after} /> },
                { name: 'Launch configurations', number: true, cell: change => change.cases !== undefined && `${change.cases} of ${change.ofCases}` },
              ]} />
              {value.more > 0 && <p class="quiet">And {count(value.more)} more changes.</p>}
            </>
          )}
      </Loaded>
    </Section>
  );
}

function ExplainFor() {
  const [pool, setPool] = useState(route.value.query.get('pool') ?? '');
  const [facts, setFacts] = useState('');
  const [asked, setAsked] = useState<string>();
  const explained = useResource<Explained>(asked, changed);
  return (
    <Section title="Explain">
      <form class="bar" onSubmit={event => {
        event.preventDefault();
        setAsked(withQuery('worker-configurations/explain', { workerPoolId: pool.trim(), fact: facts.split(/\s+/).filter(Boolean) }));
      }}>
        <label>Pool <input value={pool} required placeholder="worker-manager/build" onInput={event => setPool(event.currentTarget.value)} /></label>
        <label>Facts <input value={facts} placeholder="provider=ec2 region=us-east-1" onInput={event => setFacts(event.currentTarget.value)} /></label>
        <button type="submit">Explain</button>
      </form>
      {asked ? <Loaded of={explained} what="the explanation">{value => <ExplanationTable of={value} />}</Loaded>
        : <Empty>Name a pool and the facts of a place: each value is shown with the rule and line that set it.</Empty>}
    </Section>
  );
}

export function Configurations() {
  const status = useResource<WorkerConfigurations>('worker-configurations', changed);
  const files = useResource<ConfigurationFileList>('worker-configurations/files', changed);
  const file = route.value.query.get('file');
  return (
    <>
      <div class="title"><h1>Configurations</h1><ActionButton action={{ ...reloadConfigurations, done: status.reload }} /></div>
      <Loaded of={status} what="the worker configurations">
        {value => value.source === null
          ? <Empty>No worker configurations are configured: set <code>workerConfigurations</code> in the host's configuration. {value.note}</Empty>
          : (
            <>
              <Section title="In force">
                <dl class="facts">
                  <Facts of={{ Source: value.source, Revision: value.revision && <code>{value.revision}</code>, Files: value.files, Pools: value.pools && count(value.pools),
                    'Launch configurations': value.launchConfigs && count(value.launchConfigs), 'Refused revision': value.refusedRevision && <code class="bad">{value.refusedRevision}</code> }} />
                  <Fact name="Read"><Time at={value.loadedAt} /></Fact>
                  {value.refusedAt && <Fact name="Refused"><Time at={value.refusedAt} /></Fact>}
                </dl>
              </Section>
              <Problems of={value} />
              {file && <FileText key={file} id={file} line={Number(route.value.query.get('line') ?? 0)} />}
              {value.revision && <Difference />}
              <Section title="Files">
                {!value.revision ? <Empty>No version is in force yet: correct the problems above, and the host reads the files again by itself.</Empty> : <Loaded of={files} what="the files">
                  {list => <Table<ConfigurationFile> caption="files" rows={list.files} rowKey={each => each.configurationId} empty="There are no files." columns={[
                    { name: 'File', cell: each => <button type="button" class="link" onClick={() => setQuery({ file: each.configurationId, line: undefined })}>{each.file}</button> },
                    { name: 'Bytes', number: true, cell: each => count(each.bytes) },
                    { name: 'Worker types', wide: true, cell: each => <Folded text={each.workerTypes.join(', ')} /> },
                  ]} />}
                </Loaded>}
              </Section>
            </>
          )}
      </Loaded>
      <ExplainFor />
    </>
  );
}
