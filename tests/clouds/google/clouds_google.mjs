// All of them in one process.
import './fake_compute.test.mjs';
import './fake_tokens.test.mjs';
import './contract.test.mjs';
import './fleet.test.mjs';
import './identity.test.mjs';
import './errors.test.mjs';
import './bad_answers.test.mjs';
import './crash.test.mjs';
