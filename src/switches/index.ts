export {
  decideBudget,
  listSwitches,
  loadSwitchChanges,
  loadSwitches,
  type SwitchChange,
  type Switches,
  type SwitchName,
  SwitchReader,
  type SwitchState,
  saveAudit,
  saveSwitch,
  switchNames,
} from './switches.ts';
