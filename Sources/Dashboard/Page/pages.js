// The pages in their order, and what makes each.

import activity from './activity.js';
import app from './app.js';
import apps from './apps.js';
import budget from './budget.js';
import credentials from './credentials.js';
import dead from './dead.js';
import find from './find.js';
import letter from './letter.js';
import overview from './overview.js';
import reasons from './reasons.js';
import retries from './retries.js';

export const VIEWS = { overview, apps, app, budget, retries, dead, letter, reasons, credentials, find, activity };

/** key: after g, by keyboard; parts: views that belong to it. */
export const PAGES = [
  { name: 'overview', title: 'Overview', key: 'o' },
  { name: 'find', title: 'Find a message', key: 'f' },
  { name: 'apps', title: 'Apps', key: 'a', parts: ['app'] },
  { name: 'dead', title: 'Dead letters', key: 'd', parts: ['letter'] },
  { name: 'retries', title: 'Retries and queues', key: 'r' },
  { name: 'budget', title: 'Budget and workers', key: 'b' },
  { name: 'reasons', title: 'Reasons', key: 's' },
  { name: 'credentials', title: 'Credentials', key: 'c' },
  { name: 'activity', title: 'Activity', key: 'l' },
];
