#include "host/store/migrations.hpp"

#include <array>

namespace muster::store {
namespace {

// STRICT, because a value of the wrong kind is better refused than found years later. A key of one
// integer is the row id itself; every other key is the tree that holds the rows (WITHOUT ROWID), so
// that a row is written once. Only keys are NOT NULL: what else may be absent is said by the rows.
// The journal is erased by time: that needs an index, and one on growing times costs little.
constexpr std::string_view first_tables = R"sql(
CREATE TABLE host (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE api_pools (
  workerPoolId TEXT NOT NULL PRIMARY KEY,
  document TEXT,
  created INTEGER,
  lastModified INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE pools (
  workerPoolId TEXT NOT NULL PRIMARY KEY,
  spec TEXT,
  history TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE launch_configs (
  workerPoolId TEXT NOT NULL,
  launchConfigId TEXT NOT NULL,
  providerId TEXT,
  status TEXT,
  pausedUntil INTEGER,
  pauseReason TEXT,
  created INTEGER,
  archived INTEGER,
  doubted INTEGER,
  spec TEXT,
  health TEXT,
  PRIMARY KEY (workerPoolId, launchConfigId)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  number INTEGER PRIMARY KEY,
  workerPoolId TEXT,
  launchConfigId TEXT,
  providerId TEXT,
  workerGroup TEXT,
  workerId TEXT,
  state TEXT,
  phase TEXT,
  drain TEXT,
  capacity INTEGER,
  busy INTEGER,
  epoch INTEGER,
  attempts INTEGER,
  price REAL,
  created INTEGER,
  since INTEGER,
  registered INTEGER,
  credentialsExpire INTEGER,
  lastActive INTEGER,
  idleSince INTEGER,
  interruption INTEGER,
  quarantinedUntil INTEGER,
  reason TEXT,
  providerData TEXT
) STRICT;

CREATE TABLE holds (
  providerId TEXT NOT NULL,
  scope TEXT NOT NULL,
  errorClass TEXT,
  region TEXT,
  zone TEXT,
  instanceType TEXT,
  launchConfigId TEXT,
  message TEXT,
  code TEXT,
  since INTEGER,
  until INTEGER,
  strikes INTEGER,
  probing INTEGER,
  PRIMARY KEY (providerId, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
  workerPoolId TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER,
  kind TEXT,
  digest TEXT,
  reason TEXT,
  document TEXT,
  PRIMARY KEY (workerPoolId, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX decisions_at ON decisions (at);

CREATE TABLE pool_errors (
  workerPoolId TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER,
  kind TEXT,
  title TEXT,
  description TEXT,
  launchConfigId TEXT,
  extra TEXT,
  PRIMARY KEY (workerPoolId, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pool_errors_at ON pool_errors (at);
)sql";

// Events are erased by time, like the journal.
constexpr std::string_view api_tables = R"sql(
CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  at INTEGER,
  kind TEXT,
  workerPoolId TEXT,
  launchConfigId TEXT,
  providerId TEXT,
  workerGroup TEXT,
  workerId TEXT,
  text TEXT,
  details TEXT
) STRICT;
CREATE INDEX events_at ON events (at);

CREATE TABLE event_deliveries (
  consumer TEXT NOT NULL PRIMARY KEY,
  delivered INTEGER,
  at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE event_dead_letters (
  consumer TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER,
  attempts INTEGER,
  problem TEXT,
  event TEXT,
  PRIMARY KEY (consumer, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE clients (
  clientId TEXT NOT NULL PRIMARY KEY,
  kind TEXT,
  description TEXT,
  scopes TEXT,
  secret TEXT,
  replacedSecret TEXT,
  replacedUntil INTEGER,
  created INTEGER,
  lastModified INTEGER,
  expires INTEGER,
  disabled INTEGER,
  replayProtection INTEGER
) STRICT, WITHOUT ROWID;

ALTER TABLE workers ADD COLUMN expires INTEGER;
ALTER TABLE workers ADD COLUMN lastModified INTEGER;
ALTER TABLE workers ADD COLUMN secretDigest TEXT;
ALTER TABLE workers ADD COLUMN nextSecretDigest TEXT;
ALTER TABLE pools ADD COLUMN created INTEGER;
ALTER TABLE pools ADD COLUMN lastModified INTEGER;
)sql";

// Before this version, every worker with an end was declared by its owner.
constexpr std::string_view origins = R"sql(
ALTER TABLE workers ADD COLUMN origin TEXT;
UPDATE workers SET origin = CASE WHEN expires IS NULL THEN 'launched' ELSE 'owner' END;
)sql";

// What the queue keeps.
constexpr std::string_view queue_tables = R"sql(
CREATE TABLE requests (
  number INTEGER PRIMARY KEY,
  team TEXT,
  workerPoolId TEXT,
  tags TEXT,
  resources TEXT,
  strategies TEXT,
  priority INTEGER,
  cacheKey TEXT,
  token TEXT,
  client TEXT,
  heartbeat INTEGER,
  duration INTEGER,
  created INTEGER,
  deadline INTEGER,
  state TEXT,
  worker INTEGER,
  confirmed INTEGER,
  granted INTEGER,
  until INTEGER,
  ended INTEGER,
  reason TEXT
) STRICT;

CREATE TABLE teams (
  team TEXT NOT NULL PRIMARY KEY,
  weight REAL,
  maxHeld INTEGER,
  maxPending INTEGER,
  configured INTEGER,
  usage REAL,
  usedAt INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE team_pools (
  workerPoolId TEXT NOT NULL PRIMARY KEY,
  teams TEXT,
  created INTEGER
) STRICT, WITHOUT ROWID;
)sql";

// How long workers take.
constexpr std::string_view times_table = R"sql(
CREATE TABLE times (
  workerPoolId TEXT NOT NULL,
  launchConfigId TEXT NOT NULL,
  boot TEXT,
  registration TEXT,
  start TEXT,
  lease TEXT,
  PRIMARY KEY (workerPoolId, launchConfigId)
) STRICT, WITHOUT ROWID;
)sql";

// Until then, whatever an operator had said of a pool was that it is dedicated.
constexpr std::string_view keys_and_facts = R"sql(
ALTER TABLE team_pools ADD COLUMN dedicated INTEGER;
ALTER TABLE team_pools ADD COLUMN publicKeys TEXT;
UPDATE team_pools SET dedicated = 1, publicKeys = '[]';

CREATE TABLE worker_facts (
  number INTEGER PRIMARY KEY,
  facts TEXT
) STRICT;
)sql";

// Workers that registered before have no key, and keep renewing with their secrets. Those of
// version 1 have no secret either.
constexpr std::string_view registration_keys = R"sql(
ALTER TABLE workers ADD COLUMN registrationKeyDigest TEXT;
UPDATE workers SET registrationKeyDigest = '';
UPDATE workers SET secretDigest = '' WHERE secretDigest IS NULL;
UPDATE workers SET nextSecretDigest = '' WHERE nextSecretDigest IS NULL;
)sql";

// What the dashboard keeps: who has logged in, and how capacity, demand and cost went.
constexpr std::string_view dashboard_tables = R"sql(
CREATE TABLE sessions (
  digest TEXT NOT NULL PRIMARY KEY,
  kind TEXT,
  clientId TEXT,
  key TEXT,
  expires INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
  step INTEGER NOT NULL,
  at INTEGER NOT NULL,
  figures TEXT,
  PRIMARY KEY (step, at)
) STRICT, WITHOUT ROWID;
)sql";

// The tarballs of documentation, in pieces; see host/documentation/rows.hpp.
constexpr std::string_view documentation_tables = R"sql(
CREATE TABLE documentation (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT,
  bytes INTEGER,
  files INTEGER,
  project TEXT,
  tier TEXT,
  menuIndex INTEGER,
  lastModified INTEGER,
  changedBy TEXT,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE documentation_pieces (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,
  content TEXT,
  PRIMARY KEY (kind, name, number)
) STRICT, WITHOUT ROWID;
)sql";

// What is known by task outcomes.
constexpr std::string_view outcome_health_table = R"sql(
CREATE TABLE outcome_health (
  workerPoolId TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT,
  PRIMARY KEY (workerPoolId, kind, subject)
) STRICT, WITHOUT ROWID;
)sql";

// What workers did. Runs are found by their task; what is too much is erased one by one.
constexpr std::string_view task_runs = R"sql(
CREATE TABLE task_runs (
  taskId TEXT NOT NULL,
  runId INTEGER NOT NULL,
  workerPoolId TEXT,
  workerGroup TEXT,
  workerId TEXT,
  launchConfigId TEXT,
  workerConfiguration TEXT,
  outcome TEXT,
  reason TEXT,
  started INTEGER,
  resolved INTEGER,
  PRIMARY KEY (taskId, runId)
) STRICT, WITHOUT ROWID;

CREATE TABLE forgotten_runs (
  scope TEXT NOT NULL,
  workerPoolId TEXT NOT NULL,
  name TEXT NOT NULL,
  completed INTEGER,
  failed INTEGER,
  exception INTEGER,
  until INTEGER,
  firstClaim INTEGER,
  PRIMARY KEY (scope, workerPoolId, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_messages_set_aside (
  number INTEGER PRIMARY KEY,
  at INTEGER,
  exchange TEXT,
  routingKey TEXT,
  problem TEXT,
  body TEXT
) STRICT;
)sql";

constexpr std::array all{
    Migration{first_tables},         Migration{api_tables},       Migration{origins},
    Migration{queue_tables},         Migration{times_table},      Migration{keys_and_facts},
    Migration{registration_keys},    Migration{dashboard_tables}, Migration{documentation_tables},
    Migration{outcome_health_table}, Migration{task_runs}};

}  // namespace

std::span<const Migration> migrations() {
  return all;
}

}  // namespace muster::store
