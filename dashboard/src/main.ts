import { createApp } from 'vue';
import { startLive } from './api/live.ts';
import { loadSession } from './api/session.ts';
import AppRoot from './app-root.vue';
import { startKeys } from './frame/keys.ts';
import { router } from './router.ts';
import './style/base.css';

createApp(AppRoot).use(router).mount('#app');
startKeys();
startLive();
void loadSession();
