export {
  decideBudget,
  loadSwitchChanges,
  loadSwitches,
  type SwitchChange,
  type Switches,
  type SwitchName,
  SwitchReader,
  saveAudit,
  saveSwitch,
  switchNames,
} from './switches.ts';
