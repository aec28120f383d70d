export {
  loadSwitches,
  type Switches,
  type SwitchName,
  SwitchReader,
  saveSwitch,
  switchNames,
} from './switches.ts';
