/** Loads what a daemon loads when it starts: a file of the machine that is read later would take the machine's time. */
import '@hubspot/api-client/lib/codegen/crm/companies/index.js';
import '@hubspot/api-client/lib/codegen/crm/properties/index.js';
import 'jsforce/lib/connection.js';
import 'jsforce/lib/oauth2.js';
import 'jsforce/lib/util/promise.js';
import 'nodemailer';
import '../../providers/hubspot/provider.ts';
import '../../providers/salesforce/provider.ts';
import '../../src/admin-api/admin-api.ts';
import '../../src/dashboard/dashboard.ts';
import '../../src/installation.ts';
import '../../src/operations/service/list.ts';
import '../../src/operations/installation/status/status.ts';
import '../../src/service/keys/secrets.ts';
import '../../src/service/service.ts';
