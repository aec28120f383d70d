export { type Validation, type ValidationInput, validatePage } from './validate-page.ts';
