// All of them in one process.
import './model.test.mjs';
import './fake_ec2.test.mjs';
import './fake_identity.test.mjs';
import './contract.test.mjs';
import './credentials.test.mjs';
import './fleet.test.mjs';
import './identity.test.mjs';
import './notices.test.mjs';
import './errors.test.mjs';
import './bad_answers.test.mjs';
import './crash.test.mjs';
