// Runs before anything is painted, so that nobody who likes it dark sees a white page first.
'use strict';
{
  let theme = 'auto';
  try { theme = localStorage.getItem('pushfleet.theme') || 'auto'; } catch { /* no storage: as the system */ }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}
