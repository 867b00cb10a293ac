-- A database as muster made it when its tables had version 1, with a row in each. Never changed after its release.
PRAGMA application_id = 0x6d757374;
BEGIN TRANSACTION;
CREATE TABLE api_pools (
  workerPoolId TEXT NOT NULL PRIMARY KEY,
  document TEXT,
  created INTEGER,
  lastModified INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "api_pools" VALUES('proj/api-pool','{"providerId":"simulated","description":"","owner":"a@example.com","config":{}}',1767225600000,1767225601000);
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
INSERT INTO "decisions" VALUES('worker-manager/default',1,1767225600000,'size','abc','because','{}');
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
INSERT INTO "holds" VALUES('local','region','capacity','us-east-1','','','','no room','InsufficientInstanceCapacity',1767225600000,1767225900000,2,0);
CREATE TABLE host (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "host" VALUES('epoch','1767225600');
INSERT INTO "host" VALUES('hostId','h0st1d4test_');
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
INSERT INTO "launch_configs" VALUES('worker-manager/default','lc-1','local','active',NULL,'',1767225600000,NULL,0,'{}','[]');
CREATE TABLE migrations (version INTEGER PRIMARY KEY, muster TEXT) STRICT;
INSERT INTO "migrations" VALUES(1,'0.1.0');
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
INSERT INTO "pool_errors" VALUES('worker-manager/default',1,1767225600000,'creation-error','title','description','lc-1','{}');
CREATE TABLE pools (
  workerPoolId TEXT NOT NULL PRIMARY KEY,
  spec TEXT,
  history TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "pools" VALUES('worker-manager/default','{"description":"tests"}','[]');
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
INSERT INTO "workers" VALUES(1,'worker-manager/default','lc-1','local','here','w-1','running','launched','none',1,0,1767225600,0,0.25,1767225600000,1767225600000,1767225605000,1767225665000,NULL,NULL,NULL,NULL,'','{"pid":4711}');
INSERT INTO "workers" VALUES(2,'worker-manager/default','lc-1','local','here','w-2 ü','stopped','launched','quarantined',2,1,1767225600,3,1.5,1767225600000,1767225700000,NULL,NULL,NULL,NULL,NULL,1767229200000,'it''s "gone"','');
CREATE INDEX decisions_at ON decisions (at);
CREATE INDEX pool_errors_at ON pool_errors (at);
COMMIT;
PRAGMA user_version = 1;
